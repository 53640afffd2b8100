/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages on sealed communicators on their way in: the sender's ghost is asked for what has a receive, and
 * its chunks are put into the receiver's memory, where it lies. A few at a time; each has memory of its own
 * for its next chunks, so none waits for another. Ghost's only thread. */
#ifndef HW_ENGINES_P2P_GHOST_PULLS_H
#define HW_ENGINES_P2P_GHOST_PULLS_H

#include "engines/p2p/ghost/pairs.h"

#include <stdbool.h>

bool hw_p2p_pulls_open(void);
void hw_p2p_pulls_close(void);

/* Frees both when the receive has ended. */
void hw_p2p_pulls_begin(struct hw_p2p_offered *offered, struct hw_p2p_wanted *wanted);

bool hw_p2p_pulls_advance(void);
bool hw_p2p_pulls_are_idle(void);

#endif
