/* SPDX-License-Identifier: BSD-3-Clause */
#include "policy/late.h"

#include "policy/policy.h"

/* Of what it receives a process that sends less than all but this part gains by having it early. */
enum { LESS_PARTS = 4 };

/* Windows that may outnumber the others. One does not decide alone: a process that is kept from its core
 * between its send and its wait seems to compute there. */
enum { MOST_SCORE = 3 };

static bool sends_late(const struct hw_policy_window *window)
{
    uint64_t least_ns = hw_policy_least_free_ns(window), free_ns = hw_policy_free_ns(window);
    bool is_as_much = window->received_bytes &&
                      window->sent_bytes >= window->received_bytes - window->received_bytes / LESS_PARTS;
    return is_as_much && window->early_free_ns >= least_ns && free_ns < window->early_free_ns + least_ns;
}

enum hw_policy_lateness hw_policy_late_heed(struct hw_policy_late *late,
                                            const struct hw_policy_window *window)
{
    if (sends_late(window))
        late->score += late->score < MOST_SCORE;
    else
        late->score -= late->score > -MOST_SCORE;
    int least = late->times < MOST_SCORE ? 1 + (int)late->times : MOST_SCORE;
    if (!late->is_so && late->score >= least) {
        late->is_so = true;
        return HW_POLICY_LATE_STOPS;
    }
    if (!late->is_so || late->score > 0)
        return HW_POLICY_LATE_SAME;
    late->is_so = false;
    late->times++;
    return HW_POLICY_LATE_ENDS;
}
