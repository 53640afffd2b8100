/* SPDX-License-Identifier: BSD-3-Clause */
#include "real/ending.h"

#include "base/log.h"
#include "base/options.h"
#include "real/detect.h"
#include "real/slots.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* MPICH makes no more workers than this: MPIDI_CH4_MAX_VCIS. */
enum { MOST_WORKERS = 64 };

/* While nothing moves: the longest that a peer's message waits for this process, which shares its core with
 * processes that still compute. */
enum { FIRST_PAUSE_MS = 1, LAST_PAUSE_MS = 4 };

/* What has come by the end of the barrier takes a few of them. */
enum { LAST_LOOKS_MAX = 1000 };

enum { DISCONNECT, PROGRESS, DESTROY, READ, SLOT_COUNT };

static void *disconnect(void *endpoint);
static unsigned progress(void *worker);
static void destroy(void *worker);
static ssize_t wait_and_read(int file, void *buffer, size_t bytes);

static struct hw_real_slot slots[SLOT_COUNT] = {
    [DISCONNECT] = {.name = "ucp_disconnect_nb", .ours = (void *)disconnect},
    [PROGRESS] = {.name = "ucp_worker_progress", .ours = (void *)progress},
    [DESTROY] = {.name = "ucp_worker_destroy", .ours = (void *)destroy},
    [READ] = {.name = "read", .ours = (void *)wait_and_read},
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int inside_count; /* threads between begin and end; under the lock, like the next */
static bool is_in_front;

/* Of the one thread in which MPI ends: the MPI sees to that. */
static bool is_closing;             /* endpoints: MPICH does nothing else any more */
static void *workers[MOST_WORKERS]; /* that it made progress on since */
static int worker_count;
static uint64_t look_count, moved_count;

static void *disconnect(void *endpoint)
{
    is_closing = true;
    return ((void *(*)(void *))slots[DISCONNECT].theirs)(endpoint);
}

static int find(const void *worker)
{
    int i = 0;
    while (i < worker_count && workers[i] != worker)
        i++;
    return i;
}

/* It calls this at least once for each of its workers before it enters the barrier. */
static unsigned progress(void *worker)
{
    if (is_closing && worker_count < MOST_WORKERS && find(worker) == worker_count)
        workers[worker_count++] = worker;
    return ((unsigned (*)(void *))slots[PROGRESS].theirs)(worker);
}

static void destroy(void *worker)
{
    int i = find(worker);
    if (i < worker_count)
        workers[i] = workers[--worker_count];
    ((void (*)(void *))slots[DESTROY].theirs)(worker);
}

static unsigned look(void)
{
    unsigned moved = 0;
    for (int i = 0; i < worker_count; i++)
        moved += ((unsigned (*)(void *))slots[PROGRESS].theirs)(workers[i]);
    look_count++;
    moved_count += moved;
    return moved;
}

/* Until there is something to read, or an error for read to tell. The calls of UCX are those that MPICH makes
 * in a loop right before it reads, with the same locks. */
static void wait_for(int file)
{
    struct pollfd answer = {.fd = file, .events = POLLIN};
    int pause_ms = FIRST_PAUSE_MS;
    for (;;) {
        bool has_moved = look() > 0;
        int found = poll(&answer, 1, has_moved ? 0 : pause_ms);
        if (found > 0 || (found < 0 && errno != EINTR))
            return;
        if (has_moved)
            pause_ms = FIRST_PAUSE_MS;
        else if (pause_ms < LAST_PAUSE_MS)
            pause_ms *= 2;
    }
}

/* All processes are there, so what completes a send whose request was freed has been sent. UCX warns of a
 * send that is not complete as it is destroyed. */
static void take_what_has_come(void)
{
    for (int i = 0; i < LAST_LOOKS_MAX && look() > 0; i++) {
    }
}

static ssize_t wait_and_read(int file, void *buffer, size_t bytes)
{
    if (worker_count > 0) {
        wait_for(file);
        take_what_has_come();
    }
    return ((ssize_t(*)(int, void *, size_t))slots[READ].theirs)(file, buffer, bytes);
}

static void stand_in_front(void)
{
    const struct hw_real_library *library = hw_real_library_used();
    is_in_front = hw_options.finalize == HW_OPTION_FINALIZE_AUTO && library->handle != NULL &&
                  hw_real_slots_find(library->handle, slots, SLOT_COUNT) &&
                  hw_real_slots_take(library->handle, slots, SLOT_COUNT);
}

static void step_back(void)
{
    if (!is_in_front)
        return;
    hw_real_slots_give(hw_real_library_used()->handle, slots, SLOT_COUNT);
    is_in_front = is_closing = false;
    worker_count = 0; /* none is left but where MPI_Finalize failed */
    if (hw_options.verbose && look_count)
        hw_log_note("looked %llu times at the network while MPI_Finalize waited for the other processes, and "
                    "found something %llu times",
                    (unsigned long long)look_count, (unsigned long long)moved_count);
}

void hw_real_ending_begin(void)
{
    pthread_mutex_lock(&lock);
    if (inside_count++ == 0)
        stand_in_front();
    pthread_mutex_unlock(&lock);
}

void hw_real_ending_end(void)
{
    pthread_mutex_lock(&lock);
    if (--inside_count == 0)
        step_back();
    pthread_mutex_unlock(&lock);
}
