/* SPDX-License-Identifier: BSD-3-Clause */
/* Control variables of the MPI, as they are in force: whoever set them, and whatever the MPI made of them. */
#ifndef HW_REAL_CONTROL_H
#define HW_REAL_CONTROL_H

#include <stdbool.h>

/* Asks the real MPI (MPI-4.1 section 15.3.6) for one that holds a whole number. False: it has none of this
 * name. On Open MPI always: see real/eager.c. After MPI_Init*; one thread. */
bool hw_real_control_read(const char *name, long long *value);

#endif
