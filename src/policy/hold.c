/* SPDX-License-Identifier: BSD-3-Clause */
#include "policy/hold.h"

enum {
    LESS_PARTS = 4, /* of it less than all but this part is not as much */
    UP_PARTS = 4,   /* windows that send more, or later, count for this part */
    REST = 64,
    FIRST_TRIAL = 8, /* a window that is not held, to see whether anything comes early */
    TRIALS_APART = 64,
    USUAL_TIMES = 2, /* the usual time, before it is too long */
};

static bool is_as_much(uint64_t bytes, uint64_t other_bytes)
{
    return bytes >= other_bytes - other_bytes / LESS_PARTS;
}

/* Of a class that is new, nobody knows whether it sends at all. That it does as its partner does is likely.
 */
bool hw_policy_is_held(const struct hw_policy_hold *hold, uint64_t received_bytes, uint64_t sends_bytes)
{
    if (hold->windows == 0)
        return received_bytes > 0 && sends_bytes == 0;
    bool is_trial = hold->windows % TRIALS_APART == FIRST_TRIAL;
    return !hold->is_never && !is_trial && hold->rest == 0 && !is_as_much(sends_bytes, hold->sends_bytes);
}

uint64_t hw_policy_hold_most_ns(const struct hw_policy_hold *hold)
{
    uint64_t most_ns = USUAL_TIMES * hold->usual_ns;
    return most_ns > HW_POLICY_HOLD_NS ? most_ns : HW_POLICY_HOLD_NS;
}

static uint64_t approach(uint64_t known, uint64_t seen)
{
    return seen < known ? seen : known + (seen - known) / UP_PARTS;
}

void hw_policy_hold_learn(struct hw_policy_hold *hold, const struct hw_policy_held *window)
{
    uint64_t received_bytes = window->received_bytes, sends_bytes = window->sends_bytes;
    bool is_exchange = is_as_much(sends_bytes, received_bytes) && is_as_much(received_bytes, sends_bytes);
    uint64_t bytes = is_exchange ? sends_bytes : 0;
    hold->sends_bytes = hold->windows == 0 ? bytes : approach(hold->sends_bytes, bytes);
    if (window->held_ns > 0 && !window->was_in_vain)
        hold->usual_ns = hold->usual_ns ? approach(hold->usual_ns, window->held_ns) : window->held_ns;
    hold->is_never |= window->came_early;
    if (window->was_in_vain && hold->windows > 0)
        hold->rest = REST;
    else if (hold->rest > 0)
        hold->rest--;
    hold->windows++;
}
