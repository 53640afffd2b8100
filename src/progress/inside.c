/* SPDX-License-Identifier: BSD-3-Clause */
#include "progress/inside.h"

#include "base/atomic.h"
#include "profile/calls/calls.h"
#include "progress/postponed.h"
#include "progress/wire.h"
#include "real/detect.h"
#include "real/real.h"

#include <pthread.h>
#include <stddef.h>

_Thread_local struct hw_inside hw_inside = {.depth = HW_INSIDE_UNREGISTERED};

_Atomic uint8_t hw_inside_wanted;

bool hw_inside_is_owing;
static void (*what_is_owed)(void);

atomic_int hw_inside_postponed;
static void (*start_postponed)(void);

/* Guards the list below. Taken by a thread at its first MPI call and at its end, and by the progress
 * thread when it looks; never held across an MPI call. */
static pthread_mutex_t registry_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct hw_inside *registry;
/* Threads that called MPI from a destructor, after they had been taken from the list. The C library runs
 * destructors a few rounds only: if there is none left for ours, this count says for good that a mark cannot
 * be known, where the list would go on with memory that is no more. */
static int ending_count;
static int thread_count; /* that have ever called MPI */
static void (*stop_being_only_thread)(void);

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t exit_key;
static bool has_key;
static atomic_bool is_paused; /* the profile */

static void remove_from_list(const struct hw_inside *inside)
{
    for (struct hw_inside **link = &registry; *link != NULL; link = &(*link)->next) {
        if (*link == inside) {
            *link = inside->next;
            break;
        }
    }
}

/* The mark lives in the thread's own memory, which is gone after this. */
static void unregister(void *argument)
{
    struct hw_inside *inside = argument;
    hw_profile_thread_end();
    pthread_mutex_lock(&registry_mutex);
    if (inside->is_ending)
        ending_count--;
    else
        remove_from_list(inside);
    pthread_mutex_unlock(&registry_mutex);
    inside->is_ending = true;
    /* Another destructor of this thread may still call MPI: it registers again. */
    hw_atomic_store_relaxed(&inside->depth, HW_INSIDE_UNREGISTERED);
}

static void before_fork(void)
{
    pthread_mutex_lock(&registry_mutex);
    hw_profile_fork_prepare();
}

static void after_fork_in_parent(void)
{
    hw_profile_fork_release();
    pthread_mutex_unlock(&registry_mutex);
}

/* Only the forking thread lives on in the child. */
static void after_fork_in_child(void)
{
    registry = NULL;
    ending_count = 0;
    hw_inside.is_ending = false;
    hw_inside_is_owing = false; /* that is the parent's to pay */
    hw_postponed_fork_child();
    thread_count = 1;
    if (hw_inside_depth(&hw_inside) <= HW_INSIDE_OWES)
        hw_inside_leave(&hw_inside);
    if (has_key && (hw_atomic_load_seq_cst(&hw_inside.depth) == HW_INSIDE_NO ||
                    pthread_getspecific(exit_key) == &hw_inside)) {
        hw_inside.next = NULL;
        registry = &hw_inside;
    }
    hw_gate_fork_child();
    hw_profile_fork_release();
    pthread_mutex_unlock(&registry_mutex);
}

static void initialise(void)
{
    hw_profile_prepare(hw_wire_read, hw_real_is_language_layer);
    has_key = pthread_key_create(&exit_key, unregister) == 0;
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

/* Returns what is to be called in a thread that is not the only one; NULL: nothing. */
static void (*enter_registry(struct hw_inside *inside))(void)
{
    pthread_mutex_lock(&registry_mutex);
    void (*stop)(void) = ++thread_count > 1 ? stop_being_only_thread : NULL;
    if (inside->is_ending) {
        ending_count++;
    } else if (has_key) {
        inside->next = registry;
        registry = inside;
    }
    pthread_mutex_unlock(&registry_mutex);
    if (has_key)
        pthread_setspecific(exit_key, inside);
    return stop;
}

bool hw_inside_is_only_thread(void (*stop)(void))
{
    pthread_mutex_lock(&registry_mutex);
    bool is_only = thread_count <= 1;
    stop_being_only_thread = is_only ? stop : NULL;
    pthread_mutex_unlock(&registry_mutex);
    return is_only;
}

void hw_inside_owe(void (*pay)(void))
{
    what_is_owed = pay;
    hw_inside_is_owing = true;
}

void hw_inside_pay(void)
{
    if (hw_inside_is_owing)
        what_is_owed();
}

void hw_inside_begin_postponing(void (*start)(void)) { start_postponed = start; }

void hw_inside_start_postponed(void)
{
    if (hw_inside_has_postponed())
        start_postponed();
}

static void pay(struct hw_inside *inside)
{
    hw_inside_enter(inside);
    hw_inside_start_postponed();
    hw_inside_pay();
    hw_inside_is_owing = false;
    hw_inside_leave(inside);
}

bool hw_inside_register(struct hw_inside *inside)
{
    int depth = hw_inside_depth(inside);
    if (depth == HW_INSIDE_POSTPONES || depth == HW_INSIDE_OWES) {
        pay(inside);
        return true;
    }
    if (depth != HW_INSIDE_UNREGISTERED)
        return depth == HW_INSIDE_PROFILED;
    hw_real_load_or_exit();
    pthread_once(&once, initialise);
    void (*stop)(void) = enter_registry(inside);
    if (stop) {
        hw_inside_enter(inside);
        stop();
    }
    bool is_profiled = !hw_atomic_load_relaxed(&is_paused) && hw_profile_thread_begin();
    int outside = is_profiled ? HW_INSIDE_PROFILED : HW_INSIDE_NO;
    hw_atomic_store_relaxed(&inside->depth, outside);
    return true;
}

void hw_inside_pause_profile(bool is_to_pause)
{
    struct hw_inside *inside = &hw_inside;
    if (hw_inside_depth(inside) == HW_INSIDE_UNREGISTERED)
        hw_inside_register(inside);
    hw_atomic_store_relaxed(&is_paused, is_to_pause);
    if (is_to_pause && hw_inside_depth(inside) == HW_INSIDE_PROFILED) {
        hw_profile_pause();
        hw_atomic_store_relaxed(&inside->depth, HW_INSIDE_NO);
    } else if (!is_to_pause && hw_inside_depth(inside) == HW_INSIDE_NO && hw_profile_thread_begin()) {
        hw_profile_resume();
        hw_atomic_store_relaxed(&inside->depth, HW_INSIDE_PROFILED);
    }
}

bool hw_inside_knows_threads(void) { return has_key; }

static bool any_up_to(int deepest)
{
    pthread_mutex_lock(&registry_mutex);
    bool is_inside = ending_count > 0;
    for (const struct hw_inside *inside = registry; inside != NULL && !is_inside; inside = inside->next) {
        int depth = hw_atomic_load_acquire(&inside->depth);
        is_inside = depth >= HW_INSIDE_YES && depth <= deepest;
    }
    pthread_mutex_unlock(&registry_mutex);
    return is_inside;
}

bool hw_inside_any(void) { return any_up_to(HW_INSIDE_WAITS); }

bool hw_inside_any_in_mpi(void) { return any_up_to(HW_INSIDE_YES); }

void hw_inside_mark_own_thread(void) { hw_atomic_store_relaxed(&hw_inside.depth, HW_INSIDE_YES); }
