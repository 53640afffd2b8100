/* SPDX-License-Identifier: BSD-3-Clause */
/* The progress thread (papers/001): asleep until something is pending that needs software progress, asleep
 * while the program itself is inside MPI, asleep again when there is nothing to progress. No core is set
 * aside. What wakes it in between is the waiter's business, whether it takes part at all the policy's. */
#include "engines/thread/thread.h"
#include "base/agent.h"
#include "base/arithmetic.h"
#include "base/atomic.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/options.h"
#include "engines/engine.h"
#include "engines/thread/awaited.h"
#include "engines/thread/burst.h"
#include "engines/thread/look.h"
#include "engines/thread/order.h"
#include "engines/thread/overlap.h"
#include "engines/thread/priority.h"
#include "engines/thread/series.h"
#include "engines/thread/settle.h"
#include "engines/thread/sleep.h"
#include "engines/thread/waiter.h"
#include "engines/thread/wake.h"
#include "profile/record/counters.h"
#include "progress/deferred.h"
#include "progress/helped.h"
#include "progress/inside.h"
#include "progress/listeners.h"
#include "progress/poll.h"
#include "progress/postponed.h"
#include "real/real.h"
#include "world/comm.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

enum {
    STACK_BYTES = 512 * 1024, /* address space; touched pages only are memory */
    MAX_POLLS_PER_LOOK = 64,
    IDLE_LOOKS_BEFORE_PARKING = 2,
    EXIT_WAIT_MS = 200,
};

#define FIRST_INSIDE_NAP_NS (500 * HW_NS_PER_US)
#define MAX_INSIDE_NAP_NS (4 * HW_NS_PER_MS)
#define IDLE_NAP_NS (500 * HW_NS_PER_US)
#define FIRST_SOCKET_RETRY_NS (10 * HW_NS_PER_MS)
#define MAX_SOCKET_RETRY_NS (640 * HW_NS_PER_MS)

/* Of a thread that was just made: who made it posts more, and may wait at once. */
#define FIRST_NAP_NS HW_NS_PER_MS

static pthread_t thread;
static cpu_set_t allowed_cores; /* where the thread may run: what the process had in MPI_Init* */
static bool is_open;
static pthread_mutex_t creation_lock = PTHREAD_MUTEX_INITIALIZER;
enum { NOT_CREATED, RUNNING, FAILED };
static _Atomic int life; /* of the thread; written under creation_lock, or when no hook can run */
static atomic_bool is_stopping, is_retired, has_new_window;
static atomic_bool is_polling; /* with is_paused, seq_cst: either sees the other */

static atomic_int exposure_count;
static atomic_bool is_waited_for;          /* a blocking door has taken all that is pending */
static atomic_bool is_paused, is_listened; /* by the program; is_paused with is_polling, seq_cst */
static atomic_int told_by;                 /* enum hw_told_by; written by the thread */
static atomic_uint_fast64_t arithmetic;    /* of the program's thread that posted last; 0 at first */
static atomic_uint exceptions;             /* seen by the thread and not yet by the program */
static struct hw_waiter waiter;

/* An exposed window needs the thread where others wait, and when their message arrives, or a helper says so:
 * never a timer. */
static bool has_exposure(void)
{
    int by = hw_atomic_load_relaxed(&told_by);
    return hw_atomic_load_seq_cst(&exposure_count) > 0 &&
           ((by == HW_TOLD_BY_HELPER && hw_helped_is_listened()) ||
            (by == HW_TOLD_BY_SOCKETS && hw_awaited_is()));
}

static bool is_asked_for(void) /* for something else than windows, exposed ones or those of overlap */
{
    return hw_atomic_load_seq_cst(&is_listened) || hw_postponed_is_overdue() || hw_deferred_is_any();
}

static bool is_needed(void) { return is_asked_for() || has_exposure(); } /* beside the open window */

static bool has_overlap(void)
{
    return hw_atomic_load_seq_cst(&hw_request_pending) != 0 && hw_overlap_is_on();
}

static bool has_work(void)
{
    if (hw_atomic_load_seq_cst(&is_retired) || hw_atomic_load_seq_cst(&is_paused) ||
        hw_atomic_load_seq_cst(&hw_request_callbacks) != 0)
        return false;
    return has_overlap() || is_needed();
}

