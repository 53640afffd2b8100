/* SPDX-License-Identifier: BSD-3-Clause */
/* The one lock of this folder: sums, tables, requests followed. Held for some ten nanoseconds, never across a
 * call of the MPI. A thread takes it once for many of its calls (threads.h). Internal to src/profile. */
#ifndef HW_PROFILE_RECORD_LOCK_H
#define HW_PROFILE_RECORD_LOCK_H

#include "base/visibility.h"

#include <pthread.h>

extern HW_HIDDEN pthread_mutex_t hw_profile_mutex;

static inline void hw_profile_lock(void) { pthread_mutex_lock(&hw_profile_mutex); }
static inline void hw_profile_unlock(void) { pthread_mutex_unlock(&hw_profile_mutex); }

#endif
