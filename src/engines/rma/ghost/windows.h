/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of ghosts that is about windows: they take part in making and in freeing them. What else there is
 * to do for a window is the MPI's progress. A ghost's only thread. */
#ifndef HW_ENGINES_RMA_GHOST_WINDOWS_H
#define HW_ENGINES_RMA_GHOST_WINDOWS_H

#include "ghost/protocol.h"

#include <stdbool.h>

/* A command with a tag of window/protocol.h, from ORIGIN, a rank in hw_world.all. */
void hw_rma_ghost_windows_obey(const struct hw_ghost_command *command, int origin);

/* Whether there are any. */
bool hw_rma_ghost_windows_are_there(void);

#endif
