/* SPDX-License-Identifier: BSD-3-Clause */
/* Extensions are functions of an MPI that no standard names; Headway has no entries for them. */
#ifndef HW_REAL_EXTENSIONS_H
#define HW_REAL_EXTENSIONS_H

#include <stdbool.h>

/* One that the program refers to, or a library of it other than the MPI's own; NULL: none. What only asks
 * about the MPI itself (MPIX_Query_cuda_support) does not count. The name is valid as long as its object is
 * loaded. */
const char *hw_real_extension_used(void);

/* Whether one of these is an operation on windows, which names processes by their ranks there. */
bool hw_real_has_own_operations(void);

/* Whether Open MPI's OpenSHMEM is loaded, which makes progress of this MPI past its entries. */
bool hw_real_has_openshmem(void);

#endif
