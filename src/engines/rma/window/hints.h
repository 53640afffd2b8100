/* SPDX-License-Identifier: BSD-3-Clause */
/* Hints of the program in the form in which they travel to ghosts: "key\0value\0", and back. Those that would
 * be untrue for the shadow window (no_locks, same_size, same_disp_unit) are left out. Both sides. */
#ifndef HW_ENGINES_RMA_WINDOW_HINTS_H
#define HW_ENGINES_RMA_WINDOW_HINTS_H

#include "real/real.h"

/* Returns the bytes written, `capacity` at most: hints that do not fit are left out. */
int hw_rma_hints_pack(MPI_Info info, char *text, int capacity);

/* The caller frees it, if it is not MPI_INFO_NULL: there are none. */
MPI_Info hw_rma_hints_unpack(const char *text, int bytes);

#endif
