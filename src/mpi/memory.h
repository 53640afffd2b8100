/* SPDX-License-Identifier: BSD-3-Clause */
/* This file knows memory of MPI_Alloc_mem that is ours. */
#ifndef HW_MPI_MEMORY_H
#define HW_MPI_MEMORY_H

#include "base/visibility.h"

#include <stdbool.h>

/* Whether it was ours, and is given back: also asked when MPI calls itself, since the program's own callbacks
 * run there (an attribute's, when a window is freed). Any thread. */
HW_HIDDEN bool hw_memory_give(void *base);

#endif
