/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/thread/account.h"

#include "base/clock.h"
#include "base/log.h"
#include "profile/record/counters.h"

/* Packets that come and go while the program computes are the kernel's work on the program's core, which
 * without the thread is done while the program waits. No clock has it apart; beside a computation on one core
 * it took from nothing to as much as the thread itself: this part of that, give or take the same. */
enum { KERNEL_PARTS = 2 };

/* What is learnt later is true of earlier windows too: the counters take what has changed, modulo 2^64. */
static void tell_gain(struct hw_policy_class *class)
{
    struct hw_policy_judged *judged = &class->judged;
    struct hw_policy_estimate now = hw_policy_without(class), *told = &judged->told;
    if (now.high_ns == 0)
        return;
    now.low_ns -= judged->kernel_ns < now.low_ns ? judged->kernel_ns : now.low_ns;
    now.high_ns += judged->kernel_ns;
    /* Nothing was ever tried without the thread: a wait that another process causes may have hidden all of
     * the gain (Open MPI's halo exchanges out of step: 1.2 s estimated, 0.2 s by the clock). */
    if (class->off.count == 0 && now.low_ns > judged->on_ns)
        now.low_ns = judged->on_ns;
    HW_COUNT_ADD(judged_on_ns, judged->on_ns - judged->told_on_ns);
    HW_COUNT_ADD(judged_off_low_ns, now.low_ns - told->low_ns);
    HW_COUNT_ADD(judged_off_ns, now.cost_ns - told->cost_ns);
    HW_COUNT_ADD(judged_off_high_ns, now.high_ns - told->high_ns);
    judged->told_on_ns = judged->on_ns;
    *told = now;
}

void hw_account_window(struct hw_policy_class *class, const struct hw_policy_window *closed, uint64_t wake_ns,
                       uint64_t gap_ns)
{
    uint64_t kernel_ns = (closed->overhead_ns - wake_ns) / KERNEL_PARTS;
    if (class->idle_run > 0) { /* nothing to gain, and the thread has its price */
        HW_COUNT_ADD(judged_on_ns, closed->overhead_ns);
        return;
    }
    class->judged.windows++;
    class->judged.on_ns += hw_policy_cost_ns(closed) + kernel_ns;
    class->judged.kernel_ns += kernel_ns;
    class->judged.waited_ns += closed->blocked_ns + closed->elsewhere_ns;
    class->judged.free_ns += hw_policy_free_ns(closed);
    class->judged.gap_ns = gap_ns;
    HW_COUNT(judged_windows);
    tell_gain(class);
}

void hw_account_log(const struct hw_policy_class *class, const struct hw_policy_window *closed)
{
    const char *way = closed->was_probe ? "after a probe" : closed->was_on ? "with the thread" : "without";
    hw_log_debug("window of %llu bytes %s%s: %llu us, of them %llu waited, %llu in other calls, %llu for the "
                 "thread; without it some %llu",
                 (unsigned long long)closed->bytes, way, class->stands_down ? ", standing down" : "",
                 (unsigned long long)closed->duration_ns / HW_NS_PER_US,
                 (unsigned long long)closed->blocked_ns / HW_NS_PER_US,
                 (unsigned long long)closed->elsewhere_ns / HW_NS_PER_US,
                 (unsigned long long)closed->overhead_ns / HW_NS_PER_US,
                 (unsigned long long)hw_policy_off_cost_ns(class) / HW_NS_PER_US);
}
