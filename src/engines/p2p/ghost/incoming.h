/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages on their way in: what other ghosts offer is received into this ghost's room; what user processes
 * have given back is told to the senders' ghosts. There is room for whatever is offered (pool.h), so nothing
 * here waits for a user process. Ghost's only thread. */
#ifndef HW_ENGINES_P2P_GHOST_INCOMING_H
#define HW_ENGINES_P2P_GHOST_INCOMING_H

#include "engines/p2p/ghost/wire.h"

#include <stdbool.h>

/* False: no memory. */
bool hw_p2p_incoming_open(void);
void hw_p2p_incoming_close(void);

/* An offer has come from the ghost at PLACE. */
void hw_p2p_incoming_offered(int place, const struct hw_p2p_note *note);

/* Nobody will ask for a message that the ghost at PLACE has offered. */
void hw_p2p_incoming_withdrawn(int place, const struct hw_p2p_note *note);

/* Receives what is due. True: something came. */
bool hw_p2p_incoming_advance(void);

/* Nothing is under way. */
bool hw_p2p_incoming_is_idle(void);

/* Tells senders' ghosts what user processes have given back. True: there was something. */
bool hw_p2p_incoming_give_back(void);

/* A receiver has given back what a user process of this ghost sent. */
void hw_p2p_incoming_freed(const struct hw_p2p_note *note);

#endif
