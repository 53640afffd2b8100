/* SPDX-License-Identifier: BSD-3-Clause */
/* From what size on data are worth a ghost. */
#ifndef HW_GHOST_OFFLOAD_H
#define HW_GHOST_OFFLOAD_H

#include <stdint.h>

/* HEADWAY_OFFLOAD_MIN, of this process. After MPI_Init*. */
uint64_t hw_ghost_offload_min_bytes(void);

#endif
