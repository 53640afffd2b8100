/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile/waits/wire_watch.h"

#include "base/agent.h"
#include "base/clock.h"
#include "profile/record/lock.h"

#include <semaphore.h>
#include <time.h>
#include <unistd.h>

/* No more than one part in so many of the time goes into looks. */
enum { COST_PARTS = 400 };
/* What a look costs the program besides itself: the thread takes its core and gives it back. */
#define SWITCH_NS (10 * HW_NS_PER_US)
/* The first look comes so soon, and later ones after this part of the wait so far: some thirty in a wait of
 * 20 ms, whatever it is a wait for. */
#define LEAST_NAP_NS (200 * HW_NS_PER_US)
enum { NAP_PARTS = 8, MAX_LOOK_COUNT = 64, STACK_BYTES = 64 * 1024 };
/* The kernel hands over up to 64 KiB at once: two directions that move at once take turns of that size too.
 */
#define RUN_BYTES (UINT64_C(160) * 1024)
/* Of a run, the other direction moves no more than one part in so many: acknowledgements, small messages. */
enum { OTHER_PARTS = 8 };

static bool (*read_wire)(struct hw_profile_wire *wire, bool is_first);
static uint64_t run_began_ns, cost_ns;

/* The lock's. */
static struct {
    bool is_on;
    int count;
    struct hw_watch_look looks[MAX_LOOK_COUNT + 1]; /* the first and the last are the program's */
} watch;

static enum { NOT_CREATED, RUNNING, REFUSED } life;
static pid_t creator;
static sem_t is_wanted;

static uint64_t more(uint64_t from, uint64_t to) { return (int64_t)(to - from) > 0 ? to - from : 0; }

struct hw_profile_wire hw_wire_moved(const struct hw_profile_wire *from, const struct hw_profile_wire *to)
{
    return (struct hw_profile_wire){
        .sent_bytes = more(from->sent_bytes, to->sent_bytes),
        .received_bytes = more(from->received_bytes, to->received_bytes),
    };
}

uint64_t hw_wire_busier(const struct hw_profile_wire *moved)
{
    return moved->sent_bytes > moved->received_bytes ? moved->sent_bytes : moved->received_bytes;
}

uint64_t hw_wire_lesser(const struct hw_profile_wire *moved)
{
    return moved->sent_bytes < moved->received_bytes ? moved->sent_bytes : moved->received_bytes;
}

/* From one look to another only one direction moved. */
struct run {
    int from, end;
    bool is_sending;
};

static bool is_sending(const struct hw_profile_wire *moved)
{
    return moved->sent_bytes > moved->received_bytes;
}

/* The first run that starts at `from` or later; false: there is none. */
static bool find_run(const struct hw_watch_look *looks, int count, int from, struct run *run)
{
    for (; from < count - 1; from++) {
        *run = (struct run){.from = from, .end = from};
        for (int i = from + 1; i < count; i++) {
            struct hw_profile_wire moved = hw_wire_moved(&looks[from].wire, &looks[i].wire);
            if (hw_wire_lesser(&moved) > hw_wire_busier(&moved) / OTHER_PARTS)
                break;
            struct hw_profile_wire last = hw_wire_moved(&looks[i - 1].wire, &looks[i].wire);
            bool goes_on = is_sending(&last) == is_sending(&moved) && hw_wire_busier(&last);
            if (hw_wire_busier(&moved) < RUN_BYTES || !goes_on)
                continue;
            run->end = i;
            run->is_sending = is_sending(&moved);
        }
        if (run->end > run->from)
            return true;
    }
    return false;
}

static uint64_t until_ns(const struct hw_watch_look *look)
{
    return look->done_ns > look->at_ns ? look->done_ns : look->at_ns;
}

