/* SPDX-License-Identifier: BSD-3-Clause */
/* The mark of a thread says whether it is inside MPI.
 *
 * Every generated entry marks its thread as inside MPI for the time of the real call. The mark does
 * two things: MPI's calls to itself are recognised (depth is not 0) and passed straight through, and
 * the progress thread sees that the program is inside MPI and stays out of it (papers/001, progress/gate.h).
 *
 * One `struct hw_inside` per thread, written by that thread alone, read by the progress thread. */
#ifndef HW_PROGRESS_INSIDE_H
#define HW_PROGRESS_INSIDE_H

#include "base/atomic.h"
#include "base/visibility.h"
#include "progress/gate.h"

#include <stdbool.h>
#include <stdint.h>

/* PROFILED is NO while profiling is on: a thread outside MPI whose next entry takes the profiled way. So
 * profiling costs nothing where it is off. */
enum {
    HW_INSIDE_POSTPONES = -4, /* outside MPI, and receives are to be started (progress/postponed.h) */
    HW_INSIDE_OWES = -3,      /* outside MPI, and something is to be done before most calls (hw_inside_owe) */
    HW_INSIDE_PROFILED = -2,
    HW_INSIDE_UNREGISTERED = -1,
    HW_INSIDE_NO = 0,
    HW_INSIDE_YES = 1,
    HW_INSIDE_WAITS = 2, /* in an entry, and not yet in MPI: it waits for its turn (progress/gate.h). What it
                          * calls nevertheless, in a signal handler, is a call from within */
};

struct hw_inside {
    atomic_int depth;       /* HW_INSIDE_*; the owner leaves with release, the progress thread acquires */
    const void *site;       /* where the last entry that took the slow way was called from; owner only */
    const void *frame;      /* the stack above that entry: its return address lies right below; owner only */
    bool is_ending;         /* it has been taken from the list before; owner only */
    struct hw_inside *next; /* list of registered threads, under the registry's lock */
};

extern HW_HIDDEN _Thread_local struct hw_inside hw_inside __attribute__((tls_model("initial-exec")));

static inline int hw_inside_depth(const struct hw_inside *inside)
{
    return hw_atomic_load_relaxed(&inside->depth);
}

/* Returns once it is the program's turn. */
static inline void hw_inside_enter(struct hw_inside *inside)
{
    hw_atomic_store_relaxed(&inside->depth, HW_INSIDE_YES);
    hw_gate_pass();
}
static inline void hw_inside_leave(struct hw_inside *inside)
{
    hw_atomic_store_release(&inside->depth, HW_INSIDE_NO);
}

/* The same at the end of the profiled way. */
static inline void hw_inside_leave_profiled(struct hw_inside *inside)
{
    hw_atomic_store_release(&inside->depth, HW_INSIDE_PROFILED);
}

/* From a call of MPI, made by the only thread that makes any, not profiled: PAY is to be called at the
 * beginning of the thread's next one, inside. Calls that are listed so (spec, `owing`) go on without, and see
 * for themselves; they are entered and left with the next two. */
void hw_inside_owe(void (*pay)(void));
extern HW_HIDDEN bool hw_inside_is_owing;

/* Inside: pays what is owed, before code of the program's own may run. */
void hw_inside_pay(void);

static inline bool hw_inside_is_outside(const struct hw_inside *inside)
{
    int depth = hw_inside_depth(inside);
    return depth == HW_INSIDE_NO || depth == HW_INSIDE_OWES;
}
static inline void hw_inside_leave_owing(struct hw_inside *inside)
{
    hw_atomic_store_release(&inside->depth, hw_inside_is_owing ? HW_INSIDE_OWES : HW_INSIDE_NO);
}

/* How many receives are to be started, which START does: at the beginning of the thread's next call, inside,
 * unless that is listed so (spec, `postponing`), of calls within a call too, and in the progress thread's
 * turn. START is given once, with the first MPI_Init*; it and whoever postpones have a lock of their own. */
