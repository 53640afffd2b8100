/* SPDX-License-Identifier: BSD-3-Clause */
/* The first ghosts of all nodes tell one another the rates of their nodes' user processes (rates.h) each
 * HEADWAY_GSYNC_INT (papers/002 section 5.3.3, "sync ghosts"): over a communicator of theirs, without
 * waiting, so that a ghost that comes late holds nobody up. Ghost's only thread. */
#ifndef HW_GHOST_EXCHANGE_H
#define HW_GHOST_EXCHANGE_H

#include <stdint.h>

/* Collective over the first ghosts of all nodes, of which every one is at its start, or end. */
void hw_ghost_exchange_begin(void);
void hw_ghost_exchange_end(void);

/* Now and then: begins an exchange that is due, or ends one that is complete. */
void hw_ghost_exchange_turn(uint64_t now_ns);

#endif
