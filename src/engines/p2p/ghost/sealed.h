/* SPDX-License-Identifier: BSD-3-Clause */
/* The ghost's part in messages on sealed communicators (papers/000; doc/adr/0047): takes what its user
 * processes command, matches, and has the data moved. It never waits for a user process. Ghost's only thread.
 */
#ifndef HW_ENGINES_P2P_GHOST_SEALED_H
#define HW_ENGINES_P2P_GHOST_SEALED_H

#include "engines/p2p/ghost/wire.h"

#include <stdbool.h>

/* After users.h has all. False: no memory. */
bool hw_p2p_sealed_ghost_open(void);
void hw_p2p_sealed_ghost_close(void);

/* A note of the ghost at PLACE. */
void hw_p2p_sealed_heard(int place, const struct hw_p2p_note *note);

bool hw_p2p_sealed_advance(void);

/* Every user process is in MPI_Finalize, and wants no answer: nothing is under way but what no receive was
 * posted for. */
bool hw_p2p_sealed_is_idle(void);

#endif
