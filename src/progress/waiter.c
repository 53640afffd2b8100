/* SPDX-License-Identifier: BSD-3-Clause */
#include "progress/waiter.h"

#include "base/atomic.h"
#include "base/clock.h"
#include "base/options.h"
#include "profile/record/counters.h"
#include "shm/futex.h"

/* Long-run rate at which small messages may cause looks. */
#define MESSAGE_GAP_NS (200 * HW_NS_PER_US)
#define DEFAULT_TICK_NS (500 * HW_NS_PER_US)
#define MAX_TICK_NS (4 * HW_NS_PER_MS)
/* How far into a busy period the adaptive tick begins to back off. */
#define STEADY_TICK_NS (20 * HW_NS_PER_MS)
#define FIRST_NET_NS (3 * HW_NS_PER_MS)
#define MAX_NET_NS (24 * HW_NS_PER_MS)
#define JUDGED_WAIT_NS (2 * HW_NS_PER_MS) /* shorter waits say nothing about the trigger */

enum { PACING_BURST = 16, SILENT_PERIODS_TO_TICK = 8, SILENT_PERIODS_TO_RETRY = 64 };

static uint64_t first_period_ns(const struct hw_waiter *waiter)
{
    if (waiter->uses_events)
        return FIRST_NET_NS;
    return hw_options.tick_us ? (uint64_t)hw_options.tick_us * HW_NS_PER_US : DEFAULT_TICK_NS;
}

enum hw_status hw_waiter_open(struct hw_waiter *waiter)
{
    *waiter = (struct hw_waiter){0};
    hw_pacing_set(&waiter->pacing, MESSAGE_GAP_NS, PACING_BURST);
    waiter->has_events =
        hw_options.trigger != HW_OPTION_TRIGGER_TICK && hw_events_open(&waiter->events) == HW_OK;
    waiter->uses_events = waiter->has_events;
    return HW_OK;
}

static bool has_events(const struct hw_waiter *waiter)
{
    return waiter->has_events && hw_events_are_there(&waiter->events);
}

void hw_waiter_close(struct hw_waiter *waiter)
{
    if (has_events(waiter))
        hw_events_close(&waiter->events);
    waiter->has_events = false;
}

void hw_waiter_begin(struct hw_waiter *waiter)
{
    waiter->had_event = false;
    waiter->is_bulk = false;
    waiter->waited_ns = 0;
    waiter->busy_since_ns = hw_clock_now_ns();
    waiter->uses_events = false;
    if (has_events(waiter)) {
        bool has_sockets = hw_events_refresh(&waiter->events) > 0;
        bool is_forced = hw_options.trigger == HW_OPTION_TRIGGER_EVENTS;
        bool is_silent = waiter->silent_periods >= SILENT_PERIODS_TO_TICK;
        waiter->uses_events = is_forced || (has_sockets && !is_silent);
        /* Edges of the time when nobody waited say nothing about this period: the first look sees to all. */
        hw_events_wait(&waiter->events, 0);
    }
    waiter->period_ns = first_period_ns(waiter);
}

void hw_waiter_end(struct hw_waiter *waiter)
{
    if (waiter->had_event) {
        waiter->silent_periods = 0;
    } else if (waiter->waited_ns > JUDGED_WAIT_NS) {
        waiter->silent_periods++;
        if (waiter->silent_periods > SILENT_PERIODS_TO_RETRY)
            waiter->silent_periods = 0;
    }
}

void hw_waiter_nap(struct hw_waiter *waiter, uint64_t nap_ns)
{
    hw_futex_wait(&waiter->interrupts, hw_atomic_load_acquire(&waiter->interrupts), nap_ns);
}

static bool is_interrupted(struct hw_waiter *waiter)
{
    unsigned interrupts = hw_atomic_load_acquire(&waiter->interrupts);
    bool result = interrupts != waiter->interrupts_seen;
    waiter->interrupts_seen = interrupts;
    return result;
}

/* Sleeps on the sockets. In the bulk of a transfer, and when small messages come too thick, first sleeps
 * through what would be many events. A handshake in the midst of the bulk is answered at once only where
 * another round of messages waits for it. */
static enum hw_event wait_for_event(struct hw_waiter *waiter)
{
    uint64_t nap_ns = waiter->is_bulk ? waiter->gap_ns : hw_pacing_take(&waiter->pacing, hw_clock_now_ns());
    if (nap_ns)
        hw_waiter_nap(waiter, nap_ns);
    uint64_t began_ns = hw_clock_now_ns();
    enum hw_event event = hw_events_wait(&waiter->events, waiter->period_ns);
    waiter->waited_ns += hw_clock_now_ns() - began_ns;
    if (event == HW_EVENT_BULK)
        waiter->is_bulk = true;
    else if (event == HW_EVENT_MESSAGE && waiter->has_rounds)
        waiter->is_bulk = false;
    return event;
}

enum hw_reason hw_waiter_wait(struct hw_waiter *waiter)
{
    enum hw_event event = HW_EVENT_NONE;
    waiter->uses_events = waiter->uses_events && has_events(waiter);
    if (waiter->uses_events)
        event = wait_for_event(waiter);
    else
        hw_waiter_nap(waiter, waiter->period_ns);
    if (is_interrupted(waiter))
        return HW_REASON_INTERRUPT;
    if (event == HW_EVENT_NONE) {
        HW_COUNT(ticks);
        return HW_REASON_TICK;
    }
    HW_COUNT(events);
    waiter->had_event = true;
    return HW_REASON_EVENT;
}

void hw_waiter_polled(struct hw_waiter *waiter, enum hw_reason reason, int completed)
{
    if (completed || reason == HW_REASON_EVENT) {
        waiter->period_ns = first_period_ns(waiter);
        return;
    }
    if (waiter->uses_events) {
        /* The net caught nothing: it need not be looked at soon. New connections may be there, though. */
        hw_events_refresh(&waiter->events);
        if (waiter->period_ns < MAX_NET_NS)
            waiter->period_ns *= 2;
    } else if (!hw_options.tick_us && waiter->period_ns < MAX_TICK_NS &&
               hw_clock_now_ns() - waiter->busy_since_ns > STEADY_TICK_NS) {
        waiter->period_ns += waiter->period_ns / 4;
    }
}

bool hw_waiter_is_data_waiting(struct hw_waiter *waiter)
{
    return waiter->uses_events && hw_events_is_data_waiting(&waiter->events);
}

void hw_waiter_interrupt(struct hw_waiter *waiter)
{
    hw_atomic_add_release(&waiter->interrupts, 1);
    hw_futex_wake(&waiter->interrupts, 1); /* it naps, or it waits on the sockets: both are told */
    if (has_events(waiter))
        hw_events_interrupt(&waiter->events);
}
