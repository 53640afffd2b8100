/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/helper/match.h"

#include "base/atomic.h"

#include <string.h>

void hw_helper_match_begin(struct hw_helper_match *match, struct hw_registry *registry,
                           bool (*is_over)(const struct hw_registry_notice *notice))
{
    memset(match, 0, sizeof *match);
    match->registry = registry;
    match->is_over = is_over;
}

static void keep(struct hw_helper_match *match, int count)
{
    match->early_count = count;
    if (count == 0)
        hw_atomic_store_seq_cst(&match->registry->is_awaiting, 0);
}

/* What is over needs no receive any more: left there it would take that of a later one. `news`: what a later
 * send of another process tells of its earlier ones; or NULL. */
static void drop_over(struct hw_helper_match *match, const struct hw_registry_notice *news)
{
    int kept = 0;
    for (int i = 0; i < match->early_count; i++) {
        const struct hw_registry_notice *early = &match->early[i];
        bool is_old = news && early->from == news->from && early->number < news->over;
        if (!is_old && !match->is_over(early))
            match->early[kept++] = *early;
    }
    if (kept < match->early_count)
        keep(match, kept);
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

static bool claim(struct hw_helper_match *match, const struct hw_registry_notice *notice)
{
    uint64_t receive;
    if (!hw_registry_claim(match->registry, &match->first, notice, &receive))
        return false;
    match->claims[match->claim_count++ % HW_HELPER_CLAIMS] =
        (struct hw_helper_claim){.from = notice->from, .number = notice->number, .receive = receive};
    return true;
}

/* A notice that arrived after its message stayed, and claimed the receive of this one. */
static bool takes_over(struct hw_helper_match *match, const struct hw_registry_notice *notice)
{
    uint64_t count = match->claim_count < HW_HELPER_CLAIMS ? match->claim_count : HW_HELPER_CLAIMS;
    for (uint64_t i = 0; i < count; i++) {
        struct hw_helper_claim *old = &match->claims[i];
        if (old->from == notice->from && old->number < notice->over &&
            hw_registry_is_claimed(match->registry, old->receive, notice)) {
            old->number = notice->number;
            return true;
        }
    }
    return false;
}

bool hw_helper_match_send(struct hw_helper_match *match, const struct hw_registry_notice *notice)
{
    if (match->is_over(notice))
        return false;
    drop_over(match, notice);
    if (!is_behind_another(match, notice) && (takes_over(match, notice) || claim(match, notice)))
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
    drop_over(match, NULL);
    if (match->early_count == 0)
        return false;
    uint64_t posted = hw_atomic_load_seq_cst(&match->registry->posted);
    if (posted == match->seen)
        return false;
    for (int i = 0; i < match->early_count; i++) {
        if (!claim(match, &match->early[i]))
            continue;
        *notice = match->early[i];
        memmove(&match->early[i], &match->early[i + 1],
                (size_t)(match->early_count - 1 - i) * sizeof match->early[0]);
        keep(match, match->early_count - 1);
        return true;
    }
    match->seen = posted;
    return false;
}
