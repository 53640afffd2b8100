/* SPDX-License-Identifier: BSD-3-Clause */
/* The ghost's side of what user processes command and are answered (shared/sealed.h). An end for which the
 * ring has no room waits here, so a ghost never waits for a user process. Ghost's only thread. */
#ifndef HW_ENGINES_P2P_GHOST_RINGS_H
#define HW_ENGINES_P2P_GHOST_RINGS_H

#include "engines/p2p/ghost/users.h"

#include <stdbool.h>

/* After users.h has all. False: no memory. */
bool hw_p2p_rings_open(void);
void hw_p2p_rings_close(void);

/* The next command of a user process. False: there is none. */
bool hw_p2p_rings_next(struct hw_p2p_user *user, struct hw_p2p_command *command);

/* Answers; wakes the process if it sleeps. */
void hw_p2p_rings_end(struct hw_p2p_user *user, const struct hw_p2p_end *end);

/* One more (1) or less (-1) message to the process that no receive was posted for. */
void hw_p2p_rings_unclaimed(struct hw_p2p_user *user, int change);
/* Whether there is any, to a process of this ghost. */
bool hw_p2p_rings_have_unclaimed(void);

/* True: an answer found room. */
bool hw_p2p_rings_advance(void);

#endif
