/* SPDX-License-Identifier: BSD-3-Clause */
/* Locks, which the targets' ghosts keep (MPI-4.1 section 12.5.3). */
#include "engines/rma/epoch/lock.h"

#include "base/atomic.h"
#include "engines/rma/epoch/access.h"
#include "engines/rma/epoch/epoch.h"
#include "engines/rma/epoch/flush.h"
#include "engines/rma/window/epoch_type.h"
#include "ghost/gate.h"
#include "profile/record/counters.h"
#include "real/constants.h"
#include "world/world.h"

static int acquire(const struct hw_rma_window *window, int rank, enum hw_ghost_lock lock)
{
    HW_COUNT(locks_redirected);
    return hw_ghost_gate_lock(window->targets[rank].ghost_in_world, window->id, rank, lock);
}

static int release(const struct hw_rma_window *window, int rank)
{
    return hw_ghost_gate_unlock(window->targets[rank].ghost_in_world, window->id, rank);
}

/* The shared lock of a target was granted. Another thread may have taken one for the same target: one is
 * enough. */
static int keep(struct hw_rma_window *window, int rank)
{
    bool is_first = hw_rma_access_change(window, rank, HW_RMA_ACCESS_NONE, HW_RMA_ACCESS_LOCK_ALL);
    return is_first ? MPI_SUCCESS : hw_rma_raise_if(window, release(window, rank));
}

int hw_rma_open_target(struct hw_rma_window *window, int rank)
{
    if (!hw_atomic_load_relaxed(&window->is_lock_all))
        return hw_rma_raise(window, MPI_ERR_RMA_SYNC);
    int rc = acquire(window, rank, HW_GHOST_LOCK_SHARED);
    return rc == MPI_SUCCESS ? keep(window, rank) : hw_rma_raise(window, rc);
}

/* Counted before it is asked for, so that no lock of all begins meanwhile. */
static bool begin_lock(struct hw_rma_window *window, int rank)
{
    pthread_mutex_lock(&window->mutex);
    bool is_right =
        hw_rma_access_of(window, rank) == HW_RMA_ACCESS_NONE && !hw_atomic_load_relaxed(&window->is_lock_all);
    if (is_right)
        hw_atomic_add_relaxed(&window->lock_count, 1);
    pthread_mutex_unlock(&window->mutex);
    return is_right;
}

static bool end_lock(struct hw_rma_window *window, int rank, uint32_t access)
{
    pthread_mutex_lock(&window->mutex);
    bool is_right = hw_rma_access_of(window, rank) == access;
    if (is_right) {
        hw_atomic_store_relaxed(&window->targets[rank].access, HW_RMA_ACCESS_NONE);
        hw_atomic_sub_relaxed(&window->lock_count, 1);
    }
    pthread_mutex_unlock(&window->mutex);
    return is_right;
}

int hw_rma_lock(struct hw_rma_window *window, int lock_type, int rank, int assertion)
{
    if (!hw_rma_is_target(window, rank) ||
        (lock_type != MPI_LOCK_SHARED && lock_type != MPI_LOCK_EXCLUSIVE)) {
        if (rank == HW_PROC_NULL)
            return MPI_SUCCESS;
        return hw_rma_raise(window, hw_rma_is_target(window, rank) ? MPI_ERR_LOCKTYPE : MPI_ERR_RANK);
    }
    if (!hw_rma_epoch_is_allowed(window, HW_RMA_EPOCH_LOCK))
        return hw_rma_epoch_refuse(window, "MPI_Win_lock");
    bool is_shared = lock_type == MPI_LOCK_SHARED;
    uint32_t access = is_shared ? HW_RMA_ACCESS_SHARED : HW_RMA_ACCESS_EXCLUSIVE;
    if (assertion & MPI_MODE_NOCHECK)
        access = HW_RMA_ACCESS_NOCHECK;
    if (!begin_lock(window, rank))
        return hw_rma_raise(window, MPI_ERR_RMA_SYNC);
    int rc = MPI_SUCCESS;
    if (access != HW_RMA_ACCESS_NOCHECK)
        rc = acquire(window, rank, is_shared ? HW_GHOST_LOCK_SHARED : HW_GHOST_LOCK_EXCLUSIVE);
    if (rc != MPI_SUCCESS) {
        end_lock(window, rank, HW_RMA_ACCESS_NONE);
        return hw_rma_raise(window, rc);
    }
    if (rank == window->rank)
        rc = hw_rma_synchronise(window);
    if (rc == MPI_SUCCESS)
        hw_rma_access_change(window, rank, HW_RMA_ACCESS_NONE, access);
    else if (end_lock(window, rank, HW_RMA_ACCESS_NONE) && access != HW_RMA_ACCESS_NOCHECK)
        release(window, rank);
    return rc;
}

