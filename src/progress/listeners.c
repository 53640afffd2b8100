/* SPDX-License-Identifier: BSD-3-Clause */
#include "progress/listeners.h"

#include "base/atomic.h"

#include <pthread.h>
#include <stdint.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* held while descriptors are written to */
static int descriptors[HW_LISTENER_COUNT];
static atomic_int listener_count;

static void before_fork(void) { pthread_mutex_lock(&lock); }
static void after_fork(void) { pthread_mutex_unlock(&lock); }
static void watch_forks(void) { pthread_atfork(before_fork, after_fork, after_fork); }

enum hw_status hw_listeners_add(int descriptor)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_forks);
    enum hw_status status = HW_NOMEM;
    pthread_mutex_lock(&lock);
    int count = hw_atomic_load_seq_cst(&listener_count);
    if (count < HW_LISTENER_COUNT) {
        descriptors[count] = descriptor;
        hw_atomic_store_seq_cst(&listener_count, count + 1);
        status = HW_OK;
    }
    pthread_mutex_unlock(&lock);
    return status;
}

bool hw_listeners_remove(int descriptor)
{
    bool is_found = false;
    pthread_mutex_lock(&lock);
    int count = hw_atomic_load_seq_cst(&listener_count);
    for (int i = 0; i < count && !is_found; i++) {
        if (descriptors[i] != descriptor)
            continue;
        is_found = true;
        descriptors[i] = descriptors[count - 1];
        hw_atomic_store_seq_cst(&listener_count, count - 1);
    }
    pthread_mutex_unlock(&lock);
    return is_found;
}

bool hw_listeners_is_any(void) { return hw_atomic_load_seq_cst(&listener_count) > 0; }

void hw_listeners_tell(void)
{
    if (hw_atomic_load_relaxed(&listener_count) == 0)
        return;
    const uint64_t one = 1;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < hw_atomic_load_seq_cst(&listener_count); i++)
        /* Full, or no eventfd after all: whoever listens has a timer besides. */
        if (write(descriptors[i], &one, sizeof one) < 0)
            continue;
    pthread_mutex_unlock(&lock);
}
