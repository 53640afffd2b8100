/* SPDX-License-Identifier: BSD-3-Clause */
/* One turn is: close the gate, poll as long as it moves something, open the gate. What wakes the thread in
 * between is the waiter's business, whether it takes part at all the policy's. */
#include "engines/thread/turns.h"
#include "base/agent.h"
#include "base/arithmetic.h"
#include "base/atomic.h"
#include "base/clock.h"
#include "engines/thread/awaited.h"
#include "engines/thread/burst.h"
#include "engines/thread/look.h"
#include "engines/thread/need.h"
#include "engines/thread/overlap.h"
#include "engines/thread/priority.h"
#include "engines/thread/series.h"
#include "engines/thread/settle.h"
#include "engines/thread/sleep.h"
#include "engines/thread/waiter.h"
#include "objects/request.h"
#include "profile/record/counters.h"
#include "progress/deferred.h"
#include "progress/gate.h"
#include "progress/inside.h"
#include "progress/listeners.h"
#include "progress/poll.h"
#include "progress/postponed.h"
#include "real/real.h"

#include <sys/prctl.h>
#include <time.h>

enum {
    MAX_POLLS_PER_LOOK = 64,
    IDLE_LOOKS_BEFORE_PARKING = 2,
};

#define FIRST_INSIDE_NAP_NS (500 * HW_NS_PER_US)
#define MAX_INSIDE_NAP_NS (4 * HW_NS_PER_MS)
#define IDLE_NAP_NS (500 * HW_NS_PER_US)
#define FIRST_SOCKET_RETRY_NS (10 * HW_NS_PER_MS)
#define MAX_SOCKET_RETRY_NS (640 * HW_NS_PER_MS)

/* Of a thread that was just made: who made it posts more, and may wait at once. */
#define FIRST_NAP_NS HW_NS_PER_MS

static struct hw_waiter waiter;
static atomic_bool is_stopping, has_new_window;
static atomic_bool is_polling;          /* with hw_need_pause, seq_cst: either sees the other */
static atomic_uint_fast64_t arithmetic; /* of the program's thread that posted last; 0 at first */
static atomic_uint exceptions;          /* seen by the thread and not yet by the program */

/* Returns how many operations completed; sets *has_polled if it made a call that makes progress. */
static int poll(bool *has_polled)
{
    int completed = hw_request_poll(has_polled);
    if (hw_deferred_is_any())
        *has_polled = hw_deferred_look(); /* progress, too */
    if (*has_polled || !hw_need_has_work() || !hw_poll_is_open())
        return completed;
    hw_poll();
    if (hw_real_request_is_complete) /* asking made no progress: what came of the poll is seen now */
        completed += hw_request_poll(has_polled);
    *has_polled = true;
    return completed;
}

/* Makes progress as long as each poll moves something and the program does not wait for its turn. Returns how
 * many operations completed; sets *is_cut where the program waited. The gate is closed; it is open
 * afterwards. */
static int drain(bool *is_cut)
{
    int completed = 0, polls = 0, bulk_polls = 0;
    bool has_data = false, has_bursts = hw_burst_is_wanted();
    hw_atomic_store_seq_cst(&is_polling, true);
    hw_arithmetic_set(hw_atomic_load_relaxed(&arithmetic));
    for (; hw_need_has_work(); polls++) {
        hw_postponed_start();
        if (bulk_polls == MAX_POLLS_PER_LOOK) {
            hw_triggers_ignore_unread(&waiter.triggers);
            break;
        }
        bool has_polled, had_data = has_data;
        uint64_t began_ns = has_bursts ? hw_clock_now_ns() : 0;
        int came = poll(&has_polled);
        completed += came;
        HW_COUNT_ADD(polls, has_polled || came > 0);
        if (!has_polled)
            break;
        uint64_t took_ns = has_bursts ? hw_clock_now_ns() - began_ns : 0;
        has_data = (polls > 0 || has_bursts) && hw_triggers_is_data_waiting(&waiter.triggers);
        bulk_polls += has_data;
        if ((*is_cut = hw_inside_any()))
            break;
        bool may_burst = has_bursts && !had_data;
        if (polls > 0 && !has_data && !(may_burst && hw_burst_goes_on(polls, took_ns)))
            break;
    }
    hw_awaited_turned();
    hw_atomic_or_relaxed(&exceptions, hw_arithmetic_exceptions());
    hw_gate_open();
    hw_atomic_store_seq_cst(&is_polling, false);
    HW_COUNT_ADD(completed_early, completed);
    if (polls > 0 || completed > 0)
        hw_listeners_tell();
    return completed;
}

