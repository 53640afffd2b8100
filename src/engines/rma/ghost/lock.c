#include "engines/rma/ghost/lock.h"

#include "base/clock.h"
#include "base/log.h"
#include "real/constants.h"

#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#define PATIENCE_NS (20 * HW_NS_PER_MS)

enum { BUCKETS = 256, DOUBLINGS_MAX = 16 };

struct waiting {
    struct waiting *next;
    int origin; /* rank in hw_world.all */
    int grant_tag;
    enum hw_rma_lock lock;
    uint64_t since_ns;
};

struct lock {
    struct lock *next; /* in the bucket */
    uint64_t id;
    int target;
    int holder_count;
    bool is_exclusive;
    int passed_count; /* requests that passed an exclusive one since there was a holder of that kind */
    struct waiting *first;
};

static struct lock *buckets[BUCKETS];
static int waiting_count; /* requests not yet granted, of all locks */

/* Where its lock is linked, or would be. */
static struct lock **find(const struct hw_rma_command *request)
{
    uint64_t key = request->id * UINT64_C(0x9E3779B97F4A7C15) + (uint64_t)request->target;
    struct lock **link = &buckets[(key * UINT64_C(0x9E3779B97F4A7C15)) >> 56];
    while (*link && ((*link)->id != request->id || (*link)->target != request->target))
        link = &(*link)->next;
    return link;
}

static bool may_grant(const struct lock *lock, enum hw_rma_lock wanted)
{
    return lock->holder_count == 0 || (wanted == HW_RMA_LOCK_SHARED && !lock->is_exclusive);
}

/* Takes the request out of the queue and tells its origin. */
static void grant(struct lock *lock, struct waiting **link)
{
    struct waiting *request = *link;
    *link = request->next;
    lock->holder_count++;
    lock->is_exclusive = request->lock == HW_RMA_LOCK_EXCLUSIVE;
    if (lock->is_exclusive)
        lock->passed_count = 0;
    hw_bottom.Send(NULL, 0, HW_BYTE, request->origin, request->grant_tag, hw_world.all);
    free(request);
    waiting_count--;
}

/* In the order of the requests, so that nobody starves. */
static void grant_first(struct lock *lock)
{
    while (lock->first && may_grant(lock, lock->first->lock))
        grant(lock, &lock->first);
}

static void *take_memory(size_t bytes)
{
    void *memory = calloc(1, bytes);
    if (memory == NULL) {
        hw_log_error("a ghost has no memory left for a lock; the job ends");
        hw_bottom.Abort(HW_COMM_WORLD, MPI_ERR_NO_MEM);
        _exit(MPI_ERR_NO_MEM);
    }
    return memory;
}

void hw_rma_ghost_lock_ask(int origin, const struct hw_rma_command *request)
{
    struct lock **place = find(request);
    if (*place == NULL) {
        *place = take_memory(sizeof **place);
        (*place)->id = request->id;
        (*place)->target = request->target;
    }
    struct waiting *waiting = take_memory(sizeof *waiting);
    *waiting = (struct waiting){.origin = origin,
                                .grant_tag = request->grant_tag,
                                .lock = (enum hw_rma_lock)request->lock,
                                .since_ns = hw_clock_now_ns()};
    struct waiting **link = &(*place)->first;
    while (*link)
        link = &(*link)->next;
    *link = waiting;
    waiting_count++;
    grant_first(*place);
}

void hw_rma_ghost_lock_release(const struct hw_rma_command *request)
{
    struct lock **place = find(request), *lock = *place;
    if (lock == NULL) {
        hw_log_error("a ghost was told of a lock that nobody holds");
        return;
    }
    lock->holder_count--;
    grant_first(lock);
    if (lock->holder_count > 0)
        return;
    *place = lock->next;
    free(lock);
}

/* As many may pass as there are processes, since each may be waited for once. Were it always so, processes
 * that take a shared lock again and again, and hold it for longer than this, would keep it from an exclusive
 * request for ever: so one that was passed more often is passed later and later. */
static uint64_t patience_ns(const struct lock *lock)
{
    int doublings = lock->passed_count / hw_world.user_count;
    return PATIENCE_NS << (doublings < DOUBLINGS_MAX ? doublings : DOUBLINGS_MAX);
}

static void relax(struct lock *lock, uint64_t now_ns)
{
    if (lock->is_exclusive)
        return;
    for (struct waiting **link = &lock->first; *link;) {
        if ((*link)->lock == HW_RMA_LOCK_SHARED && now_ns - (*link)->since_ns > patience_ns(lock)) {
            grant(lock, link);
            lock->passed_count++;
        } else {
            link = &(*link)->next;
        }
    }
}

void hw_rma_ghost_locks_relax(void)
{
    if (waiting_count == 0)
        return;
    static uint64_t looked_ns;
    uint64_t now_ns = hw_clock_now_ns();
    if (now_ns - looked_ns < PATIENCE_NS / 20)
        return;
    looked_ns = now_ns;
    for (int i = 0; i < BUCKETS; i++)
        for (struct lock *lock = buckets[i]; lock; lock = lock->next)
            relax(lock, now_ns);
}