extern HW_HIDDEN atomic_int hw_inside_postponed;
void hw_inside_begin_postponing(void (*start)(void));
void hw_inside_start_postponed(void);
static inline bool hw_inside_has_postponed(void) { return hw_atomic_load_acquire(&hw_inside_postponed) > 0; }

/* True if no other thread of the program has called MPI yet. STOP is called by the first call of each that
 * does, inside, before it does anything. */
bool hw_inside_is_only_thread(void (*stop)(void));

static inline bool hw_inside_may_postpone(const struct hw_inside *inside)
{
    int depth = hw_inside_depth(inside);
    return depth == HW_INSIDE_NO || depth == HW_INSIDE_POSTPONES;
}
static inline void hw_inside_leave_postponing(struct hw_inside *inside)
{
    hw_atomic_store_release(&inside->depth, hw_inside_has_postponed() ? HW_INSIDE_POSTPONES : HW_INSIDE_NO);
}

/* In a call within a call: the program's own code, in an error handler, may complete what was postponed. */
static inline void hw_inside_nest(const struct hw_inside *inside)
{
    if (__builtin_expect(hw_inside_depth(inside) == HW_INSIDE_YES && hw_inside_has_postponed(), 0))
        hw_inside_start_postponed();
}

/* Called by an entry whose depth is not HW_INSIDE_NO. Registers a thread seen for the first time, whose depth
 * then is HW_INSIDE_NO or _PROFILED, or pays what it owes, and returns true (the entry goes on as an
 * outermost call); returns false when the thread is already inside MPI (the entry forwards to hw_bottom). */
bool hw_inside_register(struct hw_inside *inside);

/* What engines want of blocking calls: their times, as long as a window of overlap is open; to be told that
 * the program comes by, with calls of epochs too; to be asked, since somebody may take the call
 * (engines/engine.h), or only if its datatype is none of the basic ones; and, with doors too, to be told when
 * it goes, a bit for each engine that asks for this (GOES). One word for the entries to test; relaxed,
 * since a call more or less decides nothing. */
enum {
    HW_INSIDE_TIMES = 1,
    HW_INSIDE_PASSES = 2,
    HW_INSIDE_ASKED = 4,
    HW_INSIDE_ASKED_DERIVED = 8,
    HW_INSIDE_GOES_PACKED = 16,
    HW_INSIDE_GOES_DEFERRED = 32,
    HW_INSIDE_GOES_MOVED = 64,
    HW_INSIDE_GOES = HW_INSIDE_GOES_PACKED | HW_INSIDE_GOES_DEFERRED | HW_INSIDE_GOES_MOVED,
};
extern HW_HIDDEN _Atomic uint8_t hw_inside_wanted;

static inline bool hw_inside_wants(uint8_t what)
{
    return __builtin_expect(hw_atomic_load_relaxed(&hw_inside_wanted) & what, 0);
}
static inline bool hw_inside_is_watched(void) { return hw_inside_wants(UINT8_MAX); }
static inline void hw_inside_want(uint8_t what, bool is_wanted)
{
    if (is_wanted)
        hw_atomic_or_relaxed(&hw_inside_wanted, what);
    else
        hw_atomic_and_relaxed(&hw_inside_wanted, (uint8_t)~what);
}

/* The profile of the calling thread, outside MPI, pauses or goes on, and that of threads whose first call of
 * MPI comes later. Nothing where there is no profile. */
void hw_inside_pause_profile(bool is_paused);

/* False where the end of a thread would not be noticed, so that no thread is known: the program has taken all
 * keys for data of threads. After the first call of any entry. */
bool hw_inside_knows_threads(void);

/* True if any thread of the program is inside MPI now, or waits for its turn, or could be without our
 * knowing: one that calls MPI while it ends. Progress thread only. */
bool hw_inside_any(void);

/* The same without those that wait for their turn. */
bool hw_inside_any_in_mpi(void);

/* Marks the calling thread as one of ours: every MPI call it makes is passed straight through. */
void hw_inside_mark_own_thread(void);

#endif
