/* SPDX-License-Identifier: BSD-3-Clause */
/* The progress thread (papers/001): asleep until something is pending that needs software progress, asleep
 * while the program itself is inside MPI, asleep again when there is nothing to progress. No core is set
 * aside. Here are its life, and what the program's calls tell it; what it does is in turns.c. */
#include "engines/thread/thread.h"
#include "base/agent.h"
#include "base/atomic.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/options.h"
#include "engines/engine.h"
#include "engines/thread/awaited.h"
#include "engines/thread/need.h"
#include "engines/thread/order.h"
#include "engines/thread/overlap.h"
#include "engines/thread/priority.h"
#include "engines/thread/series.h"
#include "engines/thread/settle.h"
#include "engines/thread/sleep.h"
#include "engines/thread/turns.h"
#include "engines/thread/wake.h"
#include "profile/record/counters.h"
#include "progress/helped.h"
#include "progress/poll.h"
#include "progress/postponed.h"
#include "real/device_memory.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum {
    STACK_BYTES = 512 * 1024, /* address space; touched pages only are memory */
    EXIT_WAIT_MS = 200,
};

static pthread_t thread;
static cpu_set_t allowed_cores; /* where the thread may run: what the process had in MPI_Init* */
static bool is_open;
static pthread_mutex_t creation_lock = PTHREAD_MUTEX_INITIALIZER;
enum { NOT_CREATED, RUNNING, FAILED };
static _Atomic int life; /* of the thread; written under creation_lock, or when no hook can run */

static void give_up(int error)
{
    static char reason[96];
    snprintf(reason, sizeof reason, "the system makes no thread for progress: %s", strerror(error));
    hw_log_warn("%s; going on without", reason);
    hw_engines_retire(reason);
}

/* What a turn moves may be a device's, and its context is the program's thread's. */
static bool is_device_met(void)
{
    if (hw_options.engine == HW_OPTION_ENGINE_THREAD || !hw_real_has_device_context())
        return false;
    hw_engines_retire("the program computes on a device, whose memory another thread may not reach; "
                      "HEADWAY_ENGINE=thread forces the progress thread");
    return true;
}

/* The thread is made when there is first something to do: a second thread costs every malloc of the process
 * its short cut for one. Returns true if it runs. */
