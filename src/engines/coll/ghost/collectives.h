/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives that this ghost takes part in. One begins when all user processes that the ghost serves have
 * posted it: from then on nothing of it waits for a user process. It ends for all of them at once. Any number
 * at a time: programs may post on several communicators in any order. Ghost's only thread. */
#ifndef HW_ENGINES_COLL_GHOST_COLLECTIVES_H
#define HW_ENGINES_COLL_GHOST_COLLECTIVES_H

#include "engines/coll/shared/command.h"

#include <stdbool.h>

/* A process, a rank in hw_world.all that this ghost serves, has posted one. */
void hw_coll_collectives_post(int process, const struct hw_coll_posted *posted, int grant_tag);

/* True: something was done. */
bool hw_coll_collectives_advance(void);

bool hw_coll_collectives_are_any(void);

#endif
