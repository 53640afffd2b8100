/* Time, always in nanoseconds, always unsigned 64 bit. Any thread may call. */
#ifndef HW_BASE_CLOCK_H
#define HW_BASE_CLOCK_H

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

#endif
