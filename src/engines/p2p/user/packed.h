/* SPDX-License-Identifier: BSD-3-Clause */
/* Unpacking of messages that may be shorter than their receive. Threads of the program, inside a hook. */
#ifndef HW_ENGINES_P2P_USER_PACKED_H
#define HW_ENGINES_P2P_USER_PACKED_H

#include "real/real.h"

#include <stdint.h>

/* `bytes`: of the packed data, no more than the elements at `memory` take, but perhaps a part of the last. */
void hw_p2p_unpack(const void *packed, uint64_t bytes, void *memory, MPI_Datatype type);

#endif