struct hw_watch_seen hw_watch_judge(const struct hw_watch_look *looks, int count)
{
    struct hw_watch_seen seen = {.is_known = count > 2};
    struct hw_profile_wire alone = {0};
    struct run run, last = {.end = count};
    for (int from = 0; find_run(looks, count, from, &run); from = run.end, last = run) {
        struct hw_profile_wire moved = hw_wire_moved(&looks[run.from].wire, &looks[run.end].wire);
        uint64_t run_ns = until_ns(&looks[run.end]) - looks[run.from].at_ns;
        if (run_ns > seen.run_ns) {
            seen.run_ns = run_ns;
            seen.bytes = hw_wire_busier(&moved);
        }
        *(run.is_sending ? &alone.sent_bytes : &alone.received_bytes) += hw_wire_busier(&moved);
        if (run.from != last.end + 1 || run.is_sending == last.is_sending)
            continue;
        /* The turn lies between two looks: before it moved what moved before, after it the other. */
        struct hw_profile_wire turn = hw_wire_moved(&looks[last.end].wire, &looks[run.from].wire);
        alone.sent_bytes += turn.sent_bytes;
        alone.received_bytes += turn.received_bytes;
    }
    seen.alone = hw_wire_lesser(&alone);
    return seen;
}

void hw_watch_prepare(bool (*read)(struct hw_profile_wire *wire, bool is_first), uint64_t began_ns)
{
    read_wire = read;
    run_began_ns = began_ns;
}

/* A look that was made from then until now. */
static void keep(const struct hw_profile_wire *wire, uint64_t at_ns)
{
    watch.looks[watch.count++] =
        (struct hw_watch_look){.at_ns = at_ns, .wire = *wire, .done_ns = hw_clock_fast_ns()};
}

/* One look of the thread. Returns when the next is due, from now; 0: the wait is over, or long enough. */
static uint64_t look(void)
{
    uint64_t nap_ns = 0;
    hw_profile_lock();
    uint64_t cpu_ns = hw_clock_thread_cpu_ns(), before_ns = hw_clock_fast_ns();
    struct hw_profile_wire now;
    if (watch.is_on && watch.count < MAX_LOOK_COUNT && read_wire(&now, false)) {
        keep(&now, before_ns);
        nap_ns = (before_ns - watch.looks[0].at_ns) / NAP_PARTS;
        nap_ns = nap_ns > LEAST_NAP_NS ? nap_ns : LEAST_NAP_NS;
    }
    cost_ns += hw_clock_thread_cpu_ns() - cpu_ns + SWITCH_NS;
    hw_profile_unlock();
    return nap_ns;
}

static void nap(uint64_t nap_ns)
{
    const struct timespec span = {.tv_sec = (time_t)(nap_ns / HW_NS_PER_S),
                                  .tv_nsec = (long)(nap_ns % HW_NS_PER_S)};
    nanosleep(&span, NULL);
}

/* A wait that begins while the thread still naps in the last one is watched from its next look on. */
static void *run(void *unused)
{
    hw_agent_prompt();
    for (;;) {
        while (sem_wait(&is_wanted) != 0)
            ;
        uint64_t nap_ns = LEAST_NAP_NS;
        do
            nap(nap_ns);
        while ((nap_ns = look()) != 0);
    }
    return unused;
}

static void create(void)
{
    pthread_t thread;
    life = REFUSED;
    creator = getpid();
    if (sem_init(&is_wanted, 0, 0) != 0 || hw_agent_create(&thread, run, STACK_BYTES, NULL) != 0)
        return;
    pthread_detach(thread);
    life = RUNNING;
}

void hw_watch_begin(const struct hw_profile_wire *now, uint64_t now_ns)
{
    watch.is_on = false;
    if (!read_wire || cost_ns * COST_PARTS > now_ns - run_began_ns)
        return;
    if (life == NOT_CREATED)
        create();
    if (life != RUNNING || creator != getpid())
        return;
    watch.is_on = true;
    watch.count = 0;
    keep(now, now_ns);
    sem_post(&is_wanted);
}

struct hw_watch_seen hw_watch_end(const struct hw_profile_wire *now, uint64_t now_ns)
{
    if (!watch.is_on)
        return (struct hw_watch_seen){0};
    watch.is_on = false;
    keep(now, now_ns);
    return hw_watch_judge(watch.looks, watch.count);
}
