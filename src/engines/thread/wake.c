/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/thread/wake.h"

#include "base/atomic.h"
#include "base/clock.h"
#include "engines/thread/overlap.h"
#include "profile/record/counters.h"
#include "progress/inside.h"

/* From the last post until the thread comes, where it is not known which post is the last. */
#define ALARM_NS (60 * HW_NS_PER_US)
/* From the first one where windows wait at once. */
#define IDLE_ALARM_NS (300 * HW_NS_PER_US)

static atomic_bool is_limit; /* the alarm was set by hw_wake_arm_in() */

void hw_wake(enum hw_sleep depth)
{
    enum hw_sleep found;
    if (!hw_sleep_take(depth, &found))
        return;
    HW_COUNT(wakes);
    uint64_t before_ns = hw_clock_now_ns();
    hw_inside_leave(&hw_inside);
    hw_sleep_end(found);
    hw_inside_enter(&hw_inside);
    hw_overlap_add_wake(hw_clock_now_ns() - before_ns);
}

static bool arm(void)
{
    if (hw_atomic_load_relaxed(&is_limit) && hw_atomic_exchange_relaxed(&is_limit, false))
        hw_sleep_disarm(); /* it is due sooner */
    enum hw_sleep_arming arming = hw_sleep_arm(hw_overlap_expects_wait() ? IDLE_ALARM_NS : ALARM_NS);
    if (arming == HW_SLEEP_IS_ARMED)
        HW_COUNT(wakes);
    return arming != HW_SLEEP_CANNOT_ARM;
}

void hw_wake_soon(enum hw_sleep depth)
{
    if (!arm())
        hw_wake(depth);
}

void hw_wake_arm(void) { arm(); }

void hw_wake_arm_in(uint64_t delay_ns)
{
    if (hw_sleep_arm(delay_ns) != HW_SLEEP_IS_ARMED)
        return;
    hw_atomic_store_relaxed(&is_limit, true);
    HW_COUNT(wakes);
}
