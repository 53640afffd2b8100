/* SPDX-License-Identifier: BSD-3-Clause */
/* The purse: what the ghost of a sender knows of the credit that one of its user processes has in the room of
 * one other ghost (shared/credit.h). It asks for more ahead of need, and when a message found none.
 *
 * Pure. What a function returns in units is to be asked for, or returned, by a note (wire.h). The ghost's
 * only thread; the user process takes credit meanwhile. */
#ifndef HW_ENGINES_P2P_GHOST_PURSE_H
#define HW_ENGINES_P2P_GHOST_PURSE_H

#include "engines/p2p/shared/credit.h"

#include <stdbool.h>
#include <stdint.h>

struct hw_p2p_purse {
    uint32_t in_use;       /* by messages on their way, and until they are received */
    uint32_t pause;        /* messages until it asks ahead of need again: the last time it got nothing */
    uint32_t longest_wait; /* of such pauses */
    bool is_asked;         /* an answer is to come */
    bool is_needy;         /* it was asked for a message that found none */
    bool was_used;         /* since the last recall */
};

/* A message took so many. Returns what to ask for ahead of need. */
uint32_t hw_p2p_purse_spent(struct hw_p2p_purse *purse, const struct hw_p2p_credit *credit, uint32_t units);

/* A message found too few. Returns what to ask for; the purse is needy then. */
uint32_t hw_p2p_purse_missed(struct hw_p2p_purse *purse, struct hw_p2p_credit *credit);

/* An answer: so many, and REST are to come still. Returns what to ask for next, as hw_p2p_purse_missed. */
uint32_t hw_p2p_purse_granted(struct hw_p2p_purse *purse, struct hw_p2p_credit *credit, uint32_t units,
                              uint32_t rest);

/* A message that took `units` was received; `back` of them are its credit again. */
void hw_p2p_purse_freed(struct hw_p2p_purse *purse, struct hw_p2p_credit *credit, uint32_t units,
                        uint32_t back);

/* Others need credit. Returns what to give back: all if it is idle, or needy itself (its turn comes), else
 * half of what is not in use. */
uint32_t hw_p2p_purse_recalled(struct hw_p2p_purse *purse, struct hw_p2p_credit *credit);

#endif
