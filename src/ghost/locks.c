/* SPDX-License-Identifier: BSD-3-Clause */
#include "ghost/locks.h"

#include "base/clock.h"
#include "base/log.h"
#include "ghost/give_up.h"
#include "real/constants.h"
#include "world/world.h"

#include <stdlib.h>

#define PATIENCE_NS (20 * HW_NS_PER_MS)

enum { BUCKETS = 256, DOUBLINGS_MAX = 16 };

struct waiting {
    struct waiting *next;
    uint64_t id;
    int target;
    uint64_t more; /* targets behind it, one a bit, whose locks are asked for once this one is held */
    int origin;    /* rank in hw_world.all */
    int grant_tag;
    enum hw_ghost_lock lock;
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
static int waiting_count;   /* requests not yet granted, of all locks */
static struct waiting *due; /* that are to ask for the next of their locks */

/* Where a lock is linked, or would be. */
static struct lock **find(uint64_t id, int target)
{
    uint64_t key = id * UINT64_C(0x9E3779B97F4A7C15) + (uint64_t)target;
    struct lock **link = &buckets[(key * UINT64_C(0x9E3779B97F4A7C15)) >> 56];
    while (*link && ((*link)->id != id || (*link)->target != target))
        link = &(*link)->next;
    return link;
}

static bool may_grant(const struct lock *lock, enum hw_ghost_lock wanted)
{
    return lock->holder_count == 0 || (wanted == HW_GHOST_LOCK_SHARED && !lock->is_exclusive);
}

/* Takes the request out of the queue and tells its origin, unless that asks for more. */
static void grant(struct lock *lock, struct waiting **link)
{
    struct waiting *request = *link;
    *link = request->next;
    lock->holder_count++;
    lock->is_exclusive = request->lock == HW_GHOST_LOCK_EXCLUSIVE;
    if (lock->is_exclusive)
        lock->passed_count = 0;
    waiting_count--;
    if (request->more) {
        request->next = due;
        due = request;
        return;
    }
    hw_bottom.Send(NULL, 0, HW_BYTE, request->origin, request->grant_tag, hw_world.all);
    free(request);
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
    if (memory == NULL)
        hw_ghost_give_up("has no memory left for a lock");
    return memory;
}

/* Enters the request; grants whatever may be granted. */
static void enter(struct waiting *request)
{
    struct lock **place = find(request->id, request->target);
    if (*place == NULL) {
        *place = take_memory(sizeof **place);
        (*place)->id = request->id;
        (*place)->target = request->target;
    }
    request->next = NULL;
    request->since_ns = hw_clock_now_ns();
    struct waiting **link = &(*place)->first;
    while (*link)
        link = &(*link)->next;
    *link = request;
    waiting_count++;
    grant_first(*place);
}

static void enter_due(void)
{
    for (struct waiting *request; (request = due) != NULL;) {
        int step = __builtin_ctzll(request->more) + 1;
        due = request->next;
        request->target += step;
        request->more = step < HW_GHOST_LOCK_MORE ? request->more >> step : 0;
        enter(request);
    }
}

static void ask(int origin, const struct hw_ghost_command *command)
{
    struct waiting *request = take_memory(sizeof *request);
    *request = (struct waiting){.id = command->id,
                                .target = command->words[HW_GHOST_LOCK_WORD_TARGET],
                                .more = hw_ghost_lock_more(command),
                                .origin = origin,
                                .grant_tag = command->grant_tag,
                                .lock = (enum hw_ghost_lock)command->words[HW_GHOST_LOCK_WORD_KIND]};
    enter(request);
}

/* One holder less. */
static void release(const struct hw_ghost_command *command)
{
    struct lock **place = find(command->id, command->words[HW_GHOST_LOCK_WORD_TARGET]), *lock = *place;
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
        if ((*link)->lock == HW_GHOST_LOCK_SHARED && now_ns - (*link)->since_ns > patience_ns(lock)) {
            grant(lock, link);
            lock->passed_count++;
        } else {
            link = &(*link)->next;
        }
    }
}

static bool relax_all(void)
{
    if (waiting_count == 0)
        return false;
    static uint64_t looked_ns;
    uint64_t now_ns = hw_clock_now_ns();
    if (now_ns - looked_ns < PATIENCE_NS / 20)
        return false;
    looked_ns = now_ns;
    for (int i = 0; i < BUCKETS; i++)
        for (struct lock *lock = buckets[i]; lock; lock = lock->next)
            relax(lock, now_ns);
    enter_due();
    return false; /* nothing that others would follow */
}

static void obey(const struct hw_ghost_command *command, int origin)
{
    if (command->tag == HW_GHOST_TAG_LOCK)
        ask(origin, command);
    else
        release(command);
    enter_due();
}

const struct hw_ghost_service hw_ghost_locks_service = {
    .name = "locks", .tags = {HW_GHOST_TAG_LOCK, 2}, .obey = obey, .poll = relax_all};
