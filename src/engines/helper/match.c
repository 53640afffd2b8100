/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/helper/match.h"

#include "base/atomic.h"

#include <string.h>

void hw_helper_match_begin(struct hw_helper_match *match, struct hw_registry *registry)
{
    memset(match, 0, sizeof *match);
    match->registry = registry;
}

static uint64_t bit_of(uint64_t number) { return UINT64_C(1) << number % 64; }

static uint64_t *word_of(struct hw_helper_match *match, uint64_t number)
{
    return &match->is_matched[number % HW_REGISTRY_RECEIVES / 64];
}

/* Receives leave the front as they are over, matched, or overwritten by later ones. */
static void advance(struct hw_helper_match *match, uint64_t posted)
{
    uint64_t ended = hw_atomic_load_relaxed(&match->registry->ended);
    uint64_t oldest = posted > HW_REGISTRY_RECEIVES ? posted - HW_REGISTRY_RECEIVES : 0;
    ended = ended > oldest ? ended : oldest;
    while (match->first < posted &&
           (match->first < ended || (*word_of(match, match->first) & bit_of(match->first)))) {
        *word_of(match, match->first) &= ~bit_of(match->first);
        match->first++;
    }
}

static bool find_receive(struct hw_helper_match *match, const struct hw_registry_notice *notice)
{
    uint64_t posted = hw_atomic_load_seq_cst(&match->registry->posted);
    advance(match, posted);
    for (uint64_t number = match->first; number < posted; number++) {
        if ((*word_of(match, number) & bit_of(number)) ||
            !hw_registry_matches(match->registry, number, notice))
            continue;
        *word_of(match, number) |= bit_of(number);
        return true;
    }
    return false;
}

/* Of one pair and tag the first send must be the first to match. */
static bool is_behind_another(const struct hw_helper_match *match, const struct hw_registry_notice *notice)
{
    for (int i = 0; i < match->early_count; i++) {
        const struct hw_registry_notice *other = &match->early[i];
        if (other->comm == notice->comm && other->source == notice->source && other->tag == notice->tag)
            return true;
    }
    return false;
}

bool hw_helper_match_send(struct hw_helper_match *match, const struct hw_registry_notice *notice)
{
    if (!is_behind_another(match, notice) && find_receive(match, notice))
        return true;
    if (match->early_count == HW_HELPER_EARLY_MAX)
        return true; /* in doubt */
    match->early[match->early_count++] = *notice;
    /* Whoever posts a receive from here on rings. What was posted before it knew is seen by the next look. */
    hw_atomic_store_seq_cst(&match->registry->is_awaiting, 1);
    match->seen = UINT64_MAX;
    return false;
}

bool hw_helper_match_next(struct hw_helper_match *match, struct hw_registry_notice *notice)
{
    if (match->early_count == 0)
        return false;
    uint64_t posted = hw_atomic_load_seq_cst(&match->registry->posted);
    if (posted == match->seen)
        return false;
    for (int i = 0; i < match->early_count; i++) {
        if (!find_receive(match, &match->early[i]))
            continue;
        *notice = match->early[i];
        match->early_count--;
        memmove(&match->early[i], &match->early[i + 1],
                (size_t)(match->early_count - i) * sizeof match->early[0]);
        if (match->early_count == 0)
            hw_atomic_store_seq_cst(&match->registry->is_awaiting, 0);
        return true;
    }
    match->seen = posted;
    return false;
}
