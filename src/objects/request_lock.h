/* SPDX-License-Identifier: BSD-3-Clause */
/* The lock of the tracker's table: held for some ten nanoseconds, never over a real call. Any thread.
 *
 * A handler of a signal may fork while its own thread is at the lock, for which fork waits
 * (hw_request_fork_prepare). So each thread says that it is at it. Fork leaves the lock alone then, and in
 * the child it is made anew. */
#ifndef HW_OBJECTS_REQUEST_LOCK_H
#define HW_OBJECTS_REQUEST_LOCK_H

#include "base/visibility.h"

#include <pthread.h>
#include <stdbool.h>

extern HW_HIDDEN pthread_mutex_t hw_request_mutex;

/* From before this thread takes it until it has given it back. */
extern HW_HIDDEN _Thread_local volatile bool hw_request_is_at_lock;

static inline void hw_request_lock(void)
{
    hw_request_is_at_lock = true;
    pthread_mutex_lock(&hw_request_mutex);
}

static inline void hw_request_unlock(void)
{
    pthread_mutex_unlock(&hw_request_mutex);
    hw_request_is_at_lock = false;
}

/* In a child of fork(2), after hw_request_fork_release. */
void hw_request_lock_renew(void);

#endif