/* Returns how many operations completed; sets *has_polled if it made a call that makes progress. */
static int poll(bool *has_polled)
{
    int completed = hw_request_poll(has_polled);
    if (hw_deferred_is_any())
        *has_polled = hw_deferred_look(); /* progress, too */
    if (*has_polled || !has_work() || !hw_poll_is_open())
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
    for (; has_work(); polls++) {
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

/* The least of what sends are waited for, at most; 0: for none. */
static uint64_t waiting_ns(bool may_end)
{
    if (hw_atomic_load_seq_cst(&is_paused) || hw_atomic_load_seq_cst(&is_retired))
        return 0;
    uint64_t held_ns = hw_overlap_held_ns(may_end), left_ns = hw_postponed_left_ns();
    return held_ns == 0 || (left_ns > 0 && left_ns < held_ns) ? left_ns : held_ns;
}

static bool is_to_go_on(enum hw_sleep depth)
{
    return hw_atomic_load_seq_cst(&is_stopping) ||
           (depth >= HW_SLEEP_PARKED && (has_work() || waiting_ns(false) > 0));
}

static void rest(enum hw_sleep depth, uint64_t timeout_ns) { hw_sleep_rest(depth, timeout_ns, is_to_go_on); }

/* How long to nap where there is no work now; 0 to park. A door that does not block may hold all for now. */
static uint64_t idle_nap_ns(int *idle_looks)
{
    uint64_t wait_ns = waiting_ns(true);
    if (wait_ns > 0)
        return wait_ns < MAX_INSIDE_NAP_NS ? wait_ns : MAX_INSIDE_NAP_NS;
    bool is_barred = hw_atomic_load_seq_cst(&hw_request_callbacks) != 0;
    uint64_t series_nap_ns = hw_series_nap_ns(MAX_INSIDE_NAP_NS);
    if (hw_atomic_load_seq_cst(&is_paused) || hw_atomic_load_seq_cst(&is_retired) ||
        hw_atomic_load_relaxed(&is_waited_for))
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
    while ((watch_ns = hw_overlap_watch_ns()) > 0 && has_work() && !hw_atomic_load_seq_cst(&is_stopping)) {
        hw_triggers_nap(&waiter.triggers, watch_ns);
        if (!hw_look_goes_by_itself(is_needed()))
            break;
    }
}

/* Nothing else than the windows' own data needs a look. */
static bool may_wait_for_sense(void)
{
    return has_work() && !hw_overlap_has_rounds() && !is_needed() && !hw_atomic_load_seq_cst(&is_stopping) &&
           !hw_atomic_load_seq_cst(&has_new_window);
}

static void note_told_by(void) { hw_atomic_store_relaxed(&told_by, hw_waiter_told_by(&waiter)); }

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
        if (!has_work()) {
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
        hw_awaited_turns(is_asked_for() || has_overlap());
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
        } else if (has_work()) {
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
    bool lacks_sockets = waiter.triggers.first == &hw_trigger_events &&
                         hw_atomic_load_seq_cst(&exposure_count) > 0 && hw_awaited_is() &&
                         hw_atomic_load_relaxed(&told_by) == HW_TOLD_BY_NOBODY &&
                         !hw_atomic_load_seq_cst(&is_retired);
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
    if (waiting_ns(true) > 0)
        return false;
    bool is_idle =
        hw_atomic_load_relaxed(&is_waited_for) || hw_atomic_load_seq_cst(&hw_request_outstanding) == 0;
    return is_idle && hw_atomic_load_relaxed(&told_by) != HW_TOLD_BY_NOBODY && !has_work();
}

static void *run(void *unused)
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

/* A new window of overlap begins while the thread still waits on the last one's transport: what it believes
 * of a transfer under way is out of date. */
static void begin_anew(void)
{
    hw_atomic_store_seq_cst(&has_new_window, true);
    hw_inside_leave(&hw_inside);
    hw_triggers_interrupt(&waiter.triggers);
    hw_inside_enter(&hw_inside);
}

static void give_up(int error)
{
    static char reason[96];
    snprintf(reason, sizeof reason, "the system makes no thread for progress: %s", strerror(error));
    hw_log_warn("%s; going on without", reason);
    hw_engines_retire(reason);
}

/* The thread is made when there is first something to do: a second thread costs every malloc of the process
 * its short cut for one. Returns true if it runs. */
static bool is_created(void)
{
    if (__builtin_expect(hw_atomic_load_acquire(&life) != NOT_CREATED, 1))
        return hw_atomic_load_relaxed(&life) == RUNNING;
    int error = 0;
    pthread_mutex_lock(&creation_lock);
    if (hw_atomic_load_seq_cst(&life) == NOT_CREATED) {
        /* The creator may have been bound to one core meanwhile. */
        error = hw_agent_create(&thread, run, STACK_BYTES, &allowed_cores);
        if (!error)
            hw_overlap_start(thread, &allowed_cores);
        hw_atomic_store_seq_cst(&life, error ? FAILED : RUNNING);
    }
    pthread_mutex_unlock(&creation_lock);
    if (error)
        give_up(error);
    return hw_atomic_load_seq_cst(&life) == RUNNING;
}

/* Something waits for a send that may never come. */
static void limit_waiting(void)
{
    uint64_t wait_ns = waiting_ns(false);
    if (wait_ns > 0)
        hw_wake_arm_in(wait_ns);
}

/* A long post is no moment to come: it may move the data itself. hw_thread_posted follows. */
void hw_thread_posts(void)
{
    hw_overlap_posts();
    if (!hw_overlap_expects_wait())
        hw_sleep_disarm();
    else if (!hw_atomic_load_seq_cst(&is_paused) && !hw_atomic_load_relaxed(&is_retired))
        hw_wake_arm(); /* where it cannot, hw_thread_posted wakes it */
}

/* The wake-up that hw_thread_posts took back is due. */
void hw_thread_unposted(void)
{
    hw_overlap_unposted();
    if (hw_overlap_is_on() && !hw_atomic_load_seq_cst(&is_paused) && !hw_sleep_is_awake())
        hw_wake_soon(HW_SLEEP_NAPPING);
    else
        limit_waiting();
}

void hw_thread_passed_over(enum hw_request_kind kind, bool is_receive)
{
    hw_order_passed(kind, is_receive);
    limit_waiting();
}

void hw_thread_posted(enum hw_request_kind kind, uint64_t bytes, bool is_receive)
{
    bool is_new;
    if (hw_atomic_load_relaxed(&is_retired) || !is_created())
        return;
    hw_atomic_store_relaxed(&arithmetic, hw_arithmetic_get());
    enum hw_policy_post post = hw_overlap_posted(kind, bytes, is_receive, &is_new);
    bool is_paused_now = hw_atomic_load_seq_cst(&is_paused);
    hw_order_posted(
        &(struct hw_order_post){.kind = kind,
                                .is_receive = is_receive,
                                .is_for_thread = post != HW_POLICY_POST_OFF && !is_paused_now &&
                                                 hw_atomic_load_relaxed(&hw_request_callbacks) == 0 &&
                                                 hw_atomic_load_relaxed(&told_by) == HW_TOLD_BY_SOCKETS});
    hw_settle_posted(post == HW_POLICY_POST_COMPLETE && !is_paused_now);
    if (post == HW_POLICY_POST_OFF || post == HW_POLICY_POST_MORE || is_paused_now) {
        limit_waiting();
        return;
    }
    bool is_asleep = !hw_sleep_is_awake();
    if (is_asleep && post == HW_POLICY_POST_COMPLETE && !hw_overlap_waits_at_once())
        hw_wake(HW_SLEEP_NAPPING);
    else if (is_asleep)
        hw_wake_soon(HW_SLEEP_NAPPING);
    else if (is_new)
        begin_anew();
}

void hw_thread_sent(uint64_t bytes, uint64_t began_ns)
{
    if (hw_overlap_sent(bytes, began_ns) && !hw_atomic_load_seq_cst(&is_paused) && !hw_sleep_is_awake())
        hw_wake_soon(HW_SLEEP_NAPPING);
}

/* Nothing is computed until the program has what it waits for, so the thread need not come. If something is
 * still pending then, hw_thread_returned wakes it.
 * Where windows wait at once the alarm of the first post stays: on Intel MPI directions come to take turns
 * where more than some 3 us pass between the last post and the wait. */
void hw_thread_waits(void)
{
    if (hw_atomic_load_relaxed(&hw_request_pending) != 0)
        return;
    hw_atomic_store_relaxed(&is_waited_for, true);
    if (!hw_overlap_expects_wait() && hw_sleep_disarm())
        HW_COUNT(wakes_spared);
}

void hw_thread_returned(uint64_t blocked_ns, int still_pending)
{
    if (hw_atomic_load_relaxed(&exceptions) != 0)
        hw_arithmetic_add_exceptions(hw_atomic_exchange_seq_cst(&exceptions, 0));
    hw_atomic_store_relaxed(&is_waited_for, false);
    HW_COUNT(doors);
    HW_COUNT_ADD(blocked_ns, blocked_ns);
    hw_overlap_returned(blocked_ns);
    hw_order_returned();
    bool is_pending =
        still_pending || (hw_overlap_is_continued() && hw_atomic_load_relaxed(&hw_request_pending));
    if (is_pending && hw_overlap_is_on() && !hw_atomic_load_seq_cst(&is_paused))
        hw_wake(HW_SLEEP_PARKED); /* one that naps looks again: tests in a loop must not pay each time */
    else if (is_pending)
        limit_waiting();
}

void hw_thread_retire(void)
{
    hw_atomic_store_seq_cst(&is_retired, true);
    hw_postponed_stop();
}

/* The program changed its mind about what the thread may do; outside MPI, so nothing has to be hidden. */
static void take_up(void)
{
    enum hw_sleep found;
    if (has_work() && hw_sleep_take(HW_SLEEP_NAPPING, &found))
        hw_sleep_end(found);
}

void hw_thread_pause(bool wants_pause)
{
    hw_atomic_store_seq_cst(&is_paused, wants_pause);
    hw_overlap_interfere(wants_pause, hw_atomic_load_seq_cst(&is_listened));
    while (wants_pause && hw_atomic_load_seq_cst(&is_polling))
        sched_yield();
    if (!wants_pause)
        take_up();
}

void hw_thread_listen(bool wants_listening)
{
    if (wants_listening && (!is_open || hw_atomic_load_seq_cst(&is_retired) || !is_created()))
        return;
    hw_atomic_store_seq_cst(&is_listened, wants_listening);
    hw_overlap_interfere(hw_atomic_load_seq_cst(&is_paused), wants_listening);
    take_up();
}

static void serve_exposure(void)
{
    if ((hw_awaited_is() || hw_helped_is_own_asked()) && !hw_atomic_load_relaxed(&is_retired) && is_created())
        hw_wake(HW_SLEEP_PARKED); /* the thread finds out whether there are sockets to watch */
}

void hw_thread_exposed(int change)
{
    hw_atomic_store_relaxed(&arithmetic, hw_arithmetic_get());
    int count = hw_atomic_add_seq_cst(&exposure_count, change) + change;
    hw_awaited_expose(count > 0);
    if (count == 0)
        hw_series_freed();
    if (change > 0)
        serve_exposure();
}

void hw_thread_deferred(void)
{
    hw_atomic_store_relaxed(&arithmetic, hw_arithmetic_get());
    if (!hw_atomic_load_relaxed(&is_retired) && !hw_atomic_load_seq_cst(&is_paused) && is_created())
        hw_wake(HW_SLEEP_PARKED);
}

void hw_thread_passed(void)
{
    if (hw_awaited_pass() || hw_helped_is_own_asked())
        serve_exposure();
}

enum hw_status hw_thread_start(bool has_world)
{
    if (has_world && hw_poll_open() != HW_OK)
        hw_log_warn("no private communicator to poll on: only operations with a request are progressed");
    hw_waiter_open(&waiter);
    hw_sleep_open();
    if (sched_getaffinity(0, sizeof allowed_cores, &allowed_cores) != 0)
        memset(&allowed_cores, 0xff, sizeof allowed_cores);
    hw_atomic_store_seq_cst(&is_stopping, false);
    hw_atomic_store_seq_cst(&is_retired, false);
    hw_atomic_store_seq_cst(&is_paused, false);
    hw_atomic_store_seq_cst(&is_listened, false);
    hw_overlap_interfere(false, false);
    hw_atomic_store_seq_cst(&life, NOT_CREATED);
    is_open = true;
    return HW_OK;
}

static uint64_t stopped_cpu_ns; /* what the thread had used when it was stopped */

static uint64_t cpu_ns(void)
{
    clockid_t clock;
    bool is_running = hw_atomic_load_seq_cst(&life) == RUNNING;
    return is_running && pthread_getcpuclockid(thread, &clock) == 0 ? hw_clock_read(clock) : stopped_cpu_ns;
}

static void ask_to_stop(void)
{
    stopped_cpu_ns = cpu_ns();
    hw_atomic_store_seq_cst(&life, NOT_CREATED);
    hw_atomic_store_seq_cst(&is_stopping, true);
    hw_sleep_end_all();
    hw_triggers_interrupt(&waiter.triggers);
}

void hw_thread_abandon(void)
{
    if (hw_atomic_load_seq_cst(&life) != RUNNING)
        return;
    ask_to_stop();
    struct timespec deadline;
    clock_gettime(CLOCK_REALTIME, &deadline);
    deadline.tv_nsec += EXIT_WAIT_MS * (long)HW_NS_PER_MS;
    deadline.tv_sec += deadline.tv_nsec / (long)HW_NS_PER_S;
    deadline.tv_nsec %= (long)HW_NS_PER_S;
    pthread_timedjoin_np(thread, NULL, &deadline);
}

void hw_thread_stop(void)
{
    if (!is_open)
        return;
    is_open = false;
    if (hw_atomic_load_seq_cst(&life) == RUNNING) {
        ask_to_stop();
        pthread_join(thread, NULL);
    }
    hw_triggers_close(&waiter.triggers);
    hw_sleep_close();
    hw_poll_close();
}

bool hw_thread_is_started(void) { return is_open && hw_atomic_load_relaxed(&life) != FAILED; }

void hw_thread_describe(struct hw_record_facts *facts)
{
    const char *otherwise = hw_helped_is_listened() ? "helper" : "tick";
    facts->trigger = hw_atomic_load_relaxed(&told_by) == HW_TOLD_BY_SOCKETS ? "events" : otherwise;
    facts->trigger_why = hw_atomic_load_relaxed(&waiter.why);
    facts->priority = hw_priority_is_real_time() ? "rt" : "normal";
    facts->thread_cpu_ns = cpu_ns();
}
