/* SPDX-License-Identifier: BSD-3-Clause */
#include "policy/late.h"

#include "policy/policy.h"

/* A single window decides nothing: a process that is kept from its core between its send and its wait seems
 * to compute there. Half of them do. */
enum { MOST_SCORE = 3, OTHER_SCORE = 2 };

/* So often a class may become late; then it is a mixture. */
enum { MOST_TIMES = 3 };

static bool is_late(const struct hw_policy_window *window)
{
    uint64_t least_ns = hw_policy_least_free_ns(window);
    return window->is_half_late && window->early_free_ns >= least_ns &&
           hw_policy_free_ns(window) < window->early_free_ns + least_ns;
}

static void count(struct hw_policy_late *late, const struct hw_policy_window *window)
{
    if (!is_late(window))
        late->score -= OTHER_SCORE;
    else if (window->was_on || late->is_so) /* else nobody saw whether the receives were complete */
        late->score++;
    late->score = late->score > MOST_SCORE    ? MOST_SCORE
                  : late->score < -MOST_SCORE ? -MOST_SCORE
                                              : late->score;
}

enum hw_policy_lateness hw_policy_late_heed(struct hw_policy_late *late,
                                            const struct hw_policy_window *window)
{
    if (window->is_cut || window->was_held || window->is_half_unseen) /* held, nobody looked */
        return HW_POLICY_LATE_SAME;
    count(late, window);
    if (!late->is_so && late->times < MOST_TIMES && late->score > (int)late->times) {
        late->is_so = true;
        late->score = MOST_SCORE;
        late->times++;
        return HW_POLICY_LATE_STOPS;
    }
    if (!late->is_so || late->score > 0)
        return HW_POLICY_LATE_SAME;
    late->is_so = false;
    return HW_POLICY_LATE_ENDS;
}