static bool is_to_go_on(enum hw_sleep depth)
{
    return hw_atomic_load_seq_cst(&is_stopping) ||
           (depth >= HW_SLEEP_PARKED && (hw_need_has_work() || hw_need_waiting_ns(false) > 0));
}

static void rest(enum hw_sleep depth, uint64_t timeout_ns) { hw_sleep_rest(depth, timeout_ns, is_to_go_on); }

/* How long to nap where there is no work now; 0 to park. A door that does not block may hold all for now. */
static uint64_t idle_nap_ns(int *idle_looks)
{
    uint64_t wait_ns = hw_need_waiting_ns(true);
    if (wait_ns > 0)
        return wait_ns < MAX_INSIDE_NAP_NS ? wait_ns : MAX_INSIDE_NAP_NS;
    bool is_barred = hw_atomic_load_seq_cst(&hw_request_callbacks) != 0;
    uint64_t series_nap_ns = hw_series_nap_ns(MAX_INSIDE_NAP_NS);
    if (hw_need_is_paused() || hw_need_is_retired() || hw_need_is_waited_for())
        return 0;
    if (series_nap_ns > 0)
        return series_nap_ns;
    if (hw_atomic_load_seq_cst(&hw_request_outstanding) == 0 ||
        (++*idle_looks > IDLE_LOOKS_BEFORE_PARKING && !is_barred))
        return 0;
    return is_barred ? MAX_INSIDE_NAP_NS : IDLE_NAP_NS;
}

/* In a probe: as long as the transfer goes on by itself, mostly not at all or until the window ends. */
static void watch(void)
{
    uint64_t watch_ns;
    while ((watch_ns = hw_overlap_watch_ns()) > 0 && hw_need_has_work() &&
           !hw_atomic_load_seq_cst(&is_stopping)) {
        hw_triggers_nap(&waiter.triggers, watch_ns);
        if (!hw_look_goes_by_itself(hw_need_is_any_beside()))
            break;
    }
}

/* Nothing else than the windows' own data needs a look. */
static bool may_wait_for_sense(void)
{
    return hw_need_has_work() && !hw_overlap_has_rounds() && !hw_need_is_any_beside() &&
           !hw_atomic_load_seq_cst(&is_stopping) && !hw_atomic_load_seq_cst(&has_new_window);
}

static void note_told_by(void) { hw_need_set_told_by(hw_waiter_told_by(&waiter)); }

/* One busy period: from the first pending operation to none. */
static void work(void)
{
    uint64_t inside_nap_ns = FIRST_INSIDE_NAP_NS;
    int idle_looks = 0;
    hw_waiter_begin(&waiter);
    note_told_by();
    enum hw_reason reason = HW_REASON_INTERRUPT; /* what arrived before this had nobody to see it */
    while (!hw_atomic_load_relaxed(&is_stopping)) {
        hw_settle(&waiter.triggers);
        if (hw_atomic_exchange_seq_cst(&has_new_window, false)) {
            hw_waiter_renew(&waiter);
            note_told_by();
            reason = HW_REASON_INTERRUPT;
        }
        HW_COUNT(looks);
        hw_awaited_check();
        if (!hw_need_has_work()) {
            uint64_t nap_ns = idle_nap_ns(&idle_looks);
            if (nap_ns == 0)
                break;
            rest(HW_SLEEP_NAPPING, nap_ns);
            continue;
        }
        idle_looks = 0;
        if (hw_overlap_is_on() && !hw_inside_any()) { /* else its posts may not be over */
            hw_look_first();
            if (hw_overlap_watch_ns() > 0) {
                watch();
                continue;
            }
            hw_look_wait_for_sense(&waiter.triggers, may_wait_for_sense);
        }
        hw_awaited_turns(hw_need_is_asked_for() || hw_need_has_overlap());
        if (!hw_gate_close()) {
            HW_COUNT(looks_inside);
            if (hw_overlap_waits_at_once()) /* it is likely to stay there until the window is over */
                inside_nap_ns = MAX_INSIDE_NAP_NS;
            if (!hw_waiter_rest_inside(&waiter, inside_nap_ns))
                rest(HW_SLEEP_NAPPING, inside_nap_ns);
            if (inside_nap_ns < MAX_INSIDE_NAP_NS)
                inside_nap_ns *= 2;
            reason = HW_REASON_TICK;
            continue;
        }
        /* A program that came by before the turn began does so often: it is not to wait often. */
        bool is_cut = false, was_awaited = hw_inside_any();
        if (!was_awaited)
            inside_nap_ns = FIRST_INSIDE_NAP_NS;
        hw_waiter_polled(&waiter, reason, drain(&is_cut));
        hw_look_again();
        if (is_cut) { /* what is still to be read tells nobody again */
            rest(HW_SLEEP_NAPPING, inside_nap_ns);
            if (was_awaited && inside_nap_ns < MAX_INSIDE_NAP_NS)
                inside_nap_ns *= 2;
            reason = HW_REASON_TICK;
        } else if (hw_need_has_work()) {
            waiter.gap_ns = hw_overlap_gap_ns();
            waiter.has_rounds = hw_overlap_has_rounds();
            reason = hw_waiter_wait(&waiter);
        }
    }
    hw_waiter_end(&waiter);
}

