/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/thread/halves.h"

#include "policy/late.h"

void hw_halves_open(struct hw_halves *halves)
{
    *halves = (struct hw_halves){.has_only_receives = true, .has_only_sends = true};
}

void hw_halves_mix(struct hw_halves *halves) { halves->has_only_receives = halves->has_only_sends = false; }

void hw_halves_post(struct hw_halves *halves, enum hw_request_kind kind, bool is_receive)
{
    halves->has_only_receives &= is_receive;
    halves->has_only_sends &= kind == HW_REQUEST_P2P && !is_receive;
}

static void begin_other(struct hw_halves *halves, const struct hw_halves_moment *moment)
{
    halves->is_late = moment->is_under_way && moment->is_seen;
    halves->is_unseen = !moment->is_seen;
    halves->early_free_ns = moment->free_ns;
}

bool hw_halves_send(struct hw_halves *halves, uint64_t bytes, const struct hw_halves_moment *moment)
{
    bool is_other = halves->has_only_receives && halves->sends_bytes == 0;
    halves->sends_bytes += bytes;
    if (is_other)
        begin_other(halves, moment);
    return is_other;
}

void hw_halves_receive(struct hw_halves *halves, uint64_t bytes, const struct hw_halves_moment *moment)
{
    if (!halves->has_only_sends)
        return;
    if (halves->late_receives_bytes == 0)
        begin_other(halves, moment);
    halves->late_receives_bytes += bytes;
}

bool hw_halves_is_late(const struct hw_halves *halves, uint64_t received_bytes, uint64_t sent_bytes)
{
    bool is_as_much = halves->late_receives_bytes > 0
                          ? hw_policy_late_is_as_much(sent_bytes, halves->late_receives_bytes)
                          : hw_policy_late_is_as_much(received_bytes, halves->sends_bytes);
    return halves->is_late && is_as_much;
}
