/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: teams, over a made-up OpenMP runtime: every piece is done, whoever comes; a thread that is
 * late in its piece is waited for, or its piece is done twice; where nobody comes the caller asks more
 * seldom. */
#include "base/atomic.h"
#include "base/clock.h"
#include "profile/record/counters.h"
#include "team/openmp.h"
#include "team/split.h"
#include "team/team.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

enum { THREADS = 4, PIECES = 64, JOBS = 200 };

/* ---- the runtime: threads that take tasks, while they are idle
 * ------------------------------------------------ */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t has_tasks = PTHREAD_COND_INITIALIZER;
static struct {
    void (*function)(void *);
    char data[sizeof(void *)];
} tasks[1024];
static int task_count;
static bool is_idle, is_over;
static pthread_t threads[THREADS - 1];

static int get_level(void) { return 1; }
static int get_num_threads(void) { return THREADS; }

static void add_task(void (*function)(void *), void *data, void (*copy)(void *, void *), long bytes,
                     long align, bool is_deferred, unsigned flags, void **depend, int priority, void *detach)
{
    (void)align, (void)flags, (void)depend, (void)priority, (void)detach;
    assert_true(is_deferred && copy == NULL && bytes == sizeof(void *));
    pthread_mutex_lock(&lock);
    assert_true(task_count < (int)(sizeof tasks / sizeof *tasks));
    tasks[task_count].function = function;
    memcpy(tasks[task_count++].data, data, sizeof(void *));
    pthread_cond_broadcast(&has_tasks);
    pthread_mutex_unlock(&lock);
}

