/* SPDX-License-Identifier: BSD-3-Clause */
#include "policy/hold.h"

enum {
    LESS_PARTS = 4, /* of it less than all but this part is not as much */
    UP_PARTS = 4,   /* windows that send more count for this part: the thread is not to be held in vain */
    REST = 64,
};

static bool is_as_much(uint64_t bytes, uint64_t other_bytes)
{
    return bytes >= other_bytes - other_bytes / LESS_PARTS;
}

/* Of a class that is new, nobody knows whether it sends at all. That it does as its partner does is likely.
 */
bool hw_policy_is_held(const struct hw_policy_hold *hold, uint64_t received_bytes, uint64_t sends_bytes)
{
    if (!hold->is_known)
        return received_bytes > 0 && sends_bytes == 0;
    return hold->rest == 0 && !is_as_much(sends_bytes, hold->sends_bytes);
}

void hw_policy_hold_learn(struct hw_policy_hold *hold, uint64_t received_bytes, uint64_t sends_bytes,
                          bool was_held)
{
    bool is_exchange = is_as_much(sends_bytes, received_bytes) && is_as_much(received_bytes, sends_bytes);
    uint64_t bytes = is_exchange ? sends_bytes : 0;
    if (!hold->is_known || bytes < hold->sends_bytes)
        hold->sends_bytes = bytes;
    else
        hold->sends_bytes += (bytes - hold->sends_bytes) / UP_PARTS;
    if (was_held && hold->is_known)
        hold->rest = REST;
    else if (hold->rest > 0)
        hold->rest--;
    hold->is_known = true;
}