static bool is_created(void)
{
    if (__builtin_expect(hw_atomic_load_acquire(&life) != NOT_CREATED, 1))
        return hw_atomic_load_relaxed(&life) == RUNNING;
    if (is_device_met())
        return false;
    int error = 0;
    pthread_mutex_lock(&creation_lock);
    if (hw_atomic_load_seq_cst(&life) == NOT_CREATED) {
        /* The creator may have been bound to one core meanwhile. */
        error = hw_agent_create(&thread, hw_turns_run, STACK_BYTES, &allowed_cores);
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
    uint64_t wait_ns = hw_need_waiting_ns(false);
    if (wait_ns > 0)
        hw_wake_arm_in(wait_ns);
}

/* A long post is no moment to come: it may move the data itself. hw_thread_posted follows. */
void hw_thread_posts(void)
{
    hw_overlap_posts();
    if (!hw_overlap_expects_wait())
        hw_sleep_disarm();
    else if (!hw_need_is_paused() && !hw_need_is_retired())
        hw_wake_arm(); /* where it cannot, hw_thread_posted wakes it */
}

/* The wake-up that hw_thread_posts took back is due. */
void hw_thread_unposted(void)
{
    hw_overlap_unposted();
    if (hw_overlap_is_on() && !hw_need_is_paused() && !hw_sleep_is_awake())
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
    if (hw_need_is_retired() || !is_created() || (!hw_overlap_is_open() && is_device_met()))
        return;
    hw_turns_take_arithmetic();
    enum hw_policy_post post = hw_overlap_posted(kind, bytes, is_receive, &is_new);
    bool is_paused_now = hw_need_is_paused();
    hw_order_posted(
        &(struct hw_order_post){.kind = kind,
                                .is_receive = is_receive,
                                .is_for_thread = post != HW_POLICY_POST_OFF && !is_paused_now &&
                                                 hw_atomic_load_relaxed(&hw_request_callbacks) == 0 &&
                                                 hw_need_told_by() == HW_TOLD_BY_SOCKETS});
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
        hw_turns_begin_anew();
}

void hw_thread_sent(uint64_t bytes, uint64_t began_ns)
{
    if (hw_overlap_sent(bytes, began_ns) && !hw_need_is_paused() && !hw_sleep_is_awake())
        hw_wake_soon(HW_SLEEP_NAPPING);
}

/* Nothing is computed until the program has what it waits for, so the thread need not come. If something is
 * still pending then, hw_thread_returned wakes it.
 * Where windows wait at once the alarm of the first post stays: on Intel MPI directions come to take turns
 * where more than some 3 us pass between the last post and the wait. */
void hw_thread_waits(unsigned looked)
{
    if (hw_atomic_load_relaxed(&hw_request_pending) > looked)
        return;
    hw_need_wait(true);
    if (!hw_overlap_expects_wait() && hw_sleep_disarm())
        HW_COUNT(wakes_spared);
}

void hw_thread_returned(uint64_t blocked_ns, int still_pending)
{
    hw_turns_give_exceptions();
    hw_need_wait(false);
    HW_COUNT(doors);
    HW_COUNT_ADD(blocked_ns, blocked_ns);
    hw_overlap_returned(blocked_ns);
    hw_order_returned();
    bool is_pending =
        still_pending || (hw_overlap_is_continued() && hw_atomic_load_relaxed(&hw_request_pending));
    if (is_pending && hw_overlap_is_on() && !hw_need_is_paused())
        hw_wake(HW_SLEEP_PARKED); /* one that naps looks again: tests in a loop must not pay each time */
    else if (is_pending)
        limit_waiting();
}

void hw_thread_retire(void)
{
    hw_need_retire();
    hw_postponed_stop();
}

/* The program changed its mind about what the thread may do; outside MPI, so nothing has to be hidden. */
static void take_up(void)
{
    enum hw_sleep found;
    if (hw_need_has_work() && hw_sleep_take(HW_SLEEP_NAPPING, &found))
        hw_sleep_end(found);
}

void hw_thread_pause(bool wants_pause)
{
    hw_need_pause(wants_pause);
    hw_overlap_interfere(wants_pause, hw_need_is_listened());
    while (wants_pause && hw_turns_is_polling())
        sched_yield();
    if (!wants_pause)
        take_up();
}

void hw_thread_listen(bool wants_listening)
{
    if (wants_listening && (!is_open || hw_need_is_retired() || !is_created()))
        return;
    hw_need_listen(wants_listening);
    hw_overlap_interfere(hw_need_is_paused(), wants_listening);
    take_up();
}

static void serve_exposure(void)
{
    if ((hw_awaited_is() || hw_helped_is_own_asked()) && !hw_need_is_retired() && is_created())
        hw_wake(HW_SLEEP_PARKED); /* the thread finds out whether there are sockets to watch */
}

void hw_thread_exposed(int change)
{
    hw_turns_take_arithmetic();
    int count = hw_need_expose(change);
    hw_awaited_expose(count > 0);
    if (count == 0)
        hw_series_freed();
    if (change > 0)
        serve_exposure();
}

void hw_thread_deferred(void)
{
    hw_turns_take_arithmetic();
    if (!hw_need_is_retired() && !hw_need_is_paused() && is_created())
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
    hw_need_open();
    hw_turns_open();
    if (sched_getaffinity(0, sizeof allowed_cores, &allowed_cores) != 0)
        memset(&allowed_cores, 0xff, sizeof allowed_cores);
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
    hw_turns_end();
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
    hw_turns_close();
    hw_poll_close();
}

bool hw_thread_is_started(void) { return is_open && hw_atomic_load_relaxed(&life) != FAILED; }

void hw_thread_describe(struct hw_record_facts *facts)
{
    const char *otherwise = hw_helped_is_listened() ? "helper" : "tick";
    facts->trigger = hw_need_told_by() == HW_TOLD_BY_SOCKETS ? "events" : otherwise;
    facts->trigger_why = hw_turns_why();
    facts->priority = hw_priority_is_real_time() ? "rt" : "normal";
    facts->thread_cpu_ns = cpu_ns();
}
