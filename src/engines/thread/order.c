/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/thread/order.h"

#include "policy/order.h"
#include "progress/postponed.h"

static struct hw_policy_order order;

void hw_order_posted(bool is_receive, uint64_t since_ns)
{
    bool is_last = hw_policy_order_post(&order, is_receive, since_ns);
    hw_postponed_want(hw_policy_order_is_sure(&order));
    if (is_last)
        hw_postponed_start();
}

void hw_order_returned(void)
{
    hw_policy_order_end(&order);
    hw_postponed_want(hw_policy_order_is_sure(&order));
}
