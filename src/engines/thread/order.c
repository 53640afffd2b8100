/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/thread/order.h"

#include "base/options.h"
#include "policy/order.h"
#include "progress/postponed.h"

static struct hw_policy_order order;
static uint64_t postponed_bytes = UINT64_MAX;
static bool has_thread; /* as of the last post */

void hw_order_begin(uint64_t least_bytes) { postponed_bytes = least_bytes; }

static void heed_order(void)
{
    hw_postponed_want(has_thread && hw_policy_order_is_sure(&order) ? postponed_bytes : UINT64_MAX);
}

void hw_order_posted(const struct hw_order_post *post)
{
    if (!hw_postponed_may())
        return;
    bool is_last = false;
    if (post->kind == HW_REQUEST_P2P)
        is_last = hw_policy_order_post(&order, post->is_receive, post->since_ns);
    else
        hw_policy_order_end(&order);
    has_thread = post->is_for_thread;
    heed_order();
    bool is_forced = hw_options.postpone == HW_OPTION_POSTPONE_ON;
    if (is_last || (!has_thread && !is_forced))
        hw_postponed_start();
}

void hw_order_returned(void)
{
    if (!hw_postponed_may())
        return;
    hw_policy_order_end(&order);
    heed_order();
}
