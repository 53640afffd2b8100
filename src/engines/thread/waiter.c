/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/thread/waiter.h"

#include "base/atomic.h"
#include "base/clock.h"
#include "base/options.h"
#include "engines/thread/priority.h"
#include "profile/record/counters.h"
#include "progress/helped.h"

/* Long-run rate at which small messages may cause looks. */
#define MESSAGE_GAP_NS (200 * HW_NS_PER_US)
#define DEFAULT_TICK_NS (500 * HW_NS_PER_US)
#define MAX_TICK_NS (4 * HW_NS_PER_MS)
/* How far into a busy period the adaptive tick begins to back off. */
#define STEADY_TICK_NS (20 * HW_NS_PER_MS)
#define FIRST_NET_NS (3 * HW_NS_PER_MS)
#define MAX_NET_NS (24 * HW_NS_PER_MS)
#define BURST_GAP_NS (500 * HW_NS_PER_US)
#define JUDGED_WAIT_NS (2 * HW_NS_PER_MS) /* shorter waits say nothing about the trigger */

enum { STEADY_TICK_GAPS = 16 };
enum { MUTE_PERIODS_TO_TICK = 4, MUTE_PERIODS_TO_RETRY = 64 };
enum { UNHEARD_PERIODS_TO_BURST = 2, BURST_LOOKS = 16 };
enum { PACING_BURST = 16, SILENT_PERIODS_TO_TICK = 8, SILENT_PERIODS_TO_RETRY = 64 };

static uint64_t first_period_ns(const struct hw_waiter *waiter)
{
    if (hw_triggers_are_told(&waiter->triggers))
        return FIRST_NET_NS;
    return hw_options.tick_us ? (uint64_t)hw_options.tick_us * HW_NS_PER_US : DEFAULT_TICK_NS;
}

void hw_waiter_open(struct hw_waiter *waiter)
{
    *waiter = (struct hw_waiter){0};
    hw_pacing_set(&waiter->pacing, MESSAGE_GAP_NS, PACING_BURST);
    if (hw_options.trigger == HW_OPTION_TRIGGER_HELPER)
        hw_triggers_open_as(&waiter->triggers, &hw_trigger_helper);
    else
        hw_triggers_open(&waiter->triggers, hw_options.trigger == HW_OPTION_TRIGGER_TICK);
    if (hw_options.trigger == HW_OPTION_TRIGGER_AUTO && hw_helped_is_open())
        hw_triggers_add_spare(&waiter->triggers, &hw_trigger_helper);
}

static bool is_mute(const struct hw_waiter *waiter)
{
    return waiter->mute_periods >= MUTE_PERIODS_TO_TICK || hw_helped_is_lost();
}

/* Whether the first trigger is to be heard in the period that begins. */
static bool use_first(struct hw_waiter *waiter)
{
    if (!hw_triggers_use_first(&waiter->triggers))
        return false;
    bool has_sources = hw_triggers_refresh(&waiter->triggers) > 0;
    bool is_silent = waiter->silent_periods >= SILENT_PERIODS_TO_TICK;
    if (hw_options.trigger == HW_OPTION_TRIGGER_HELPER)
        return !is_mute(waiter);
    hw_atomic_store_relaxed(&waiter->why, !has_sources ? "the process has no connected socket"
                                          : is_silent  ? "the sockets of the process tell nothing of messages"
                                                       : "the sockets of the process tell of messages");
    return hw_options.trigger == HW_OPTION_TRIGGER_EVENTS || (has_sources && !is_silent);
}

static void choose(struct hw_waiter *waiter)
{
    hw_atomic_store_relaxed(&waiter->why, "");
    if (!use_first(waiter) && (is_mute(waiter) || !hw_triggers_use_spare(&waiter->triggers))) {
        hw_triggers_use_tick(&waiter->triggers);
        if (is_mute(waiter))
            hw_atomic_store_relaxed(&waiter->why, "the helper tells nothing of messages");
    }
    hw_helped_want(waiter->triggers.in_force != &hw_trigger_events);
    /* Edges of the time when nobody waited say nothing about this period: the first look sees to all. */
    hw_triggers_wait(&waiter->triggers, 0);
}

