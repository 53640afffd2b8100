/* SPDX-License-Identifier: BSD-3-Clause */
#include "team/idle.h"

#include "base/agent.h"
#include "base/atomic.h"
#include "base/clock.h"
#include "base/cores.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Jobs that are done alone after one for which nobody came: twice as many each time. */
enum { MAX_PAUSE = 1024, FOR_GOOD = -1 };
/* Or after one whose caller waited so long for a thread that had lost its core. */
#define LATE_NS (1 * HW_NS_PER_MS)
enum { LATE_PAUSE = 256 };

struct state {
    atomic_uint skips; /* jobs until the next that asks */
    atomic_uint pause; /* how many it was the last time */
};
static struct state states[HW_IDLE_PLACES];

/* Whether threads of the program have computed beside its first one: the processor time of all others is a
 * quarter of its own, which no progress thread takes. Once true, it stays. */
static bool has_threads(void)
{
    enum { PARTS = 4, CALLS_PER_LOOK = 16 };
    static atomic_bool is_known;
    static atomic_uint skips;
    if (hw_atomic_load_relaxed(&is_known))
        return true;
    unsigned left = hw_atomic_load_relaxed(&skips);
    if (left > 0) {
        hw_atomic_store_relaxed(&skips, left - 1);
        return false;
    }
    hw_atomic_store_relaxed(&skips, CALLS_PER_LOOK);
    uint64_t own_ns = hw_clock_thread_cpu_ns(), all_ns = hw_clock_read(CLOCK_PROCESS_CPUTIME_ID);
    bool is_found =
        all_ns > own_ns && all_ns - own_ns > own_ns / PARTS && all_ns - own_ns > 10 * HW_NS_PER_MS;
    if (is_found)
        hw_atomic_store_relaxed(&is_known, true);
    return is_found;
}

static bool is_first_thread(void)
{
    static _Thread_local int answer; /* 0: not asked; 1: yes; -1: no */
    if (answer == 0)
        answer = syscall(SYS_gettid) == getpid() ? 1 : -1;
    return answer == 1;
}

uint64_t hw_idle_count_threads(void)
{
    struct stat status;
    return stat("/proc/self/task", &status) == 0 ? (uint64_t)status.st_nlink : 0;
}

static uint64_t not_ours(void) { return hw_idle_count_threads() - hw_agent_count(); }

static uint64_t before_pool; /* threads that are no pool's, unless regions came before MPI_Init* */

void hw_idle_begin(void) { before_pool = not_ours(); }

static bool is_pool_as_asked(const struct hw_openmp *openmp)
{
    return not_ours() - before_pool == (uint64_t)openmp->get_max_threads() - 1;
}

static bool is_paused(enum hw_idle_place place)
{
    unsigned left = hw_atomic_load_relaxed(&states[place].skips);
    if (left > 0 && left != (unsigned)FOR_GOOD)
        hw_atomic_store_relaxed(&states[place].skips, left - 1);
    return left > 0;
}

static enum hw_idle_place find_place(const struct hw_openmp *openmp)
{
    if (openmp->get_level() > 0)
        return openmp->get_num_threads() > 1 ? HW_IDLE_TASKS : HW_IDLE_NOWHERE;
    bool is_possible = is_first_thread() && openmp->get_max_threads() > 1 && has_threads();
    return is_possible ? HW_IDLE_REGION : HW_IDLE_NOWHERE;
}

enum hw_idle_place hw_idle_place(const struct hw_openmp *openmp)
{
    enum hw_idle_place place = openmp ? find_place(openmp) : HW_IDLE_NOWHERE;
    if (place == HW_IDLE_NOWHERE || is_paused(place))
        return HW_IDLE_NOWHERE;
    if (place == HW_IDLE_REGION && !is_pool_as_asked(openmp)) {
        hw_idle_learn(place, 0);
        return HW_IDLE_NOWHERE;
    }
    return place;
}

/* Threads that run or want to, on the whole machine: the fourth field of /proc/loadavg, "running/all". */
static long running_count(void)
{
    char text[128];
    int file = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return 0;
    ssize_t length = read(file, text, sizeof text - 1);
    close(file);
    if (length <= 0)
        return 0;
    text[length] = 0;
    const char *slash = strchr(text, '/');
    while (slash && slash > text && slash[-1] != ' ')
        slash--;
    return slash ? strtol(slash, NULL, 10) : 0;
}

bool hw_idle_is_crowded(void)
{
    const struct hw_openmp *openmp = hw_openmp_find();
    bool is_beyond = openmp && openmp->get_max_threads() > hw_cores_allowed();
    return is_beyond || running_count() > sysconf(_SC_NPROCESSORS_ONLN);
}

static void pause_for(enum hw_idle_place place, unsigned jobs)
{
    if (hw_atomic_load_relaxed(&states[place].skips) == (unsigned)FOR_GOOD)
        return;
    hw_atomic_store_relaxed(&states[place].pause, jobs);
    hw_atomic_store_relaxed(&states[place].skips, jobs);
}

void hw_idle_learn(enum hw_idle_place place, uint32_t pieces)
{
    unsigned last = hw_atomic_load_relaxed(&states[place].pause);
    if (pieces > 0)
        hw_atomic_store_relaxed(&states[place].pause, 0);
    else
        pause_for(place, last < MAX_PAUSE ? 2 * last + 1 : MAX_PAUSE);
}

void hw_idle_waited(enum hw_idle_place place, uint64_t waited_ns)
{
    if (waited_ns >= LATE_NS)
        pause_for(place, LATE_PAUSE);
}

void hw_idle_give_up(enum hw_idle_place place) { pause_for(place, (unsigned)FOR_GOOD); }
