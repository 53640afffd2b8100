/* SPDX-License-Identifier: BSD-3-Clause */
#include "policy/hold.h"

#include "policy/late.h"

enum {
    PARTS = 4, /* windows that send more, or sooner, count for this part */
    REST = 64,
    FIRST_TRIAL = 8, /* a window that is not held, to see whether anything comes early */
    TRIALS_APART = 64,
    USUAL_TIMES = 2, /* the usual time, before it is too long */
    EARLY_SCORE = 2,
    SPREAD_PARTS = 3, /* sends that take more than this part of the transfer are spread */
};

/* Of a class that is new, nobody knows whether it sends at all. That it does as its partner does is likely.
 */
static bool is_usual(const struct hw_policy_hold *hold, uint64_t sends_bytes)
{
    return hold->windows == 0 ? sends_bytes > 0 : hw_policy_is_as_much(sends_bytes, hold->sends_bytes);
}

bool hw_policy_hold_is_sent(const struct hw_policy_hold *hold, uint64_t sends_bytes)
{
    return (hold->is_spread && sends_bytes > 0) || is_usual(hold, sends_bytes);
}

bool hw_policy_is_held(const struct hw_policy_hold *hold, uint64_t received_bytes, uint64_t sends_bytes)
{
    bool is_trial = hold->windows % TRIALS_APART == FIRST_TRIAL;
    bool may_be_held = hold->early_score < EARLY_SCORE && !is_trial && hold->rest == 0 && received_bytes > 0;
    return may_be_held && !hw_policy_hold_is_sent(hold, sends_bytes);
}

uint64_t hw_policy_hold_most_ns(const struct hw_policy_hold *hold)
{
    uint64_t most_ns = USUAL_TIMES * hold->usual_ns;
    return most_ns > HW_POLICY_HOLD_NS ? most_ns : HW_POLICY_HOLD_NS;
}

void hw_policy_hold_note_send(const struct hw_policy_hold *hold, struct hw_policy_held *window,
                              uint64_t sends_bytes, uint64_t since_ns)
{
    if (window->first_ns == 0)
        window->first_ns = since_ns + 1;
    if (hold->windows == 0 || (window->sent_ns == 0 && is_usual(hold, sends_bytes)))
        window->sent_ns = since_ns + 1;
}

/* The least that is sent and the most time that it takes, about. */
static void learn_usual(struct hw_policy_hold *hold, uint64_t sends_bytes, uint64_t sent_ns)
{
    if (hold->windows == 0 || sends_bytes < hold->sends_bytes)
        hold->sends_bytes = sends_bytes;
    else
        hold->sends_bytes += (sends_bytes - hold->sends_bytes) / PARTS;
    if (sent_ns > hold->usual_ns)
        hold->usual_ns = sent_ns;
    else if (sent_ns > 0)
        hold->usual_ns -= (hold->usual_ns - sent_ns) / PARTS;
}

static void learn_spread(struct hw_policy_hold *hold, const struct hw_policy_held *window)
{
    if (window->sent_ns == 0)
        return;
    uint64_t spread_ns = window->sent_ns - window->first_ns;
    hold->spread_ns = (hold->spread_ns + spread_ns) / 2;
    hold->is_spread = window->transfer_ns > 0 && hold->spread_ns > window->transfer_ns / SPREAD_PARTS;
}

void hw_policy_hold_learn(struct hw_policy_hold *hold, const struct hw_policy_held *window)
{
    uint64_t received_bytes = window->received_bytes, sends_bytes = window->sends_bytes;
    bool is_exchange = hw_policy_is_as_much(sends_bytes, received_bytes) &&
                       hw_policy_is_as_much(received_bytes, sends_bytes);
    learn_usual(hold, is_exchange ? sends_bytes : 0, window->sent_ns);
    learn_spread(hold, window);
    if (window->came_early)
        hold->early_score += hold->early_score < 2 * EARLY_SCORE;
    else if (!window->was_held && hold->early_score > 0)
        hold->early_score--;
    if (window->was_in_vain && window->sent_ns == 0 && hold->windows > 0)
        hold->rest = REST;
    else if (hold->rest > 0)
        hold->rest--;
    hold->windows++;
}
