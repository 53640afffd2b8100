/* SPDX-License-Identifier: BSD-3-Clause */
#include "objects/request_lock.h"

#include "objects/request.h"

pthread_mutex_t hw_request_mutex = PTHREAD_MUTEX_INITIALIZER;
_Thread_local volatile bool hw_request_is_at_lock;

void hw_request_fork_prepare(void)
{
    if (!hw_request_is_at_lock)
        pthread_mutex_lock(&hw_request_mutex);
}

void hw_request_fork_release(void)
{
    if (!hw_request_is_at_lock)
        pthread_mutex_unlock(&hw_request_mutex);
}

/* Whoever has it, this thread or one that is not here: the table is forgotten. */
void hw_request_lock_renew(void)
{
    if (hw_request_is_at_lock)
        hw_request_mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
}
