/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers that look random, for choices of which none is wrong. */
#ifndef HW_BASE_DICE_H
#define HW_BASE_DICE_H

#include "base/atomic.h"

#include <stdint.h>

/* xorshift64. *STATE must not be 0 at first. Any thread; two may draw the same number, which does no harm. */
static inline uint64_t hw_dice_roll(_Atomic uint64_t *state)
{
    uint64_t next = hw_atomic_load_relaxed(state);
    next ^= next << 13;
    next ^= next >> 7;
    next ^= next << 17;
    hw_atomic_store_relaxed(state, next);
    return next;
}

#endif
