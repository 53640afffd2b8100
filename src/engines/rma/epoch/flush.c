/* SPDX-License-Identifier: BSD-3-Clause */
/* Flushes (MPI-4.1 section 12.5.4). */
#include "engines/rma/epoch/flush.h"

#include "base/atomic.h"
#include "engines/rma/adapt/measure.h"
#include "engines/rma/epoch/access.h"
#include "engines/rma/epoch/dynamic_flush.h"
#include "engines/rma/epoch/epoch.h"
#include "engines/rma/epoch/flush_wait.h"
#include "engines/rma/epoch/owed.h"
#include "engines/rma/window/facts.h"
#include "engines/rma/window/spread.h"
#include "ghost/channel.h"
#include "real/constants.h"
#include "world/world.h"

/* In place of a flush where there is nothing to flush. A flush makes progress, and a program may wait in a
 * loop of them, or of lock and unlock, for what only its own progress brings about: what it sends may be what
 * lets another write to its window (tests/mpi/idle_flushes.c). */
static void make_progress_instead(void) { hw_ghost_channel_progress_sometimes(); }

/* The ghosts of a target's node that took operations since they were last flushed, whoever was the target. */
static int flush_spread(struct hw_rma_window *window, const struct hw_rma_target *target,
                        enum hw_rma_completion how)
{
    const struct hw_rma_span *span = hw_rma_spread_span(window, target);
    int rc = MPI_SUCCESS;
    for (int ghost = span->first; ghost < span->first + span->count && rc == MPI_SUCCESS; ghost++)
        if (window->is_multithreaded || hw_rma_is_ghost_dirty(window, ghost))
            rc = hw_rma_arrival_flush(window, ghost, hw_rma_spread_bell(window, target, ghost), how);
    return rc;
}

static int flush_route(struct hw_rma_window *window, struct hw_rma_target *target, enum hw_rma_route route,
                       enum hw_rma_completion how)
{
    if (route == HW_RMA_ROUTE_GHOST && window->spread)
        return flush_spread(window, target, how);
    int rc = hw_rma_arrival_flush_route(window, target, route, how);
    return rc == MPI_SUCCESS && how == HW_RMA_UNCONFIRMED ? hw_rma_owe(window, target, route) : rc;
}

/* Both routes of a target. What is owed goes by one of them: the other's is confirmed at once. */
static int flush_both(struct hw_rma_window *window, struct hw_rma_target *target, enum hw_rma_completion how)
{
    bool is_dirty = hw_rma_is_dirty(window, target), is_owner_dirty = hw_rma_is_owner_dirty(window, target);
    int rc = MPI_SUCCESS;
    if (is_owner_dirty)
        rc = flush_route(window, target, HW_RMA_ROUTE_OWNER,
                         is_dirty && how == HW_RMA_UNCONFIRMED ? HW_RMA_AT_TARGET : how);
    else if (!is_dirty)
        make_progress_instead();
    return is_dirty && rc == MPI_SUCCESS ? flush_route(window, target, HW_RMA_ROUTE_GHOST, how) : rc;
}

static int flush_routes(struct hw_rma_window *window, struct hw_rma_target *target,
                        enum hw_rma_completion how)
{
    hw_rma_adapt_flush_begin(window);
    int rc = flush_both(window, target, how);
    hw_rma_adapt_flush_end(window);
    return rc;
}

int hw_rma_flush_target(struct hw_rma_window *window, int rank, enum hw_rma_completion how)
{
    struct hw_rma_target *target = &window->targets[rank];
    int rc = flush_routes(window, target, how);
    if (rc == MPI_SUCCESS)
        hw_atomic_store_relaxed(&target->dirty, 0);
    return rc == MPI_SUCCESS && window->dynamic ? hw_rma_dynamic_flush(window, rank, false) : rc;
}

/* Whether a ghost got an operation since the last flush of all targets, as far as this thread knows. */
static bool may_ghosts_have_ops(const struct hw_rma_window *window)
{
    return window->is_multithreaded || window->dynamic != NULL || window->spread != NULL ||
           hw_atomic_load_relaxed(&window->op_count) != hw_atomic_load_relaxed(&window->op_count_flushed);
}

/* A flush of all targets: the node's ghosts are waited for, unless owners alone got operations: a ghost that
 * somebody waits for looks all the time, on a core that it may share with them. */
static int wait_all(int (*flush)(MPI_Win win), const struct hw_rma_window *window)
{
    bool are_awaited = may_ghosts_have_ops(window);
    if (are_awaited)
        hw_ghost_bells_wait_begin();
    hw_rma_flush_wait(window, HW_RMA_EVERY_GHOST);
    int rc = flush(window->win);
    if (are_awaited)
        hw_ghost_bells_wait_end();
    return hw_rma_pass(window, window->win, rc);
}