/* How long to park. Many MPIs connect at the first operation only: as long as a window is exposed and there
 * is no socket to watch, look for one now and then. */
static uint64_t parking_ns(void)
{
    static uint64_t retry_ns = FIRST_SOCKET_RETRY_NS; /* progress thread only */
    bool lacks_sockets = waiter.triggers.first == &hw_trigger_events && hw_need_is_exposed() &&
                         hw_awaited_is() && hw_need_told_by() == HW_TOLD_BY_NOBODY && !hw_need_is_retired();
    if (!lacks_sockets) {
        retry_ns = FIRST_SOCKET_RETRY_NS;
        return UINT64_MAX;
    }
    uint64_t parking = retry_ns;
    if (retry_ns < MAX_SOCKET_RETRY_NS)
        retry_ns *= 2;
    return parking;
}

/* By an alarm that was not taken back. */
static bool is_woken_in_vain(void)
{
    if (hw_need_waiting_ns(true) > 0)
        return false;
    bool is_idle = hw_need_is_waited_for() || hw_atomic_load_seq_cst(&hw_request_outstanding) == 0;
    return is_idle && hw_need_told_by() != HW_TOLD_BY_NOBODY && !hw_need_has_work();
}

void *hw_turns_run(void *unused)
{
    (void)unused;
    hw_inside_mark_own_thread();
    prctl(PR_SET_NAME, "headway", 0, 0, 0);
    hw_priority_begin();
    hw_agent_open_memory();
    nanosleep(&(struct timespec){.tv_nsec = FIRST_NAP_NS}, NULL);
    do {
        if (!is_woken_in_vain())
            work(); /* before it sleeps first: until it knows what tells it, exposed windows are no work */
        rest(HW_SLEEP_PARKED, parking_ns());
    } while (!hw_atomic_load_seq_cst(&is_stopping));
    return NULL;
}

void hw_turns_begin_anew(void)
{
    hw_atomic_store_seq_cst(&has_new_window, true);
    hw_inside_leave(&hw_inside);
    hw_triggers_interrupt(&waiter.triggers);
    hw_inside_enter(&hw_inside);
}

void hw_turns_open(void)
{
    hw_waiter_open(&waiter);
    hw_sleep_open();
    hw_atomic_store_seq_cst(&is_stopping, false);
}

void hw_turns_close(void)
{
    hw_triggers_close(&waiter.triggers);
    hw_sleep_close();
}

void hw_turns_end(void)
{
    hw_atomic_store_seq_cst(&is_stopping, true);
    hw_sleep_end_all();
    hw_triggers_interrupt(&waiter.triggers);
}

bool hw_turns_is_polling(void) { return hw_atomic_load_seq_cst(&is_polling); }

void hw_turns_take_arithmetic(void) { hw_atomic_store_relaxed(&arithmetic, hw_arithmetic_get()); }

void hw_turns_give_exceptions(void)
{
    if (hw_atomic_load_relaxed(&exceptions) != 0)
        hw_arithmetic_add_exceptions(hw_atomic_exchange_seq_cst(&exceptions, 0));
}

const char *hw_turns_why(void) { return hw_atomic_load_relaxed(&waiter.why); }
