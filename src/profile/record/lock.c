/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile/record/lock.h"

#include "base/atomic.h"
#include "base/clock.h"

#include <string.h>
#include <time.h>

/* The lock is held for some ten nanoseconds; a thread that holds it may have lost its core meanwhile. */
#define PATIENCE_NS (200 * HW_NS_PER_MS)

pthread_mutex_t hw_profile_mutex = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool is_ending;
static bool is_given_up; /* the writer's */

void hw_profile_lock_is_ending(void) { hw_atomic_store_seq_cst(&is_ending, true); }

bool hw_profile_lock_of_to_read(pthread_mutex_t *mutex)
{
    if (!hw_atomic_load_seq_cst(&is_ending))
        return pthread_mutex_lock(mutex) == 0;
    if (is_given_up)
        return pthread_mutex_trylock(mutex) == 0;
    struct timespec deadline;
    clock_gettime(CLOCK_REALTIME, &deadline);
    deadline.tv_nsec += (long)PATIENCE_NS;
    deadline.tv_sec += deadline.tv_nsec / (long)HW_NS_PER_S;
    deadline.tv_nsec %= (long)HW_NS_PER_S;
    is_given_up = pthread_mutex_timedlock(mutex, &deadline) != 0;
    return !is_given_up;
}

void hw_profile_unlock_of_read(pthread_mutex_t *mutex, bool is_locked)
{
    if (is_locked)
        pthread_mutex_unlock(mutex);
}

bool hw_profile_lock_to_read(void) { return hw_profile_lock_of_to_read(&hw_profile_mutex); }

void hw_profile_unlock_read(bool is_locked) { hw_profile_unlock_of_read(&hw_profile_mutex, is_locked); }

void hw_profile_copy(void *to, const void *from, size_t bytes)
{
    bool is_locked = hw_profile_lock_to_read();
    memcpy(to, from, bytes);
    hw_profile_unlock_read(is_locked);
}
