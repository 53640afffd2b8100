/* SPDX-License-Identifier: BSD-3-Clause */
/* A credit is room in the staging memory of one ghost that a user process of another node may use: a count of
 * units (room.h). Nothing but a count, so the receiving ghost says where the data lie, and credits are as
 * good as one another. In the block of the user process (block.h): it takes, its ghost gives and withdraws;
 * both at any time, from any thread. */
#ifndef HW_ENGINES_P2P_SHARED_CREDIT_H
#define HW_ENGINES_P2P_SHARED_CREDIT_H

#include "base/atomic.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

struct hw_p2p_credit {
    _Atomic uint32_t units;
    _Atomic uint32_t
        wanted; /* the user process: 0 becomes what it did not find; its ghost: 0, once answered */
};
static_assert(sizeof(struct hw_p2p_credit) == 8, "both sides read it");

/* All that it asks for, or nothing. */
static inline bool hw_p2p_credit_take(struct hw_p2p_credit *credit, uint32_t units)
{
    uint32_t there = hw_atomic_load_relaxed(&credit->units);
    do
        if (there < units)
            return false;
    while (!hw_atomic_compare_exchange_acq_rel(&credit->units, &there, there - units));
    return true;
}

static inline void hw_p2p_credit_give(struct hw_p2p_credit *credit, uint32_t units)
{
    hw_atomic_add_acq_rel(&credit->units, units);
}

/* Leaves `kept`, and returns the rest. */
static inline uint32_t hw_p2p_credit_withdraw(struct hw_p2p_credit *credit, uint32_t kept)
{
    uint32_t there = hw_atomic_load_relaxed(&credit->units);
    do
        if (there <= kept)
            return 0;
    while (!hw_atomic_compare_exchange_acq_rel(&credit->units, &there, kept));
    return there - kept;
}

#endif
