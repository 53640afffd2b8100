/* SPDX-License-Identifier: BSD-3-Clause */
/* A futex lets a thread sleep on a 32-bit word until another changes it (Linux futex(2)): a thread of this
 * process, or, `shared`, of any that maps the word. */
#ifndef HW_SHM_FUTEX_H
#define HW_SHM_FUTEX_H

#include <linux/futex.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Sleeps while *word == expected, at most timeout_ns (UINT64_MAX: for ever). Spurious returns are
 * normal: the caller reads its condition again. */
static inline void hw_futex_wait(_Atomic uint32_t *word, uint32_t expected, uint64_t timeout_ns)
{
    struct timespec timeout = {.tv_sec = (time_t)(timeout_ns / 1000000000u),
                               .tv_nsec = (long)(timeout_ns % 1000000000u)};
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, expected, timeout_ns == UINT64_MAX ? NULL : &timeout, NULL,
            0);
}

/* Wakes at most `count` sleepers. Costs 6 us when somebody sleeps: ask a sleeping flag first. */
static inline void hw_futex_wake(_Atomic uint32_t *word, int count)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
}

static inline void hw_futex_wait_shared(_Atomic uint32_t *word, uint32_t expected, uint64_t timeout_ns)
{
    struct timespec timeout = {.tv_sec = (time_t)(timeout_ns / 1000000000u),
                               .tv_nsec = (long)(timeout_ns % 1000000000u)};
    syscall(SYS_futex, word, FUTEX_WAIT, expected, &timeout, NULL, 0);
}
static inline void hw_futex_wake_shared(_Atomic uint32_t *word, int count)
{
    syscall(SYS_futex, word, FUTEX_WAKE, count, NULL, NULL, 0);
}

#endif
