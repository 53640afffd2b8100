/* SPDX-License-Identifier: BSD-3-Clause */
#include "policy/order.h"

enum { SURE_RUN = 2 };

bool hw_policy_order_post(struct hw_policy_order *order, bool is_receive)
{
    if (is_receive) {
        order->has_received |= order->sends == 0;
    } else {
        order->sends++;
        order->has_followed = order->has_received;
    }
    return order->sends > 0 && order->sends >= order->last_sends;
}

void hw_policy_order_end(struct hw_policy_order *order)
{
    if (order->has_received && order->has_followed)
        order->run += order->run < SURE_RUN;
    else if (order->has_received)
        order->run = 0;
    if (order->sends > 0)
        order->last_sends = order->sends;
    order->has_received = order->has_followed = false;
    order->sends = 0;
}

bool hw_policy_order_is_sure(const struct hw_policy_order *order) { return order->run == SURE_RUN; }
