/* SPDX-License-Identifier: BSD-3-Clause */
/* Credits between ghosts: the notes of pool.h and purse.h. Ghost's only thread. */
#ifndef HW_ENGINES_P2P_GHOST_CREDITS_H
#define HW_ENGINES_P2P_GHOST_CREDITS_H

#include "engines/p2p/ghost/pool.h"
#include "engines/p2p/ghost/users.h"
#include "engines/p2p/ghost/wire.h"

#include <stdbool.h>
#include <stdint.h>

/* False: no memory. */
bool hw_p2p_credits_open(void);
void hw_p2p_credits_close(void);

/* Of this ghost's own room. */
struct hw_p2p_pool *hw_p2p_credits_pool(void);

/* A message of the user process takes so many of the ghost at PLACE. */
void hw_p2p_credits_spent(struct hw_p2p_user *user, int place, uint32_t units);

/* A message of FROM (rank in hw_world.all) to a user process of TO's ghost was received. */
void hw_p2p_credits_freed(const struct hw_p2p_note *note);

/* A note about credits: ASK, GRANT, RECALL, RETURN. */
void hw_p2p_credits_heard(const struct hw_p2p_note *note);

/* Says what is to be said. True: there was something. */
bool hw_p2p_credits_advance(void);

#endif
