/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of this engine say to each other. */
#ifndef HW_ENGINES_HELPER_HELPER_H
#define HW_ENGINES_HELPER_HELPER_H

#include <stdbool.h>

/* Before MPI_Init* splits the world. */
void hw_helper_prepare(void);

/* In a user process: its node has a registry, and its ghost reads it. */
bool hw_helper_is_open(void);

#endif
