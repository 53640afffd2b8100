/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/p2p/ghost/purse.h"

enum { WAIT_MAX = 255 };

static uint32_t there(const struct hw_p2p_credit *credit)
{
    return hw_atomic_load_relaxed(&((struct hw_p2p_credit *)credit)->units);
}

/* As many again as are in use: the room grows with what a program keeps under way. */
uint32_t hw_p2p_purse_spent(struct hw_p2p_purse *purse, const struct hw_p2p_credit *credit, uint32_t units)
{
    purse->in_use += units;
    purse->was_used = true;
    if (purse->is_asked || there(credit) >= units)
        return 0;
    if (purse->pause > 0) {
        purse->pause--;
        return 0;
    }
    purse->is_asked = true;
    return purse->in_use;
}

uint32_t hw_p2p_purse_missed(struct hw_p2p_purse *purse, struct hw_p2p_credit *credit)
{
    uint32_t wanted = hw_atomic_load_acquire(&credit->wanted), has = there(credit);
    if (purse->is_asked || wanted == 0)
        return 0;
    if (has >= wanted) {
        hw_atomic_store_release(&credit->wanted, 0);
        return 0;
    }
    purse->is_asked = purse->is_needy = true;
    return wanted - has;
}

uint32_t hw_p2p_purse_granted(struct hw_p2p_purse *purse, struct hw_p2p_credit *credit, uint32_t units,
                              uint32_t rest)
{
    bool was_needy = purse->is_needy;
    hw_p2p_credit_give(credit, units);
    if (rest > 0)
        return 0;
    purse->is_asked = purse->is_needy = false;
    if (was_needy) { /* whoever misses something now says so anew */
        hw_atomic_store_release(&credit->wanted, 0);
        return 0;
    }
    if (units > 0)
        purse->longest_wait = 0;
    else if (purse->longest_wait < WAIT_MAX)
        purse->longest_wait = 2 * purse->longest_wait + 1;
    purse->pause = purse->longest_wait;
    return hw_p2p_purse_missed(purse, credit);
}

void hw_p2p_purse_freed(struct hw_p2p_purse *purse, struct hw_p2p_credit *credit, uint32_t units,
                        uint32_t back)
{
    purse->in_use -= units;
    hw_p2p_credit_give(credit, back);
}

uint32_t hw_p2p_purse_recalled(struct hw_p2p_purse *purse, struct hw_p2p_credit *credit)
{
    uint32_t kept = purse->was_used && !purse->is_needy ? there(credit) / 2 : 0;
    purse->was_used = false;
    return hw_p2p_credit_withdraw(credit, kept);
}
