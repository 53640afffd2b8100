#include "engines/rma/ghost_lock.h"

#include "base/clock.h"
#include "base/log.h"
#include "real/constants.h"

#include <stdlib.h>
#include <unistd.h>

#define PATIENCE_NS (20 * HW_NS_PER_MS)

static int waiting_count;

int hw_rma_ghost_lock_waiting(void) { return waiting_count; }

static bool may_grant(const struct hw_rma_ghost_lock *lock, enum hw_rma_lock wanted)
{
    return lock->holder_count == 0 || (wanted == HW_RMA_LOCK_SHARED && !lock->is_exclusive);
}

/* Takes the request out of the queue and tells its origin. */
static void grant(struct hw_rma_ghost_lock *lock, struct hw_rma_waiting **link)
{
    struct hw_rma_waiting *request = *link;
    *link = request->next;
    lock->holder_count++;
    lock->is_exclusive = request->lock == HW_RMA_LOCK_EXCLUSIVE;
    hw_bottom.Send(NULL, 0, HW_BYTE, request->origin, request->grant_tag, hw_world.all);
    free(request);
    waiting_count--;
}

/* In the order of the requests, so that nobody starves. */
static void grant_first(struct hw_rma_ghost_lock *lock)
{
    while (lock->first && may_grant(lock, lock->first->lock))
        grant(lock, &lock->first);
}

void hw_rma_ghost_lock_ask(struct hw_rma_ghost_lock *lock, int origin, const struct hw_rma_command *command)
{
    struct hw_rma_waiting *request = malloc(sizeof *request);
    if (request == NULL) {
        hw_log_error("a ghost has no memory left for a lock request; the job ends");
        hw_bottom.Abort(HW_COMM_WORLD, MPI_ERR_NO_MEM);
        _exit(MPI_ERR_NO_MEM);
    }
    *request = (struct hw_rma_waiting){.origin = origin,
                                       .grant_tag = command->grant_tag,
                                       .lock = (enum hw_rma_lock)command->lock,
                                       .since_ns = hw_clock_now_ns()};
    struct hw_rma_waiting **link = &lock->first;
    while (*link)
        link = &(*link)->next;
    *link = request;
    waiting_count++;
    grant_first(lock);
}

void hw_rma_ghost_lock_release(struct hw_rma_ghost_lock *lock)
{
    lock->holder_count--;
    grant_first(lock);
}

void hw_rma_ghost_lock_relax(struct hw_rma_ghost_lock *lock)
{
    if (lock->first == NULL || lock->holder_count == 0 || lock->is_exclusive)
        return;
    uint64_t now_ns = hw_clock_now_ns();
    for (struct hw_rma_waiting **link = &lock->first; *link;) {
        if ((*link)->lock == HW_RMA_LOCK_SHARED && now_ns - (*link)->since_ns > PATIENCE_NS)
            grant(lock, link);
        else
            link = &(*link)->next;
    }
}
