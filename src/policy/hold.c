/* SPDX-License-Identifier: BSD-3-Clause */
#include "policy/hold.h"

#include "policy/late.h"

enum {
    PARTS = 4, /* windows that send more, or sooner, count for this part */
    REST = 64,
    FIRST_TRIAL = 8,   /* a window that is not held, to see whether anything comes early */
    TRIALS_APART = 64, /* at least; one in which nothing does may cost a transfer, so ever more */
    TRIALS_TIMES = 4,
    MOST_TRIALS_APART = 1024,
    BRIEF_PARTS = 4,     /* the sends come sooner than this part of the transfer */
    NEW_NS_PER_BYTE = 2, /* of a new class */
    USUAL_TIMES = 2,     /* the usual time, before it is too long */
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

static uint32_t trial_at(const struct hw_policy_hold *hold)
{
    return hold->next_trial > 0 ? hold->next_trial : FIRST_TRIAL;
}

bool hw_policy_is_held(const struct hw_policy_hold *hold, uint64_t received_bytes, uint64_t sends_bytes)
{
    bool is_trial = hold->windows == trial_at(hold) && !hold->is_brief;
    bool may_be_held = hold->early_score < EARLY_SCORE && !is_trial && hold->rest == 0 && received_bytes > 0;
    return may_be_held && !hw_policy_hold_is_sent(hold, sends_bytes);
}

uint64_t hw_policy_hold_most_ns(const struct hw_policy_hold *hold, uint64_t received_bytes)
{
    uint64_t new_ns = received_bytes * NEW_NS_PER_BYTE;
    uint64_t most_ns = hold->windows == 0 ? new_ns : USUAL_TIMES * hold->usual_ns;
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
    bool is_known = window->transfer_ns > 0 && !window->is_in_turns;
    hold->is_spread = is_known && hold->spread_ns > window->transfer_ns / SPREAD_PARTS;
    hold->is_brief = hold->usual_ns < window->transfer_ns / BRIEF_PARTS;
}

/* Once may be chance: the next window tells. */
static void schedule_trial(struct hw_policy_hold *hold, const struct hw_policy_held *window)
{
    uint32_t number = hold->windows, apart = TRIALS_APART;
    if (number != trial_at(hold))
        return;
    if (!window->was_held && TRIALS_TIMES * number > number + apart)
        apart =
            (TRIALS_TIMES - 1) * number < MOST_TRIALS_APART ? (TRIALS_TIMES - 1) * number : MOST_TRIALS_APART;
    hold->next_trial = number + (window->came_early ? 1 : apart);
}

void hw_policy_hold_learn(struct hw_policy_hold *hold, const struct hw_policy_held *window)
{
    uint64_t received_bytes = window->received_bytes, sends_bytes = window->sends_bytes;
    bool is_exchange = hw_policy_is_as_much(sends_bytes, received_bytes) &&
                       hw_policy_is_as_much(received_bytes, sends_bytes);
    learn_usual(hold, is_exchange ? sends_bytes : 0, window->sent_ns);
    learn_spread(hold, window);
    schedule_trial(hold, window);
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