enum hw_status hw_rma_lock_ask(struct hw_rma_window *window, int rank, struct hw_ghost_later *later, int *rc)
{
    *rc = MPI_SUCCESS;
    if (!hw_rma_epoch_is_allowed(window, HW_RMA_EPOCH_LOCK)) {
        *rc = hw_rma_epoch_refuse(window, "MPI_Win_lock");
    } else if (!begin_lock(window, rank)) {
        *rc = hw_rma_raise(window, MPI_ERR_RMA_SYNC);
    } else {
        HW_COUNT(locks_redirected);
        enum hw_status status = hw_ghost_gate_lock_later(window->targets[rank].ghost_in_world, window->id,
                                                         rank, HW_GHOST_LOCK_EXCLUSIVE, later, rc);
        if (status != HW_OK || *rc != MPI_SUCCESS)
            end_lock(window, rank, HW_RMA_ACCESS_NONE);
        *rc = hw_rma_raise_if(window, *rc);
        return status;
    }
    return HW_OK;
}

void hw_rma_lock_granted(struct hw_rma_window *window, int rank, struct hw_ghost_later *later)
{
    hw_ghost_later_end(later);
    hw_rma_access_change(window, rank, HW_RMA_ACCESS_NONE, HW_RMA_ACCESS_EXCLUSIVE);
}

int hw_rma_unlock(struct hw_rma_window *window, int rank)
{
    if (!hw_rma_is_target(window, rank))
        return rank == HW_PROC_NULL ? MPI_SUCCESS : hw_rma_raise(window, MPI_ERR_RANK);
    uint32_t access = hw_rma_access_of(window, rank);
    if (access == HW_RMA_ACCESS_NONE || access > HW_RMA_ACCESS_NOCHECK)
        return hw_rma_raise(window, MPI_ERR_RMA_SYNC);
    int rc = hw_rma_flush_target(window, rank, HW_RMA_AT_TARGET);
    if (rc == MPI_SUCCESS && rank == window->rank)
        rc = hw_rma_synchronise(window);
    /* Whatever failed: no epoch remains, so others get the lock. */
    if (!end_lock(window, rank, access))
        return rc == MPI_SUCCESS ? hw_rma_raise(window, MPI_ERR_RMA_SYNC) : rc;
    int released = access == HW_RMA_ACCESS_NOCHECK ? MPI_SUCCESS : release(window, rank);
    return rc == MPI_SUCCESS ? hw_rma_raise_if(window, released) : rc;
}

static void end_lock_all(struct hw_rma_window *window)
{
    pthread_mutex_lock(&window->mutex);
    hw_atomic_store_relaxed(&window->is_lock_all, false);
    window->is_nocheck_all = false;
    hw_rma_access_publish(window);
    pthread_mutex_unlock(&window->mutex);
}

/* Of the targets that operations, loads or stores have opened. Returns the first error, raised. */
static int release_all(struct hw_rma_window *window)
{
    int rc = MPI_SUCCESS;
    for (int rank = 0; rank < window->size; rank++) {
        if (!hw_rma_access_change(window, rank, HW_RMA_ACCESS_LOCK_ALL, HW_RMA_ACCESS_NONE))
            continue;
        int released = release(window, rank);
        if (rc == MPI_SUCCESS)
            rc = hw_rma_raise_if(window, released);
    }
    return rc;
}

