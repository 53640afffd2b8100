/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/pack/pool.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { LINE = 64, LOG_MIN = 11, LOG_MAX = 26, SIZES = LOG_MAX - LOG_MIN + 1 };
/* What waits may take this much: more than a halo has in flight is rare. */
enum { WAITING_MAX = HW_PACK_POOL_BYTES_MAX / 4 };

struct waiting {
    struct waiting *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct waiting *waiting[SIZES];
static size_t total, idle; /* bytes: of all, and of those that wait */

/* -1: too large. */
static int size_of(size_t bytes)
{
    int size = 0;
    while (size < SIZES && ((size_t)1 << (LOG_MIN + size)) < bytes)
        size++;
    return size < SIZES ? size : -1;
}

/* Under the lock. */
static struct waiting *pop(int size)
{
    struct waiting *found = waiting[size];
    if (found) {
        waiting[size] = found->next;
        idle -= (size_t)1 << (LOG_MIN + size);
    }
    return found;
}

/* Under the lock. */
static void release_waiting(size_t down_to)
{
    for (int size = SIZES - 1; size >= 0 && idle > down_to; size--)
        for (void *one; idle > down_to && (one = pop(size)) != NULL;) {
            total -= (size_t)1 << (LOG_MIN + size);
            free(one);
        }
}

void *hw_pack_pool_take(size_t bytes)
{
    int size = size_of(bytes);
    if (size < 0)
        return NULL;
    size_t room = (size_t)1 << (LOG_MIN + size);
    pthread_mutex_lock(&lock);
    void *buffer = pop(size);
    if (buffer == NULL) {
        if (total + room > HW_PACK_POOL_BYTES_MAX)
            release_waiting(0);
        if (total + room <= HW_PACK_POOL_BYTES_MAX && (buffer = aligned_alloc(LINE, room)) != NULL)
            total += room;
    }
    pthread_mutex_unlock(&lock);
    return buffer;
}

void *hw_pack_pool_reserve(size_t bytes)
{
    void *buffer =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return buffer == MAP_FAILED ? NULL : buffer;
}

void hw_pack_pool_give(void *buffer, size_t bytes)
{
    int size = size_of(bytes);
    struct waiting *one = buffer;
    if (size < 0) {
        munmap(buffer, bytes);
        return;
    }
    pthread_mutex_lock(&lock);
    one->next = waiting[size];
    waiting[size] = one;
    idle += (size_t)1 << (LOG_MIN + size);
    release_waiting(WAITING_MAX);
    pthread_mutex_unlock(&lock);
}

void hw_pack_pool_trim(void)
{
    pthread_mutex_lock(&lock);
    release_waiting(0);
    pthread_mutex_unlock(&lock);
}
