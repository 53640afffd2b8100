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

/* True if no more sends are expected. */
static bool learn(enum hw_request_kind kind, bool is_receive)
{
    if (kind == HW_REQUEST_P2P)
        return hw_policy_order_post(&order, is_receive);
    hw_policy_order_end(&order);
    return false;
}

void hw_order_posted(const struct hw_order_post *post)
{
    if (!hw_postponed_may())
        return;
    bool is_last = learn(post->kind, post->is_receive);
    has_thread = post->is_for_thread;
    heed_order();
    bool is_forced = hw_options.postpone == HW_OPTION_POSTPONE_ON;
    if (is_last || (!has_thread && !is_forced))
        hw_postponed_start();
}

void hw_order_passed(enum hw_request_kind kind, bool is_receive)
{
    if (hw_postponed_may() && learn(kind, is_receive))
        hw_postponed_start();
}

void hw_order_returned(void)
{
    if (!hw_postponed_may())
        return;
    hw_policy_order_end(&order);
    heed_order();
}
