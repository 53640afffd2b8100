/* SPDX-License-Identifier: BSD-3-Clause */
#include "team/team.h"

#include "base/atomic.h"
#include "base/clock.h"
#include "profile/record/counters.h"
#include "shm/futex.h"
#include "team/idle.h"
#include "team/openmp.h"

#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <stdlib.h>

#define SPIN_NS (50 * HW_NS_PER_US)

/* Its memory lives until the last task that may look at it has run: one that comes late finds no piece. */
struct hw_team_job {
    struct hw_team_task task;
    pthread_t caller;
    uint32_t by_caller;        /* pieces; the caller's alone, as `left_ns` */
    uint64_t left_ns;          /* when the caller found no piece any more */
    atomic_uint holders;       /* its first store publishes the rest to those that come */
    atomic_uint members;       /* other threads that have come */
    _Atomic uint32_t next;     /* the first piece that nobody has claimed */
    _Atomic uint32_t finished; /* claimed pieces that are done; its release publishes their bytes */
    atomic_bool is_awaited;    /* somebody may sleep on `finished` */
};

static atomic_uint limit; /* 0: none; relaxed: a task that is late may still read it */

void hw_team_begin(unsigned most_threads)
{
    hw_atomic_store_relaxed(&limit, most_threads);
    hw_idle_begin();
}

static void release(struct hw_team_job *job)
{
    if (hw_atomic_sub_acq_rel(&job->holders, 1) == 1)
        free(job);
}

/* Claims pieces until there are none. */
static void take_pieces(struct hw_team_job *job)
{
    (void)hw_atomic_load_acquire(&job->holders);
    uint32_t piece, taken = 0, pieces = job->task.pieces;
    bool is_caller = pthread_equal(pthread_self(), job->caller); /* who may be made to run tasks at once */
    unsigned most = hw_atomic_load_relaxed(&limit);
    if (!is_caller && most != 0 && hw_atomic_add_release(&job->members, 1) >= most - 1)
        return;
    while ((piece = hw_atomic_add_release(&job->next, 1)) < pieces) {
        job->task.work(job->task.context, piece);
        if (hw_atomic_add_seq_cst(&job->finished, 1) + 1 == pieces &&
            hw_atomic_load_seq_cst(&job->is_awaited))
            hw_futex_wake(&job->finished, 1);
        taken++;
    }
    if (is_caller) {
        job->by_caller += taken;
        job->left_ns = hw_clock_now_ns();
    }
}

static void run_task(void *data)
{
    struct hw_team_job *job;
    __builtin_memcpy(&job, data, sizeof(void *));
    take_pieces(job);
    release(job);
}

static struct hw_team_job *make(const struct hw_team_task *task)
{
    struct hw_team_job *job = calloc(1, sizeof *job);
    if (job) {
        job->task = *task;
        job->caller = pthread_self();
        hw_atomic_store_release(&job->holders, 1);
    }
    return job;
}

static void run_alone(const struct hw_team_task *task)
{
    for (uint32_t piece = 0; piece < task->pieces; piece++)
        task->work(task->context, piece);
}

static void run_region(void *job) { take_pieces(job); }

/* All that came are through when it returns. */
static void run_with_region(const struct hw_openmp *openmp, struct hw_team_job *job)
{
    uint64_t threads = hw_idle_count_threads();
    openmp->parallel(run_region, job, 0, 0);
    (void)hw_atomic_load_acquire(&job->members), (void)hw_atomic_load_acquire(&job->next); /* all have left */
    hw_idle_waited(HW_IDLE_REGION, hw_clock_now_ns() - job->left_ns);
    if (hw_idle_count_threads() != threads)
        hw_idle_give_up(HW_IDLE_REGION);
}

static void run_with_tasks(const struct hw_openmp *openmp, struct hw_team_job *job)
{
    unsigned others = (unsigned)openmp->get_num_threads() - 1, most = hw_atomic_load_relaxed(&limit);
    if (most != 0 && others > most - 1)
        others = most - 1;
    if (others > job->task.pieces - 1)
        others = job->task.pieces - 1;
    hw_atomic_add_relaxed(&job->holders, others);
    for (unsigned i = 0; i < others; i++)
        openmp->task(run_task, &job, NULL, sizeof(void *), _Alignof(void *), true, 0, NULL, 0, NULL);
    take_pieces(job);
}

static bool is_finished(struct hw_team_job *job)
{
    return hw_atomic_load_acquire(&job->finished) == job->task.pieces;
}

static bool spin(struct hw_team_job *job)
{
    uint64_t until_ns = hw_clock_now_ns() + SPIN_NS;
    while (!is_finished(job)) {
        if (hw_clock_now_ns() >= until_ns)
            return false;
        sched_yield(); /* whoever is late may wait for this core */
    }
    return true;
}

static void wait_for_all(struct hw_team_job *job)
{
    if (spin(job))
        return;
    hw_atomic_store_seq_cst(&job->is_awaited, true);
    for (;;) {
        uint32_t finished = hw_atomic_load_seq_cst(&job->finished);
        if (finished == job->task.pieces)
            return;
        hw_futex_wait(&job->finished, finished, HW_NS_PER_MS);
    }
}

static void share(const struct hw_openmp *openmp, enum hw_idle_place place, struct hw_team_job *job)
{
    if (place == HW_IDLE_REGION)
        run_with_region(openmp, job);
    else
        run_with_tasks(openmp, job);
    uint32_t by_others = job->task.pieces - job->by_caller;
    HW_COUNT(team_jobs);
    HW_COUNT_ADD(team_pieces, by_others);
    hw_idle_learn(place, by_others);
    if (!is_finished(job)) { /* after a region all is */
        uint64_t began_ns = hw_clock_now_ns();
        wait_for_all(job);
        hw_idle_waited(place, hw_clock_now_ns() - began_ns);
    }
}

enum hw_idle_place hw_team_place(void)
{
    return hw_atomic_load_relaxed(&limit) != 1 ? hw_idle_place(hw_openmp_find()) : HW_IDLE_NOWHERE;
}

void hw_team_run(const struct hw_team_task *task)
{
    enum hw_idle_place place = task->pieces > 1 ? hw_team_place() : HW_IDLE_NOWHERE;
    bool is_crowded = place == HW_IDLE_REGION && hw_idle_is_crowded();
    struct hw_team_job *job = place != HW_IDLE_NOWHERE && !is_crowded ? make(task) : NULL;
    if (job == NULL) {
        run_alone(task);
        return;
    }
    share(hw_openmp_find(), place, job);
    release(job);
}