static void *idle(void *argument)
{
    (void)argument;
    pthread_mutex_lock(&lock);
    while (!is_over || task_count > 0) {
        if (!is_idle || task_count == 0) {
            pthread_cond_wait(&has_tasks, &lock);
            continue;
        }
        char data[sizeof(void *)];
        void (*function)(void *) = tasks[--task_count].function;
        memcpy(data, tasks[task_count].data, sizeof data);
        pthread_mutex_unlock(&lock);
        function(data);
        pthread_mutex_lock(&lock);
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void set_idle(bool now_idle)
{
    pthread_mutex_lock(&lock);
    is_idle = now_idle;
    pthread_cond_broadcast(&has_tasks);
    pthread_mutex_unlock(&lock);
}

static int begin(void **state)
{
    (void)state;
    static const struct hw_openmp openmp = {
        .get_level = get_level, .get_num_threads = get_num_threads, .task = add_task};
    hw_openmp_replace(&openmp);
    for (int i = 0; i < THREADS - 1; i++)
        pthread_create(&threads[i], NULL, idle, NULL);
    return 0;
}

static int end(void **state)
{
    (void)state;
    pthread_mutex_lock(&lock);
    is_over = is_idle = true;
    pthread_cond_broadcast(&has_tasks);
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < THREADS - 1; i++)
        pthread_join(threads[i], NULL);
    return 0;
}

/* ---- jobs -------------------------------------------------------------------------------------------------
 */

struct job {
    int from[PIECES], to[PIECES];
    pthread_t caller;
    atomic_int others, times;
};

static void copy_piece(void *context, uint32_t piece)
{
    struct job *job = context;
    job->to[piece] = job->from[piece];
    hw_atomic_add_relaxed(&job->times, 1);
    if (!pthread_equal(pthread_self(), job->caller))
        hw_atomic_add_relaxed(&job->others, 1);
    else
        sched_yield(); /* so that others get some */
}

static void fill(struct job *job, int number)
{
    memset(job, 0, sizeof *job);
    job->caller = pthread_self();
    for (int i = 0; i < PIECES; i++)
        job->from[i] = number + i;
}

static void test_every_piece_once(void **state)
{
    (void)state;
    int others = 0;
    set_idle(true);
    for (int number = 1; number <= JOBS || others == 0; number++) {
        struct job job;
        fill(&job, number);
        hw_team_run(&(struct hw_team_task){copy_piece, &job, PIECES});
        assert_memory_equal(job.from, job.to, sizeof job.from);
        assert_int_equal(job.times, PIECES);
        others += job.others;
    }
    assert_int_equal(hw_atomic_load_relaxed(&hw_counters.team_pieces), others);
}

static void test_nobody_comes(void **state)
{
    (void)state;
    set_idle(false);
    uint64_t before = hw_atomic_load_relaxed(&hw_counters.team_jobs);
    for (int number = 1; number <= JOBS; number++) {
        struct job job;
        fill(&job, number);
        hw_team_run(&(struct hw_team_task){copy_piece, &job, PIECES});
        assert_memory_equal(job.from, job.to, sizeof job.from);
        assert_int_equal(job.others, 0);
    }
    uint64_t asked = hw_atomic_load_relaxed(&hw_counters.team_jobs) - before;
    assert_in_range(asked, 1, 10);
    set_idle(true); /* tasks that come late find nothing to do */
}

static sem_t is_in, may_go;

static void block_others(void *context, uint32_t piece)
{
    struct job *job = context;
    if (!pthread_equal(pthread_self(), job->caller)) {
        if (hw_atomic_add_seq_cst(&job->others, 1) == 0)
            sem_post(&is_in);
        sem_wait(&may_go);
        sem_post(&may_go);
    } else if (hw_atomic_load_seq_cst(&job->times) == 0) {
        sem_wait(&is_in); /* one of the others has a piece */
    }
    hw_atomic_add_seq_cst(&job->times, 1);
    __atomic_store_n(&job->to[piece], job->from[piece], __ATOMIC_RELAXED);
}

/* The caller goes on alone for a while after jobs for which nobody came. */
static void wait_until_asked(void)
{
    set_idle(true);
    while (hw_team_place() == HW_IDLE_NOWHERE)
        sched_yield();
}

static void *let_go(void *argument)
{
    struct job *job = argument;
    while (hw_atomic_load_seq_cst(&job->times) + hw_atomic_load_seq_cst(&job->others) < PIECES)
        sched_yield(); /* until the caller has nothing left but to wait */
    sem_post(&may_go);
    return NULL;
}

static void test_late_piece_is_waited_for(void **state)
{
    (void)state;
    struct job job;
    fill(&job, 2);
    sem_init(&is_in, 0, 0);
    sem_init(&may_go, 0, 0);
    wait_until_asked();
    pthread_t thread;
    pthread_create(&thread, NULL, let_go, &job);
    hw_team_run(&(struct hw_team_task){block_others, &job, PIECES});
    assert_memory_equal(job.from, job.to, sizeof job.from);
    assert_int_equal(job.times, PIECES);
    pthread_join(thread, NULL);
}

enum { KIB = 1024, BYTES = 256 * KIB, PACE = 16 * KIB };

struct copy {
    char to[BYTES], from[BYTES];
};

/* Takes its time, so that a copy is worth sharing. */
static void copy_range(void *context, int64_t from, int64_t to)
{
    struct copy *copy = context;
    memcpy(copy->to + from, copy->from + from, (size_t)(to - from));
    struct timespec pause = {.tv_nsec = (to - from) / PACE * 200 * (long)HW_NS_PER_US};
    nanosleep(&pause, NULL);
}

static void test_split(void **state)
{
    (void)state;
    enum { COPIES = 12 };
    static struct copy copy;
    static struct hw_team_split split;
    wait_until_asked();
    uint64_t before = hw_atomic_load_relaxed(&hw_counters.team_jobs);
    for (int number = 1; number <= COPIES; number++) {
        for (int i = 0; i < BYTES; i++)
            copy.from[i] = (char)(i * number >> 3);
        hw_team_split(&split, copy_range, &copy, BYTES - number);
        assert_memory_equal(copy.from, copy.to, BYTES - number);
    }
    assert_true(hw_atomic_load_relaxed(&hw_counters.team_jobs) > before);
}

static void test_limit(void **state)
{
    (void)state;
    hw_team_begin(1);
    set_idle(true);
    assert_int_equal(hw_team_place(), HW_IDLE_NOWHERE);
    struct job job;
    fill(&job, 3);
    hw_team_run(&(struct hw_team_task){copy_piece, &job, PIECES});
    assert_memory_equal(job.from, job.to, sizeof job.from);
    assert_int_equal(job.others, 0);
    hw_team_begin(0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_piece_once),
        cmocka_unit_test(test_nobody_comes),
        cmocka_unit_test(test_late_piece_is_waited_for),
        cmocka_unit_test(test_split),
        cmocka_unit_test(test_limit),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