void hw_waiter_begin(struct hw_waiter *waiter)
{
    waiter->had_event = waiter->has_completed = waiter->had_net = false;
    waiter->burst_looks = 0;
    waiter->is_bulk = false;
    waiter->waited_ns = 0;
    waiter->busy_since_ns = waiter->moved_ns = hw_clock_now_ns();
    choose(waiter);
    waiter->period_ns = first_period_ns(waiter);
}

enum hw_told_by hw_waiter_told_by(const struct hw_waiter *waiter)
{
    if (waiter->triggers.in_force == &hw_trigger_events)
        return HW_TOLD_BY_SOCKETS;
    return waiter->triggers.in_force == &hw_trigger_helper ? HW_TOLD_BY_HELPER : HW_TOLD_BY_NOBODY;
}

/* Whether the helper still speaks: one that was stopped, or whose words are lost, leaves all to the net. Now
 * and then it is listened to again. */
static void judge_helper(struct hw_waiter *waiter)
{
    bool is_heard = waiter->triggers.in_force == &hw_trigger_helper;
    bool was_heard = hw_helped_take_told() || waiter->had_event;
    if (was_heard)
        waiter->mute_periods = 0; /* the first look of a period often comes before the word */
    else if (!is_heard || (waiter->has_completed && !hw_helped_has_unknown()))
        waiter->mute_periods++;
    if (was_heard)
        waiter->unheard_periods = 0;
    else if (waiter->had_net && waiter->unheard_periods < UNHEARD_PERIODS_TO_BURST)
        waiter->unheard_periods++;
    if (waiter->mute_periods == MUTE_PERIODS_TO_RETRY)
        waiter->mute_periods = MUTE_PERIODS_TO_TICK - 1;
    hw_helped_note_silence(waiter->mute_periods >= MUTE_PERIODS_TO_TICK);
}

/* Where they are not listened to since they were silent they are again, now and then. */
static void judge_events(struct hw_waiter *waiter)
{
    bool is_helped = waiter->triggers.in_force == &hw_trigger_helper;
    if (is_helped && waiter->silent_periods == 0)
        return;
    if (waiter->had_event && !is_helped) {
        waiter->silent_periods = 0;
    } else if (waiter->waited_ns > JUDGED_WAIT_NS || (is_helped && waiter->had_event)) {
        waiter->silent_periods++;
        if (waiter->silent_periods > SILENT_PERIODS_TO_RETRY)
            waiter->silent_periods = is_helped ? SILENT_PERIODS_TO_TICK - 1 : 0;
    }
}

void hw_waiter_end(struct hw_waiter *waiter)
{
    bool may_be_helped =
        waiter->triggers.first == &hw_trigger_helper || waiter->triggers.spare == &hw_trigger_helper;
    hw_helped_settle();
    if (may_be_helped && waiter->triggers.in_force != &hw_trigger_events)
        judge_helper(waiter);
    HW_COUNT_ADD(helper_wakes_futile, waiter->is_told);
    waiter->is_told = false;
    judge_events(waiter);
}

void hw_waiter_renew(struct hw_waiter *waiter)
{
    if (waiter->triggers.in_force == &hw_trigger_helper)
        judge_helper(waiter);
    hw_waiter_begin(waiter);
}

/* Between two looks in the bulk. A helper does not see when a message is complete that the program still
 * waits with others for: the longer nothing completes, the longer the gap, as that of the tick. */
static uint64_t bulk_gap_ns(const struct hw_waiter *waiter)
{
    uint64_t since_ns = hw_clock_now_ns() - waiter->moved_ns;
    if (waiter->triggers.in_force != &hw_trigger_helper || since_ns < STEADY_TICK_NS)
        return waiter->gap_ns;
    uint64_t gap_ns = since_ns / STEADY_TICK_GAPS < MAX_TICK_NS ? since_ns / STEADY_TICK_GAPS : MAX_TICK_NS;
    return gap_ns > waiter->gap_ns ? gap_ns : waiter->gap_ns;
}

/* In the bulk of a transfer, and when small messages come too thick, first sleeps through what would be many
 * events. A handshake in the midst of the bulk is answered at once only where another round of messages waits
 * for it, or where the trigger tells it from the bulk. */
