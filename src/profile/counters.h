/* What happened in this process, counted. Written relaxed by any thread, read once for the record. */
#ifndef HW_PROFILE_COUNTERS_H
#define HW_PROFILE_COUNTERS_H

#include "base/visibility.h"

#include <stdatomic.h>
#include <stdint.h>

/* name, what it counts (the record's schema, doc/schema/record.json, repeats the names) */
#define HW_COUNTERS(X)                                                                                       \
    X(tracked_p2p, "point-to-point operations entered in the tracker")                                       \
    X(tracked_collective, "nonblocking collectives entered")                                                 \
    X(tracked_persistent, "persistent operations defined")                                                   \
    X(tracked_partitioned, "partitioned operations defined")                                                 \
    X(tracked_rma, "one-sided operations entered: with requests, or large ones to ghosts of other nodes")    \
    X(tracked_io, "nonblocking file operations entered")                                                     \
    X(tracked_bytes, "bytes of all operations entered, as posted")                                           \
    X(started, "starts of persistent and partitioned operations")                                            \
    X(exposures, "one-sided windows created, redirected ones not counted")                                   \
    X(windows_redirected, "one-sided windows served by ghosts")                                              \
    X(operations_redirected, "one-sided operations that went to a ghost")                                    \
    X(operations_spread, "of these, to another ghost than the target's own")                                 \
    X(operations_cut, "accumulates made in pieces, because their target lies in several ghosts' segments")   \
    X(operations_copied, "Put and Get on such windows, done by a copy within the node")                      \
    X(operations_applied,                                                                                    \
      "accumulates and atomics on such windows, applied by their origin within the node")                    \
    X(operations_direct, "operations on windows of MPI_Win_create_dynamic that no ghost could serve")        \
    X(confirmations_owed, "flushes that did not wait for the confirmation of a Put")                         \
    X(operations_slept_for, "of those that went to a ghost, for which a flush slept")                        \
    X(locks_redirected, "locks of windows asked for at a ghost")                                             \
    X(doors, "completion calls that held a tracked request")                                                 \
    X(blocked_ns, "time in those calls")                                                                     \
    X(overlap_windows, "times something became pending when nothing was")                                    \
    X(overlap_windows_off, "of these, left alone by the policy")                                             \
    X(overlapped_ns, "time the program did not wait while something was pending")                            \
    X(judged_windows, "windows with the thread of which it is known what doing without it costs")            \
    X(judged_on_ns, "what these cost: waiting, waking, and CPU time taken from the program")                 \
    X(judged_off_ns, "what they would have cost without the thread, estimated")                              \
    X(judged_off_low_ns, "the same, at least")                                                               \
    X(judged_off_high_ns, "the same, at most")                                                               \
    X(wakes, "times the progress thread was woken because something was posted")                             \
    X(looks, "times the progress thread woke up at all")                                                     \
    X(looks_inside, "of these, the program was inside MPI: nothing done")                                    \
    X(events, "looks caused by a socket event")                                                              \
    X(ticks, "looks caused by a timer")                                                                      \
    X(polls, "calls of the progress thread that made MPI progress")                                          \
    X(completed_early, "operations the progress thread saw complete before the program asked")               \
    X(stand_downs, "decisions to leave a class of operations alone")

struct hw_counters {
#define HW_COUNTER_FIELD(name, meaning) atomic_uint_fast64_t name;
    HW_COUNTERS(HW_COUNTER_FIELD)
#undef HW_COUNTER_FIELD
};

extern HW_HIDDEN struct hw_counters hw_counters;

/* Operations followed: each post, and each start of a persistent one. */
static inline uint64_t hw_counters_tracked(void)
{
    return atomic_load(&hw_counters.tracked_p2p) + atomic_load(&hw_counters.tracked_collective) +
           atomic_load(&hw_counters.tracked_rma) + atomic_load(&hw_counters.tracked_io) +
           atomic_load(&hw_counters.started);
}

#define HW_COUNT_ADD(name, amount)                                                                           \
    atomic_fetch_add_explicit(&hw_counters.name, (uint_fast64_t)(amount), memory_order_relaxed)
#define HW_COUNT(name) HW_COUNT_ADD(name, 1)

#endif
