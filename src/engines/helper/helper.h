/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of this engine say to each other. */
#ifndef HW_ENGINES_HELPER_HELPER_H
#define HW_ENGINES_HELPER_HELPER_H

#include "ghost/registry.h"

#include <stdbool.h>

/* Before MPI_Init* splits the world. */
void hw_helper_prepare(void);

/* In a user process, any thread inside a hook: notes it for the ghost, and rings. False: there is no room. */
bool hw_helper_note(const struct hw_registry_notice *notice);

/* In a user process: its node has a registry, and its ghost reads it. */
bool hw_helper_is_open(void);

#endif
