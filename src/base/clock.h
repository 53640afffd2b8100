/* SPDX-License-Identifier: BSD-3-Clause */
/* The clock gives time in nanoseconds, always unsigned 64 bit. Any thread may call. */
#ifndef HW_BASE_CLOCK_H
#define HW_BASE_CLOCK_H

#include "base/atomic.h"
#include "base/visibility.h"

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#define HW_NS_PER_US UINT64_C(1000)
#define HW_NS_PER_MS UINT64_C(1000000)
#define HW_NS_PER_S UINT64_C(1000000000)

static inline uint64_t hw_clock_read(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * HW_NS_PER_S + (uint64_t)now.tv_nsec;
}

/* Monotonic wall time; vDSO, about 20 ns. */
static inline uint64_t hw_clock_now_ns(void) { return hw_clock_read(CLOCK_MONOTONIC); }

/* CPU time the calling thread has used. A system call, about 200 ns. */
static inline uint64_t hw_clock_thread_cpu_ns(void) { return hw_clock_read(CLOCK_THREAD_CPUTIME_ID); }

/* The same time at half the price, for what is measured twice a call: the processor's time-stamp counter,
 * where the kernel itself keeps time by it, on a scale taken from two readings of CLOCK_MONOTONIC. It keeps
 * that scale, so it may part from CLOCK_MONOTONIC by what the network time service corrects, some
 * microseconds a second: for durations, not for moments that another process compares. Until the scale is
 * known, and where there is no such counter, it is CLOCK_MONOTONIC.
 *
 * A thread's readings never go back, not when the scale comes to be known either. Readings are not ordered
 * with other threads' stores: between threads they may be some nanoseconds off. A child after fork goes on
 * with the scale of its parent. */
struct hw_clock_scale {
    atomic_bool is_known; /* written last, released, once */
    uint64_t ticks, ns;   /* the same moment */
    int64_t ns_per_tick;  /* in 2^-32 ns */
};
extern HW_HIDDEN struct hw_clock_scale hw_clock_scale;

/* Takes the first of the two readings. Once a process, before hw_clock_fast_settle. */
void hw_clock_fast_begin(void);

/* Takes the second, if the first is long enough ago; else nothing. True if there is nothing more to be done.
 * One thread at a time. */
bool hw_clock_fast_settle(void);

#if defined(__x86_64__)
static inline uint64_t hw_clock_ticks(void) { return __builtin_ia32_rdtsc(); }
#else
static inline uint64_t hw_clock_ticks(void) { return 0; } /* never asked: the scale is not known */
#endif

static inline uint64_t hw_clock_fast_ns(void)
{
    if (!hw_atomic_load_acquire(&hw_clock_scale.is_known))
        return hw_clock_now_ns();
    /* Signed: another core's counter may be a few ticks behind the one the scale was taken on. */
    __int128 ticks = (int64_t)(hw_clock_ticks() - hw_clock_scale.ticks);
    return hw_clock_scale.ns + (uint64_t)(int64_t)(ticks * hw_clock_scale.ns_per_tick >> 32);
}

#endif