static enum hw_event wait_for_event(struct hw_waiter *waiter)
{
    uint64_t nap_ns =
        waiter->is_bulk ? bulk_gap_ns(waiter) : hw_pacing_take(&waiter->pacing, hw_clock_now_ns());
    if (nap_ns && waiter->is_bulk)
        hw_triggers_rest(&waiter->triggers, nap_ns);
    else if (nap_ns)
        hw_triggers_nap(&waiter->triggers, nap_ns);
    uint64_t began_ns = hw_clock_now_ns();
    enum hw_event event = hw_triggers_wait(&waiter->triggers, waiter->period_ns);
    uint64_t now_ns = hw_clock_now_ns();
    waiter->waited_ns += now_ns - began_ns;
    if (event == HW_EVENT_MESSAGE)
        waiter->moved_ns = now_ns;
    if (event == HW_EVENT_BULK)
        waiter->is_bulk = true;
    else if (event == HW_EVENT_MESSAGE && waiter->has_rounds)
        waiter->is_bulk = false;
    return event;
}

enum hw_reason hw_waiter_wait(struct hw_waiter *waiter)
{
    enum hw_event event = HW_EVENT_NONE;
    if (waiter->triggers.in_force == &hw_trigger_helper && hw_helped_is_lost()) {
        hw_triggers_use_tick(&waiter->triggers);
        waiter->period_ns = first_period_ns(waiter);
    }
    hw_priority_sleeps(hw_clock_now_ns());
    if (hw_triggers_check(&waiter->triggers))
        event = wait_for_event(waiter);
    else
        hw_triggers_nap(&waiter->triggers, waiter->period_ns);
    hw_priority_woken(hw_clock_now_ns());
    waiter->is_told = hw_helped_take_woken();
    if (hw_triggers_were_interrupted(&waiter->triggers))
        return HW_REASON_INTERRUPT;
    if (event == HW_EVENT_NONE) {
        HW_COUNT(ticks);
        return HW_REASON_TICK;
    }
    HW_COUNT(events);
    waiter->had_event = true;
    return HW_REASON_EVENT;
}

bool hw_waiter_rest_inside(const struct hw_waiter *waiter, uint64_t time_ns)
{
    bool is_helped = hw_waiter_told_by(waiter) == HW_TOLD_BY_HELPER;
    if (is_helped)
        hw_helped_rest_inside(time_ns);
    return is_helped;
}

/* The net caught nothing: it need not be looked at soon. New connections may be there, though. Where the
 * helper has been silent a message may be under way within the node, of which the MPI copies a part in each
 * look: some more looks follow soon, until one completes, which tells. */
static void widen_net(struct hw_waiter *waiter)
{
    bool is_unheard = waiter->triggers.in_force == &hw_trigger_helper &&
                      waiter->unheard_periods >= UNHEARD_PERIODS_TO_BURST;
    waiter->had_net = true;
    hw_triggers_refresh(&waiter->triggers);
    if (waiter->burst_looks > 0) {
        if (--waiter->burst_looks == 0)
            waiter->period_ns = waiter->net_ns;
        return;
    }
    if (waiter->period_ns < MAX_NET_NS)
        waiter->period_ns *= 2;
    if (is_unheard) {
        waiter->net_ns = waiter->period_ns;
        waiter->period_ns = BURST_GAP_NS;
        waiter->burst_looks = BURST_LOOKS;
    }
}

void hw_waiter_polled(struct hw_waiter *waiter, enum hw_reason reason, int completed)
{
    /* The thread's reason is a tick after it has found the program inside MPI. */
    HW_COUNT_ADD(helper_wakes_futile, waiter->is_told && reason == HW_REASON_TICK);
    waiter->is_told = false;
    if (completed) {
        waiter->moved_ns = hw_clock_now_ns();
        waiter->has_completed = true;
    }
    if (completed || reason == HW_REASON_EVENT) {
        waiter->period_ns = first_period_ns(waiter);
        waiter->burst_looks = 0;
        return;
    }
    if (hw_triggers_are_told(&waiter->triggers)) {
        widen_net(waiter);
    } else if (!hw_options.tick_us && waiter->period_ns < MAX_TICK_NS &&
               hw_clock_now_ns() - waiter->busy_since_ns > STEADY_TICK_NS) {
        waiter->period_ns += waiter->period_ns / 4;
    }
}
