/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/rma/epoch/arrival.h"

#include "base/atomic.h"
#include "engines/rma/epoch/flush_wait.h"
#include "engines/rma/window/facts.h"
#include "real/constants.h"

/* Over libfabric MPICH and Intel MPI end a flush when their own side is done with a Put; it may reach the
 * ghost after a message that the program sends next (tests/mpi/completion_rma.c; on MPICH, which waits for a
 * target that computes, tests/mpi/dynamic.c). A Get behind it on the same connection cannot return before it
 * is there. */
int hw_rma_arrival_confirm(struct hw_rma_window *window, int ghost)
{
    if (!hw_rma_needs_confirmation || !hw_atomic_load_relaxed(&window->sent[ghost].has_puts))
        return MPI_SUCCESS;
    if (!window->is_multithreaded)
        hw_atomic_store_relaxed(&window->sent[ghost].has_puts, 0);
    return hw_rma_pass(window, window->win,
                       hw_real.Get(&window->confirmed, 1, HW_BYTE, ghost, 0, 1, HW_BYTE, window->win));
}

/* Whether operations went to other ghosts of this node, too. Packets that such a ghost does not take hold up
 * those to the one that is flushed, since they are the sender's (MPICH's cells). */
static bool are_others_dirty(const struct hw_rma_window *window, int ghost)
{
    int end = window->near_first + window->near_count;
    for (int other = window->near_first; other < end; other++)
        if (other != ghost && hw_rma_is_ghost_dirty(window, other))
            return true;
    return false;
}

int hw_rma_arrival_flush(struct hw_rma_window *window, int ghost, struct hw_ghost_bell *bell,
                         enum hw_rma_completion how)
{
    int rc = how == HW_RMA_AT_TARGET ? hw_rma_arrival_confirm(window, ghost) : MPI_SUCCESS;
    if (rc != MPI_SUCCESS)
        return rc;
    bool are_all_awaited = bell != NULL && are_others_dirty(window, ghost);
    if (are_all_awaited)
        hw_ghost_bells_wait_begin();
    else
        hw_ghost_bell_wait_begin(bell);
    hw_rma_flush_wait(window, ghost);
    rc = how == HW_RMA_LOCALLY ? hw_real.Win_flush_local(ghost, window->win)
                               : hw_real.Win_flush(ghost, window->win);
    if (are_all_awaited)
        hw_ghost_bells_wait_end();
    else
        hw_ghost_bell_wait_end(bell);
    if (rc == MPI_SUCCESS && how != HW_RMA_LOCALLY)
        hw_atomic_store_relaxed(&window->sent[ghost].dirty, 0);
    return hw_rma_pass(window, window->win, rc);
}

/* At the first byte of its memory: without any it was put nothing. */
static int confirm_owner(struct hw_rma_window *window, struct hw_rma_target *target)
{
    if (!hw_rma_needs_confirmation || target->size == 0 || !hw_atomic_load_relaxed(&target->owner.has_puts))
        return MPI_SUCCESS;
    if (!window->is_multithreaded)
        hw_atomic_store_relaxed(&target->owner.has_puts, 0);
    return hw_rma_pass(window, window->win,
                       hw_real.Get(&window->confirmed, 1, HW_BYTE, target->owner.rank, target->owner.offset,
                                   1, HW_BYTE, window->win));
}

int hw_rma_arrival_confirm_owners(struct hw_rma_window *window)
{
    int rc = MPI_SUCCESS;
    if (!hw_rma_needs_confirmation || !hw_atomic_load_relaxed(&window->routes.has_ops))
        return rc;
    for (int i = 0; i < window->size && rc == MPI_SUCCESS; i++)
        rc = confirm_owner(window, &window->targets[i]);
    return rc;
}

static int flush_owner(struct hw_rma_window *window, struct hw_rma_target *target, enum hw_rma_completion how)
{
    if (how == HW_RMA_LOCALLY)
        return hw_rma_pass(window, window->win, hw_real.Win_flush_local(target->owner.rank, window->win));
    int rc = how == HW_RMA_AT_TARGET ? confirm_owner(window, target) : MPI_SUCCESS;
    if (rc == MPI_SUCCESS)
        rc = hw_rma_pass(window, window->win, hw_real.Win_flush(target->owner.rank, window->win));
    if (rc == MPI_SUCCESS)
        hw_atomic_store_relaxed(&target->owner.dirty, 0);
    return rc;
}

int hw_rma_arrival_flush_route(struct hw_rma_window *window, struct hw_rma_target *target,
                               enum hw_rma_route route, enum hw_rma_completion how)
{
    return route == HW_RMA_ROUTE_OWNER ? flush_owner(window, target, how)
                                       : hw_rma_arrival_flush(window, target->ghost, target->bell, how);
}
