/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile/recorder.h"

#include "base/agent.h"
#include "base/atomic.h"
#include "base/clock.h"
#include "base/options.h"
#include "profile/fatal_signals.h"
#include "profile/record/lock.h"

#include <errno.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#define FIRST_NS (100 * HW_NS_PER_MS)
/* A file system that many processes share makes some hundred files a second with ease. */
#define EACH_PROCESS_NS (20 * HW_NS_PER_MS)
/* Writing takes no more than this part of the time. */
enum { SHARE_PARTS = 100 };
enum { STACK_BYTES = 256 << 10, PATIENCE_MS = 5000 };

/* The ending that is asked for, and its code beside it. */
enum { NOTHING_ASKED = -1 };
static atomic_int_fast64_t asked = NOTHING_ASKED;

static sem_t wake; /* posted for each end and for the stop */
static atomic_bool is_running, is_stopping, is_done;
static atomic_bool is_flush_asked; /* and has not begun: one stands for all until then */
static atomic_int owner_pid, own_tid;
static pthread_t thread;
static void (*describe_facts)(struct hw_record_facts *facts);

/* True if there was a word from anybody before the time had passed. */
static bool sleep_for(uint64_t ns)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    uint64_t later_ns = (uint64_t)until.tv_nsec + ns;
    until.tv_sec += (time_t)(later_ns / HW_NS_PER_S);
    until.tv_nsec = (long)(later_ns % HW_NS_PER_S);
    int rc = -1;
    while ((rc = sem_timedwait(&wake, &until)) != 0 && errno == EINTR) {
    }
    return rc == 0;
}

static void write_now(enum hw_record_ending ending, int code)
{
    struct hw_record_facts facts;
    describe_facts(&facts);
    hw_record_write(&facts, ending, code);
}

static uint64_t longest_ns(int size)
{
    uint64_t asked_ns = (uint64_t)hw_options.checkpoint * HW_NS_PER_S;
    uint64_t least_ns = size > 0 ? (uint64_t)size * EACH_PROCESS_NS : 0;
    return asked_ns > least_ns ? asked_ns : least_ns;
}

/* Processes of a large job take turns. */
static uint64_t first_ns(const struct hw_record_facts *facts)
{
    return FIRST_NS + (facts->rank > 0 ? (uint64_t)facts->rank * EACH_PROCESS_NS : 0);
}

static uint64_t next_ns(uint64_t last_ns, uint64_t took_ns, uint64_t most_ns)
{
    uint64_t next = 2 * last_ns < most_ns ? 2 * last_ns : most_ns;
    return next > SHARE_PARTS * took_ns ? next : SHARE_PARTS * took_ns;
}

static void write_last(void)
{
    int64_t what = hw_atomic_load_seq_cst(&asked);
    if (what == NOTHING_ASKED || hw_atomic_load_seq_cst(&is_done))
        return;
    hw_profile_lock_is_ending();
    write_now((enum hw_record_ending)(what & 0xFF), (int)(what >> 8));
    hw_atomic_store_seq_cst(&is_done, true);
}

static void *run(void *unused)
{
    struct hw_record_facts facts;
    (void)unused;
    hw_agent_open_memory();
    hw_atomic_store_seq_cst(&own_tid, (int)syscall(SYS_gettid));
    describe_facts(&facts);
    uint64_t most_ns = longest_ns(facts.size), wait_ns = first_ns(&facts);
    wait_ns = wait_ns < most_ns ? wait_ns : most_ns;
    while (!hw_atomic_load_seq_cst(&is_stopping)) {
        bool is_woken = sleep_for(wait_ns);
        if (hw_atomic_load_seq_cst(&is_stopping))
            break;
        if (is_woken && hw_atomic_load_seq_cst(&asked) != NOTHING_ASKED) {
            write_last();
        } else if (is_woken) {
            hw_atomic_store_seq_cst(&is_flush_asked, false);
            write_now(HW_RECORD_CHECKPOINT, 0);
        } else if (!hw_atomic_load_seq_cst(&is_done)) {
            uint64_t began_ns = hw_clock_now_ns();
            write_now(HW_RECORD_CHECKPOINT, 0);
            wait_ns = next_ns(wait_ns, hw_clock_now_ns() - began_ns, most_ns);
        }
    }
    return NULL;
}

/* A child after fork has the variables, and not the thread. */
static bool is_here(void)
{
    return hw_atomic_load_seq_cst(&is_running) && hw_atomic_load_seq_cst(&owner_pid) == (int)getpid();
}

static void at_exit(void) { hw_recorder_end(HW_RECORD_EXITED, 0); }

static void on_signal(int number) { hw_recorder_end(HW_RECORD_SIGNAL, number); }

void hw_recorder_start(void (*describe)(struct hw_record_facts *facts), bool (*is_mpis)(const char *path))
{
    static bool has_handler;
    if (is_here() || hw_options.checkpoint == 0 || !hw_record_is_wanted() || sem_init(&wake, 0, 0) != 0)
        return;
    describe_facts = describe;
    hw_atomic_store_seq_cst(&is_stopping, false);
    hw_atomic_store_seq_cst(&is_done, false);
    hw_atomic_store_seq_cst(&is_flush_asked, false);
    hw_atomic_store_seq_cst(&asked, NOTHING_ASKED);
    if (hw_agent_create(&thread, run, STACK_BYTES, NULL) != 0)
        return;
    hw_atomic_store_seq_cst(&owner_pid, (int)getpid());
    hw_atomic_store_seq_cst(&is_running, true);
    if (!has_handler)
        has_handler = atexit(at_exit) == 0;
    hw_fatal_signals_watch(on_signal, is_mpis);
}

void hw_recorder_stop(void)
{
    if (!is_here())
        return;
    hw_fatal_signals_leave();
    hw_atomic_store_seq_cst(&is_running, false);
    hw_atomic_store_seq_cst(&is_stopping, true);
    sem_post(&wake);
    pthread_join(thread, NULL);
    sem_destroy(&wake);
}

void hw_recorder_flush(void)
{
    if (is_here() && !hw_atomic_load_seq_cst(&is_flush_asked) &&
        !hw_atomic_exchange_seq_cst(&is_flush_asked, true))
        sem_post(&wake);
}

void hw_recorder_end(enum hw_record_ending ending, int code)
{
    const struct timespec pause = {.tv_nsec = (long)HW_NS_PER_MS};
    if (!is_here() || (int)syscall(SYS_gettid) == hw_atomic_load_seq_cst(&own_tid))
        return;
    int_fast64_t nothing = NOTHING_ASKED, what = (int_fast64_t)((uint64_t)(int64_t)code << 8 | ending);
    if (hw_atomic_compare_exchange_seq_cst(&asked, &nothing, what))
        sem_post(&wake);
    for (int i = 0; i < PATIENCE_MS && !hw_atomic_load_seq_cst(&is_done); i++)
        nanosleep(&pause, NULL);
}