static int flush_ghosts(struct hw_rma_window *window)
{
    if (!window->is_multithreaded && !hw_atomic_load_relaxed(&window->has_ops))
        return MPI_SUCCESS;
    int rc = MPI_SUCCESS;
    for (int i = 0; hw_rma_needs_confirmation && i < window->ghost_count && rc == MPI_SUCCESS; i++)
        rc = hw_rma_arrival_confirm(window, i);
    if (rc == MPI_SUCCESS)
        rc = hw_rma_arrival_confirm_owners(window);
    return rc == MPI_SUCCESS ? wait_all(hw_real.Win_flush_all, window) : rc;
}

int hw_rma_flush_everything(struct hw_rma_window *window)
{
    if (!hw_atomic_load_relaxed(&window->has_ops))
        make_progress_instead();
    if (!window->is_multithreaded && !hw_atomic_load_relaxed(&window->has_ops) && window->dynamic == NULL)
        return MPI_SUCCESS;
    hw_rma_adapt_flush_begin(window);
    int rc = flush_ghosts(window);
    hw_rma_adapt_flush_end(window);
    if (rc == MPI_SUCCESS && window->dynamic)
        rc = hw_rma_dynamic_flush_all(window, false);
    if (rc != MPI_SUCCESS)
        return rc;
    uint32_t next = hw_atomic_load_relaxed(&window->generation) + 1;
    hw_atomic_store_relaxed(&window->generation, next ? next : 1);
    if (!window->is_multithreaded)
        hw_atomic_store_relaxed(&window->routes.has_ops, 0);
    hw_atomic_store_relaxed(&window->has_ops, 0);
    hw_atomic_store_relaxed(&window->has_unready, 0);
    hw_atomic_store_relaxed(&window->op_count_flushed, hw_atomic_load_relaxed(&window->op_count));
    return rc;
}

static bool is_locked(const struct hw_rma_window *window, int rank)
{
    uint32_t access = hw_rma_access_of(window, rank);
    return hw_atomic_load_relaxed(&window->is_lock_all) ||
           (access != HW_RMA_ACCESS_NONE && access <= HW_RMA_ACCESS_NOCHECK);
}

int hw_rma_flush(struct hw_rma_window *window, int rank)
{
    if (!hw_rma_is_target(window, rank))
        return rank == HW_PROC_NULL ? MPI_SUCCESS : hw_rma_raise(window, MPI_ERR_RANK);
    if (!is_locked(window, rank))
        return hw_rma_raise(window, MPI_ERR_RMA_SYNC);
    bool may_owe = hw_rma_owed_allows(window, &window->targets[rank]);
    return hw_rma_flush_target(window, rank, may_owe ? HW_RMA_UNCONFIRMED : HW_RMA_AT_TARGET);
}

int hw_rma_flush_local(struct hw_rma_window *window, int rank)
{
    if (!hw_rma_is_target(window, rank))
        return rank == HW_PROC_NULL ? MPI_SUCCESS : hw_rma_raise(window, MPI_ERR_RANK);
    if (!is_locked(window, rank))
        return hw_rma_raise(window, MPI_ERR_RMA_SYNC);
    int rc = flush_routes(window, &window->targets[rank], HW_RMA_LOCALLY);
    return rc == MPI_SUCCESS && window->dynamic ? hw_rma_dynamic_flush(window, rank, true) : rc;
}

int hw_rma_flush_all(struct hw_rma_window *window)
{
    if (!hw_rma_is_passive(window))
        return hw_rma_raise(window, MPI_ERR_RMA_SYNC);
    return hw_rma_flush_everything(window);
}

int hw_rma_flush_local_all(struct hw_rma_window *window)
{
    if (!hw_rma_is_passive(window))
        return hw_rma_raise(window, MPI_ERR_RMA_SYNC);
    int rc = MPI_SUCCESS;
    if (window->is_multithreaded || hw_atomic_load_relaxed(&window->has_unready))
        rc = wait_all(hw_real.Win_flush_local_all, window);
    else
        make_progress_instead();
    if (rc == MPI_SUCCESS)
        hw_atomic_store_relaxed(&window->has_unready, 0);
    return rc == MPI_SUCCESS && window->dynamic ? hw_rma_dynamic_flush_all(window, true) : rc;
}

int hw_rma_sync(struct hw_rma_window *window) { return hw_rma_synchronise(window); }
