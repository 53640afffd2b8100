/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: teams of real OpenMP threads: between parallel regions, within `single`, and beside threads
 * that compute; no task of the program runs inside the caller's job. tests/test_team.py runs it with LLVM's
 * runtime too. */
#include "base/atomic.h"
#include "base/clock.h"
#include "profile/record/counters.h"
#include "team/openmp.h"
#include "team/team.h"

#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { THREADS = 3, PIECES = 40 };
#define PATIENCE_NS (20 * HW_NS_PER_S)

struct job {
    pthread_t caller;
    bool has_to_share; /* the caller's first piece waits until another thread has one */
    atomic_int times[PIECES], others;
};

static void work(void *context, uint32_t piece)
{
    struct job *job = context;
    hw_atomic_add_seq_cst(&job->times[piece], 1);
    if (!pthread_equal(pthread_self(), job->caller))
        hw_atomic_add_seq_cst(&job->others, 1);
    uint64_t until_ns = hw_clock_now_ns() + PATIENCE_NS;
    while (job->has_to_share && hw_atomic_load_seq_cst(&job->others) == 0 && hw_clock_now_ns() < until_ns)
        sched_yield();
}

static void run(struct job *job, bool has_to_share)
{
    memset(job, 0, sizeof *job);
    job->caller = pthread_self();
    job->has_to_share = has_to_share;
    hw_team_run(&(struct hw_team_task){work, job, PIECES});
    for (int i = 0; i < PIECES; i++)
        assert_int_equal(job->times[i], 1);
}

static void compute(uint64_t ns)
{
    uint64_t until_ns = hw_clock_thread_cpu_ns() + ns;
    while (hw_clock_thread_cpu_ns() < until_ns)
        ;
}

/* First of all: no thread has computed yet. */
static void test_no_thread_is_made(void **state)
{
    (void)state;
    assert_non_null(hw_openmp_find());
    compute(1 * HW_NS_PER_MS);
    struct job job;
    for (int i = 0; i < 100; i++)
        run(&job, false);
    assert_int_equal(hw_atomic_load_relaxed(&hw_counters.team_jobs), 0);
}

static void test_single(void **state)
{
    (void)state;
    struct job job;
#pragma omp parallel num_threads(THREADS)
    {
#pragma omp single
        run(&job, true);
    }
    assert_in_range(job.others, 1, PIECES);
    assert_in_range(hw_atomic_load_relaxed(&hw_counters.team_pieces), 1, PIECES);
}

static _Thread_local bool is_in_job;

static void test_tasks_of_the_program(void **state)
{
    (void)state;
    enum { TASKS = 200 };
    struct job job;
    atomic_int run_inside = 0, run_all = 0;
#pragma omp parallel num_threads(THREADS)
    {
#pragma omp single
        for (int round = 0; round < 20; round++) {
            for (int i = 0; i < TASKS; i++) {
#pragma omp task shared(run_inside, run_all)
                {
                    hw_atomic_add_seq_cst(&run_inside, is_in_job);
                    hw_atomic_add_seq_cst(&run_all, 1);
                }
            }
            is_in_job = true;
            run(&job, false);
            is_in_job = false;
        }
    }
    assert_int_equal(run_inside, 0);
    assert_int_equal(run_all, 20 * TASKS);
}

static void test_master_beside_computing(void **state)
{
    (void)state;
    struct job job;
    atomic_int is_over = 0;
    int others = -1;
#pragma omp parallel num_threads(THREADS)
    {
        if (omp_get_thread_num() == 0) {
            while (hw_team_place() == HW_IDLE_NOWHERE)
                sched_yield();
            run(&job, false);
            others = hw_atomic_load_seq_cst(&job.others);
            hw_atomic_store_seq_cst(&is_over, 1);
        } else {
            while (!hw_atomic_load_seq_cst(&is_over))
                sched_yield();
        }
    } /* here they take the tasks, and find nothing to do */
    assert_int_equal(others, 0);
}

static void test_one_thread(void **state)
{
    (void)state;
    struct job job;
#pragma omp parallel num_threads(1)
    {
        assert_int_equal(hw_team_place(), HW_IDLE_NOWHERE);
        run(&job, false);
    }
    assert_int_equal(job.others, 0);
}

/* Where the machine has more to do than processors, nobody is asked between regions: then this shows nothing.
 */
static void test_between_regions(void **state)
{
    (void)state;
    struct job job;
    enum { FEW = 2 }; /* threads that wait for the next region spin, and count */
    omp_set_num_threads(FEW);
    uint64_t until_ns = hw_clock_now_ns() + PATIENCE_NS / 10;
    do {
#pragma omp parallel num_threads(FEW)
        compute(10 * HW_NS_PER_MS);
        for (int i = 0; i < 20; i++)
            run(&job, false);
        if (job.others > 0)
            return;
    } while (hw_clock_now_ns() < until_ns);
    print_message("too many threads want to run here: no region was shared\n");
    skip();
}

static int kept;
#pragma omp threadprivate(kept)

/* The program's regions may have more threads than a region of ours would ask for. */
static void test_threadprivate_stays(void **state)
{
    (void)state;
    struct job job;
    int lost = 0;
    omp_set_num_threads(THREADS - 1);
#pragma omp parallel num_threads(THREADS)
    {
        compute(10 * HW_NS_PER_MS);
        kept = 1 + omp_get_thread_num();
    }
    for (int i = 0; i < 20; i++)
        run(&job, false);
#pragma omp parallel num_threads(THREADS) reduction(+ : lost)
    lost += kept != 1 + omp_get_thread_num();
    assert_int_equal(lost, 0);
}

int main(void)
{
    hw_team_begin(0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_thread_is_made),    cmocka_unit_test(test_single),
        cmocka_unit_test(test_tasks_of_the_program), cmocka_unit_test(test_master_beside_computing),
        cmocka_unit_test(test_one_thread),           cmocka_unit_test(test_between_regions),
        cmocka_unit_test(test_threadprivate_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
