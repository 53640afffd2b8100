/* SPDX-License-Identifier: BSD-3-Clause */
/* When a process was outside MPI, when it waited for a partner or for another's memory, and when all
 * processes were together: moments, from which is seen what one process did while another waited for it.
 * Sums (delays.h) do not tell that of ranks that are late in turns. Nothing is kept before hw_moments_begin.
 *
 * They are a sample of bounded number. Time is cut into slots of equal length, and when the sample is full
 * every other slot is given up; what reaches into a slot that is kept is kept whole. Slots are those of
 * CLOCK_MONOTONIC, so processes of a machine keep the same ones, or one every other of the other's. Clocks of
 * different machines are compared by the moments when all processes were together in a collective call.
 *
 * Internal to src/profile; under the lock (lock.h), but for what says otherwise. */
#ifndef HW_PROFILE_WAITS_MOMENTS_H
#define HW_PROFILE_WAITS_MOMENTS_H

#include "base/atomic.h"
#include "base/visibility.h"
#include "profile/record/fields.h"

#include <stdbool.h>
#include <stdint.h>

enum { HW_MOMENT_COUNT = 2048, HW_MEETING_COUNT = 64 };
/* Even if a process enters and leaves MPI every 20 us, which is the least that is kept, a slot has room. */
#define HW_MOMENT_SLOT_NS (UINT64_C(1) << 25)

extern HW_HIDDEN atomic_bool hw_moments_are_kept;

/* Profiling begins. Nothing if there is no memory. */
void hw_moments_begin(void);

/* The calling thread was outside MPI, until it made a call at this site. Times as hw_clock_fast_ns tells
 * them. */
void hw_moments_gap(uint64_t began_ns, uint64_t ended_ns, unsigned site);

/* It waited for an operation issued at `posted_ns`; `entry` (of one_sided.h) says where, and for which
 * target. */
void hw_moments_wait(uint64_t posted_ns, uint64_t began_ns, uint64_t ended_ns, int entry);

/* It held an exclusive lock on the window of this rank of the world. */
void hw_moments_hold(uint64_t began_ns, uint64_t ended_ns, unsigned target);

/* It waited in a call, or in tests that ended in one; `exchange` (of delays.h) says where, and for whom. */
void hw_moments_await(uint64_t began_ns, uint64_t ended_ns, int exchange);

/* A collective call of all processes of the world, in which each knows that all the others have come: the
 * same one has the same number everywhere. Takes the lock itself. */
void hw_moments_meet(uint64_t began_ns, uint64_t ended_ns);

/* For the record; NULL where none are kept. `thread_count`: threads that called MPI. Valid until the next
 * call. */
const struct hw_record_moments *hw_moments_describe(int thread_count);

#endif