/* The first target from one on whose memory the program may load and store, and whose lock it has not; the
 * window's size: there is none. */
static int next_reached(const struct hw_rma_window *window, int rank)
{
    int own_node = hw_world_own_node();
    while (rank < window->size &&
           (window->targets[rank].node != own_node || hw_rma_access_of(window, rank) != HW_RMA_ACCESS_NONE))
        rank++;
    return rank;
}

/* Of the first one and those behind it at the same ghost: all with one grant. Returns the first that is left.
 * An error is raised. */
static int open_several(struct hw_rma_window *window, int first, int *rc)
{
    int ghost = window->targets[first].ghost_in_world, left = next_reached(window, first + 1);
    uint64_t more = 0;
    HW_COUNT(locks_redirected);
    for (; left < window->size && left - first <= HW_GHOST_LOCK_MORE &&
           window->targets[left].ghost_in_world == ghost;
         left = next_reached(window, left + 1)) {
        more |= UINT64_C(1) << (left - first - 1);
        HW_COUNT(locks_redirected);
    }
    *rc = hw_ghost_gate_lock_several(ghost, window->id, first, more, HW_GHOST_LOCK_SHARED);
    if (*rc != MPI_SUCCESS)
        return hw_rma_raise(window, *rc), left;
    *rc = keep(window, first);
    for (; more; more &= more - 1) {
        int kept = keep(window, first + 1 + __builtin_ctzll(more));
        *rc = *rc == MPI_SUCCESS ? kept : *rc;
    }
    return left;
}

/* Of all targets whose memory the program may load and store from here on; the others' locks can wait. */
static int open_reached(struct hw_rma_window *window)
{
    int rc = MPI_SUCCESS;
    for (int rank = next_reached(window, 0); rank < window->size && rc == MPI_SUCCESS;)
        rank = open_several(window, rank, &rc);
    return rc;
}

static bool is_shown(const struct hw_rma_window *window)
{
    return window->is_shown || window->flavor == MPI_WIN_FLAVOR_SHARED;
}

int hw_rma_open_shown(struct hw_rma_window *window)
{
    bool needs_locks = hw_atomic_load_relaxed(&window->is_lock_all) && !window->is_nocheck_all;
    return is_shown(window) && needs_locks ? open_reached(window) : MPI_SUCCESS;
}

int hw_rma_lock_all(struct hw_rma_window *window, int assertion)
{
    if (!hw_rma_epoch_is_allowed(window, HW_RMA_EPOCH_LOCK_ALL))
        return hw_rma_epoch_refuse(window, "MPI_Win_lock_all");
    pthread_mutex_lock(&window->mutex);
    bool is_right = !hw_rma_is_passive(window);
    if (is_right) {
        hw_atomic_store_relaxed(&window->is_lock_all, true);
        window->is_nocheck_all = (assertion & MPI_MODE_NOCHECK) != 0;
        window->is_fence = false;
        hw_rma_access_publish(window);
    }
    pthread_mutex_unlock(&window->mutex);
    if (!is_right)
        return hw_rma_raise(window, MPI_ERR_RMA_SYNC);
    int rc = MPI_SUCCESS;
    if (!(assertion & MPI_MODE_NOCHECK))
        rc = is_shown(window) ? open_reached(window) : hw_rma_open_target(window, window->rank);
    if (rc == MPI_SUCCESS)
        rc = hw_rma_synchronise(window);
    if (rc == MPI_SUCCESS)
        return rc;
    end_lock_all(window);
    release_all(window);
    return rc;
}

int hw_rma_unlock_all(struct hw_rma_window *window)
{
    if (!hw_atomic_load_relaxed(&window->is_lock_all))
        return hw_rma_raise(window, MPI_ERR_RMA_SYNC);
    int rc = hw_rma_flush_everything(window);
    if (rc == MPI_SUCCESS)
        rc = hw_rma_synchronise(window);
    /* Whatever failed: no epoch remains, so no target may remain open. */
    int released = release_all(window);
    end_lock_all(window);
    return rc == MPI_SUCCESS ? released : rc;
}
