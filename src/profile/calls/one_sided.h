/* SPDX-License-Identifier: BSD-3-Clause */
/* One-sided communication: for which target a thread waited, since when something was pending there, and what
 * kind of memory it was, on which depends who could serve it. Summed up by call site and target; single waits
 * are moments (moments.h).
 *
 * Operations that have a request of their own (MPI_Rput, ...) are none here: their waits are doors (calls.h).
 * A call costs some two compares and a store; one that took longer than HW_ONE_SIDED_LEAST_NS takes the lock.
 *
 * Any thread may call. Windows and communicators are known by their handle as a number; no MPI is needed. */
#ifndef HW_PROFILE_CALLS_ONE_SIDED_H
#define HW_PROFILE_CALLS_ONE_SIDED_H

#include "base/clock.h"
#include "profile/calls/threads.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#define HW_ONE_SIDED_LEAST_NS (20 * HW_NS_PER_US)

/* What a window was made of (MPI-4.1 section 12.2). */
enum hw_one_sided_memory {
    HW_ONE_SIDED_ALLOCATED,
    HW_ONE_SIDED_SHARED,
    HW_ONE_SIDED_CREATED,
    HW_ONE_SIDED_ON_ALLOCATED, /* MPI_Win_create, but over memory of MPI_Alloc_mem or another window's */
    HW_ONE_SIDED_DYNAMIC,
    HW_ONE_SIDED_MEMORY_COUNT
};

/* What is known of the MPI's own one-sided communication; the same for all windows. */
struct hw_one_sided_mpi {
    bool is_node_direct;          /* within a node it loads and stores, and asks no target */
    bool is_node_accumulate_slow; /* ... but windows of MPI_Win_create only through requests */
    bool is_sound;
};

/* A window was made on this communicator, or is about to be freed; memory likewise. */
struct hw_one_sided_window {
    uint64_t handle, comm;
    enum hw_one_sided_memory memory; /* CREATED also of memory that is allocated: that is found out here */
    const void *base;
    uint64_t size_bytes;
};
void hw_one_sided_made(const struct hw_one_sided_window *window, const struct hw_one_sided_mpi *mpi);
void hw_one_sided_freed(uint64_t handle);
void hw_one_sided_allocated(const void *base, uint64_t size_bytes);
void hw_one_sided_released(const void *base);

/* What a call is about: a rank of the window, or all in which something is pending, which no
 * MPI_PROC_NULL is. */
enum { HW_ONE_SIDED_ALL = INT_MIN };
enum hw_one_sided_kind {
    HW_ONE_SIDED_ISSUES,    /* an operation, pending from now on */
    HW_ONE_SIDED_ASKS,      /* for a lock; nothing of what is pending ends */
    HW_ONE_SIDED_LOCKS,     /* likewise, for an exclusive one */
    HW_ONE_SIDED_COMPLETES, /* what is pending at the target, or everywhere */
    HW_ONE_SIDED_UNLOCKS,   /* likewise, and the lock is given up */
};
struct hw_one_sided_call {
    uint64_t window;
    int target;
    enum hw_one_sided_kind kind;
    const char *function;
    const void *site; /* as hw_callers_find gives it */
    uint64_t bytes, began_ns, ended_ns;
};

/* After hw_thread_note of such a call, by the thread that made it. */
void hw_one_sided_note(struct hw_profile_thread *mine, const struct hw_one_sided_call *call);

/* The thread's block was another's. */
void hw_one_sided_forget_thread(struct hw_profile_thread *mine);

/* For the record; NULL where no window was made. Valid until the next call. */
const struct hw_record_one_sided *hw_one_sided_describe(bool is_last);

#endif
