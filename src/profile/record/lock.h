/* SPDX-License-Identifier: BSD-3-Clause */
/* The one lock of this folder: sums, tables, requests followed. Held for some ten nanoseconds, never across a
 * call of the MPI. A thread takes it once for many of its calls (threads.h). Internal to src/profile. */
#ifndef HW_PROFILE_RECORD_LOCK_H
#define HW_PROFILE_RECORD_LOCK_H

#include "base/visibility.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

extern HW_HIDDEN pthread_mutex_t hw_profile_mutex;

/* For whoever writes the record, one at a time, perhaps while the program runs. Once the process is ending
 * (hw_profile_lock_is_ending) a thread that was stopped for good, in a signal handler, may have the lock: it
 * is waited for a while, and where that was in vain the rest is read without. False: not locked. */
bool hw_profile_lock_to_read(void);
void hw_profile_unlock_read(bool is_locked);
void hw_profile_lock_is_ending(void);

/* The same of another lock that is held as shortly. */
bool hw_profile_lock_of_to_read(pthread_mutex_t *mutex);
void hw_profile_unlock_of_read(pthread_mutex_t *mutex, bool is_locked);

/* A copy for that writer, of one piece. */
void hw_profile_copy(void *to, const void *from, size_t bytes);

static inline void hw_profile_lock(void) { pthread_mutex_lock(&hw_profile_mutex); }
static inline void hw_profile_unlock(void) { pthread_mutex_unlock(&hw_profile_mutex); }

#endif
