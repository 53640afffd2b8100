/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/rma/epoch/under_way.h"

#include "base/atomic.h"
#include "base/clock.h"
#include "objects/request.h"
#include "world/world.h"

/* A ghost of the own node takes data from memory, at no wire's pace. */
static bool is_far(const struct hw_rma_window *window, int target)
{
    return window->targets[target].node != hw_world_own_node();
}

void hw_rma_under_way_begin(struct hw_rma_window *window, int target, uint64_t bytes, bool is_get)
{
    if (!is_far(window, target) || hw_rma_is_muted) /* it was noted when it was deferred */
        return;
    hw_atomic_add_relaxed(&window->targets[target].under_way, 1);
    hw_atomic_add_relaxed(&window->under_way, 1);
    hw_request_nameless_post();
    HW_COUNT(tracked_rma);
    HW_COUNT_ADD(tracked_bytes, bytes);
    hw_engines_posted(HW_REQUEST_RMA, bytes, is_get);
}

static uint32_t take_target(struct hw_rma_window *window, int target)
{
    uint32_t count = hw_atomic_exchange_relaxed(&window->targets[target].under_way, 0);
    hw_atomic_sub_relaxed(&window->under_way, count);
    return count;
}

void hw_rma_under_way_hold(struct hw_rma_window *window, int target, struct hw_rma_under_way_held *held)
{
    held->entered_ns = hw_clock_now_ns();
    if (target != HW_RMA_UNDER_WAY_EVERY_TARGET) {
        held->count = (unsigned)target < (unsigned)window->size ? take_target(window, target) : 0;
    } else {
        for (int i = 0; i < window->size; i++)
            held->count += take_target(window, i);
    }
    hw_request_nameless_take(held->count);
}

void hw_rma_under_way_end(const struct hw_rma_under_way_held *held)
{
    uint64_t blocked_ns = hw_clock_now_ns() - held->entered_ns;
    hw_request_nameless_end(held->count);
    hw_engines_returned(blocked_ns, 0);
}
