/* The program's epochs on a redirected window (MPI-4.1 sections 12.5.1 to 12.5.4, 12.7).
 *
 * Underneath, the shadow window is in one passive epoch from beginning to end, so that an operation is
 * complete at its target once the ghost was flushed. What is kept here is who may access what, and when: a
 * fence flushes and is a barrier; post and complete are empty messages on the window's own communicator; a
 * lock is held at the target's ghost. Local loads and stores meet the ghost's at MPI_Win_sync of the shadow
 * window. */
#include "engines/rma/epoch/flush_wait.h"
#include "engines/rma/epoch/owed.h"
#include "engines/rma/operation/near.h"
#include "engines/rma/rma.h"
#include "engines/rma/window/dynamic.h"
#include "engines/rma/window/epoch_type.h"
#include "engines/rma/window/spread.h"
#include "ghost/channel.h"
#include "ghost/gate.h"
#include "profile/counters.h"
#include "world/world.h"

#include <stdlib.h>

int hw_rma_raise(const struct hw_rma_window *window, int code)
{
    hw_rma_owed_pay();
    hw_real.Win_call_errhandler(window->handle, code);
    return code;
}

/* An error of our own messages, which no handler has seen. */
static int raise_if(const struct hw_rma_window *window, int rc)
{
    return rc == MPI_SUCCESS ? rc : hw_rma_raise(window, rc);
}

/* Of a call on the shadow window. */
static int pass(const struct hw_rma_window *window, int rc) { return hw_rma_pass(window, window->win, rc); }

/* Local loads and stores meet the ghost's, and what came to this process itself. */
static int synchronise(const struct hw_rma_window *window)
{
    int rc = pass(window, hw_real.Win_sync(window->win));
    return rc == MPI_SUCCESS && window->dynamic ? hw_real.Win_sync(window->handle) : rc;
}

static bool is_target(const struct hw_rma_window *window, int rank)
{
    return rank >= 0 && rank < window->size;
}

/* Over libfabric MPICH and Intel MPI end a flush when their own side is done with a Put; it may reach the
 * ghost after a message that the program sends next (tests/mpi/completion_rma.c; on MPICH, which waits for a
 * target that computes, tests/mpi/dynamic.c). A Get behind it on the same connection cannot return before it
 * is there. */
static int confirm_puts(struct hw_rma_window *window, int ghost)
{
    if (!hw_rma_needs_confirmation || !hw_atomic_load_relaxed(&window->has_puts[ghost]))
        return MPI_SUCCESS;
    if (!window->is_multithreaded)
        hw_atomic_store_relaxed(&window->has_puts[ghost], 0);
    return pass(window, hw_real.Get(&window->confirmed, 1, HW_BYTE, ghost, 0, 1, HW_BYTE, window->win));
}

/* OWING: at the target, but for the confirmation of Puts (owed.h). */
enum completion { LOCALLY, AT_TARGET, OWING };

static int flush_ghost(struct hw_rma_window *window, int ghost, struct hw_ghost_bell *bell,
                       enum completion how)
{
    int rc = how == AT_TARGET ? confirm_puts(window, ghost) : MPI_SUCCESS;
    if (rc != MPI_SUCCESS)
        return rc;
    hw_ghost_bell_wait_begin(bell);
    hw_rma_flush_wait(window, ghost);
    rc = how == LOCALLY ? hw_real.Win_flush_local(ghost, window->win) : hw_real.Win_flush(ghost, window->win);
    hw_ghost_bell_wait_end(bell);
    rc = pass(window, rc);
    return rc == MPI_SUCCESS && how == OWING ? hw_rma_owe(window, ghost) : rc;
}

int hw_rma_confirm(struct hw_rma_window *window, int ghost)
{
    return flush_ghost(window, ghost, NULL, AT_TARGET);
}

/* In place of a flush where there is nothing to flush. A flush makes progress, and a program may wait in a
 * loop of them, or of lock and unlock, for what only its own progress brings about: what it sends may be what
 * lets another write to its window (tests/mpi/idle_flushes.c). */
static void make_progress_instead(void) { hw_ghost_channel_progress_sometimes(); }

/* The ghosts of a target's node that took operations since they were last flushed, whoever was the target. */
static int flush_spread(struct hw_rma_window *window, const struct hw_rma_target *target, enum completion how)
{
    const struct hw_rma_span *span = hw_rma_spread_span(window, target);
    uint32_t generation = hw_atomic_load_relaxed(&window->generation);
    int rc = MPI_SUCCESS;
    for (int ghost = span->first; ghost < span->first + span->count && rc == MPI_SUCCESS; ghost++) {
        _Atomic uint32_t *dirty = &window->spread->dirty[ghost];
        if (!window->is_multithreaded && hw_atomic_load_relaxed(dirty) != generation)
            continue;
        rc = flush_ghost(window, ghost, hw_rma_spread_bell(window, target, ghost), how);
        if (rc == MPI_SUCCESS && how != LOCALLY)
            hw_atomic_store_relaxed(dirty, 0);
    }
    return rc;
}

static int flush_target(struct hw_rma_window *window, int rank, enum completion how)
{
    struct hw_rma_target *target = &window->targets[rank];
    int rc = MPI_SUCCESS;
    if (hw_rma_is_dirty(window, target)) {
        rc = window->spread ? flush_spread(window, target, how)
                            : flush_ghost(window, target->ghost, target->bell, how);
        if (rc == MPI_SUCCESS)
            hw_atomic_store_relaxed(&target->dirty, 0);
    } else {
        make_progress_instead();
    }
    return rc == MPI_SUCCESS && window->dynamic ? hw_rma_dynamic_flush(window, rank, false) : rc;
}

/* A flush of all targets: the node's ghosts are waited for. */
static int wait_all(int (*flush)(MPI_Win win), const struct hw_rma_window *window)
{
    for (int i = 0; i < hw_world.own_node->ghost_count; i++)
        hw_ghost_bell_wait_begin(hw_ghost_bell_of(i));
    hw_rma_flush_wait(window, HW_RMA_EVERY_GHOST);
    int rc = flush(window->win);
    for (int i = 0; i < hw_world.own_node->ghost_count; i++)
        hw_ghost_bell_wait_end(hw_ghost_bell_of(i));
    return pass(window, rc);
}

static int flush_ghosts(struct hw_rma_window *window)
{
    if (!window->is_multithreaded && !hw_atomic_load_relaxed(&window->has_ops))
        return MPI_SUCCESS;
    int rc = MPI_SUCCESS;
    for (int i = 0; i < window->ghost_count && rc == MPI_SUCCESS; i++)
        rc = confirm_puts(window, i);
    return rc == MPI_SUCCESS ? wait_all(hw_real.Win_flush_all, window) : rc;
}

static int flush_everything(struct hw_rma_window *window)
{
    if (!hw_atomic_load_relaxed(&window->has_ops))
        make_progress_instead();
    if (!window->is_multithreaded && !hw_atomic_load_relaxed(&window->has_ops) && window->dynamic == NULL)
        return MPI_SUCCESS;
    int rc = flush_ghosts(window);
    if (rc == MPI_SUCCESS && window->dynamic)
        rc = hw_rma_dynamic_flush_all(window, false);
    if (rc != MPI_SUCCESS)
        return rc;
    uint32_t next = hw_atomic_load_relaxed(&window->generation) + 1;
    hw_atomic_store_relaxed(&window->generation, next ? next : 1);
    hw_atomic_store_relaxed(&window->has_ops, 0);
    hw_atomic_store_relaxed(&window->has_unready, 0);
    return rc;
}

/* ---- locks at the ghosts ---- */

static int acquire(const struct hw_rma_window *window, int rank, enum hw_ghost_lock lock)
{
    HW_COUNT(locks_redirected);
    return hw_ghost_gate_lock(window->targets[rank].ghost_in_world, window->id, rank, lock);
}

static int release(const struct hw_rma_window *window, int rank)
{
    return hw_ghost_gate_unlock(window->targets[rank].ghost_in_world, window->id, rank);
}

static uint32_t access_of(const struct hw_rma_window *window, int rank)
{
    return hw_atomic_load_relaxed(&window->targets[rank].access);
}

/* Changes a target's access if it is what it should be. */
static bool change_access(struct hw_rma_window *window, int rank, uint32_t from, uint32_t to)
{
    pthread_mutex_lock(&window->mutex);
    bool is_right = access_of(window, rank) == from;
    if (is_right)
        hw_atomic_store_relaxed(&window->targets[rank].access, to);
    pthread_mutex_unlock(&window->mutex);
    return is_right;
}

int hw_rma_open_target(struct hw_rma_window *window, int rank)
{
    pthread_mutex_lock(&window->mutex);
    bool is_lock_all = window->is_lock_all;
    pthread_mutex_unlock(&window->mutex);
    if (!is_lock_all)
        return hw_rma_raise(window, MPI_ERR_RMA_SYNC);
    int rc = acquire(window, rank, HW_GHOST_LOCK_SHARED);
    if (rc != MPI_SUCCESS)
        return hw_rma_raise(window, rc);
    /* Another thread may have taken one for the same target: one is enough. */
    if (!change_access(window, rank, HW_RMA_ACCESS_NONE, HW_RMA_ACCESS_LOCK_ALL))
        rc = release(window, rank);
    return raise_if(window, rc);
}

int hw_rma_lock(struct hw_rma_window *window, int lock_type, int rank, int assertion)
{
    if (!is_target(window, rank) || (lock_type != MPI_LOCK_SHARED && lock_type != MPI_LOCK_EXCLUSIVE)) {
        if (rank == HW_PROC_NULL)
            return MPI_SUCCESS;
        return hw_rma_raise(window, is_target(window, rank) ? MPI_ERR_LOCKTYPE : MPI_ERR_RANK);
    }
    int allowed = hw_rma_epoch_allow(window, HW_RMA_EPOCH_LOCK, "MPI_Win_lock");
    if (allowed != MPI_SUCCESS)
        return allowed;
    bool is_shared = lock_type == MPI_LOCK_SHARED;
    uint32_t access = is_shared ? HW_RMA_ACCESS_SHARED : HW_RMA_ACCESS_EXCLUSIVE;
    if (assertion & MPI_MODE_NOCHECK)
        access = HW_RMA_ACCESS_NOCHECK;
    pthread_mutex_lock(&window->mutex);
    bool is_right = access_of(window, rank) == HW_RMA_ACCESS_NONE && !window->is_lock_all;
    if (is_right)
        window->lock_count++;
    pthread_mutex_unlock(&window->mutex);
    if (!is_right)
        return hw_rma_raise(window, MPI_ERR_RMA_SYNC);
    int rc = MPI_SUCCESS;
    if (access != HW_RMA_ACCESS_NOCHECK)
        rc = raise_if(window,
                      acquire(window, rank, is_shared ? HW_GHOST_LOCK_SHARED : HW_GHOST_LOCK_EXCLUSIVE));
    if (rc == MPI_SUCCESS && rank == window->rank)
        rc = synchronise(window);
    change_access(window, rank, HW_RMA_ACCESS_NONE, access);
    return rc;
}

int hw_rma_unlock(struct hw_rma_window *window, int rank)
{
    if (!is_target(window, rank))
        return rank == HW_PROC_NULL ? MPI_SUCCESS : hw_rma_raise(window, MPI_ERR_RANK);
    uint32_t access = access_of(window, rank);
    if (access == HW_RMA_ACCESS_NONE || access > HW_RMA_ACCESS_NOCHECK)
        return hw_rma_raise(window, MPI_ERR_RMA_SYNC);
    int rc = flush_target(window, rank, AT_TARGET);
    if (rc == MPI_SUCCESS && rank == window->rank)
        rc = synchronise(window);
    if (rc != MPI_SUCCESS)
        return rc;
    pthread_mutex_lock(&window->mutex);
    hw_atomic_store_relaxed(&window->targets[rank].access, HW_RMA_ACCESS_NONE);
    window->lock_count--;
    pthread_mutex_unlock(&window->mutex);
    if (access == HW_RMA_ACCESS_NOCHECK)
        return MPI_SUCCESS;
    return raise_if(window, release(window, rank));
}

static void publish_open(struct hw_rma_window *window)
{
    hw_atomic_store_relaxed(&window->is_open, window->is_fence || window->is_nocheck_all);
}

int hw_rma_lock_all(struct hw_rma_window *window, int assertion)
{
    int allowed = hw_rma_epoch_allow(window, HW_RMA_EPOCH_LOCK_ALL, "MPI_Win_lock_all");
    if (allowed != MPI_SUCCESS)
        return allowed;
    pthread_mutex_lock(&window->mutex);
    bool is_right = !window->is_lock_all && window->lock_count == 0;
    if (is_right) {
        window->is_lock_all = true;
        window->is_nocheck_all = (assertion & MPI_MODE_NOCHECK) != 0;
        window->is_fence = false;
        publish_open(window);
    }
    pthread_mutex_unlock(&window->mutex);
    if (!is_right)
        return hw_rma_raise(window, MPI_ERR_RMA_SYNC);
    /* The program may load and store its own memory from here on; the others' locks can wait. */
    int rc = assertion & MPI_MODE_NOCHECK ? MPI_SUCCESS : hw_rma_open_target(window, window->rank);
    return rc == MPI_SUCCESS ? synchronise(window) : rc;
}

int hw_rma_unlock_all(struct hw_rma_window *window)
{
    if (!window->is_lock_all)
        return hw_rma_raise(window, MPI_ERR_RMA_SYNC);
    int rc = flush_everything(window);
    if (rc == MPI_SUCCESS)
        rc = synchronise(window);
    for (int rank = 0; rank < window->size && rc == MPI_SUCCESS; rank++)
        if (change_access(window, rank, HW_RMA_ACCESS_LOCK_ALL, HW_RMA_ACCESS_NONE))
            rc = raise_if(window, release(window, rank));
    pthread_mutex_lock(&window->mutex);
    window->is_lock_all = window->is_nocheck_all = false;
    publish_open(window);
    pthread_mutex_unlock(&window->mutex);
    return rc;
}

/* ---- flushes ---- */

static bool is_passive(const struct hw_rma_window *window, int rank)
{
    uint32_t access = access_of(window, rank);
    return window->is_lock_all || (access != HW_RMA_ACCESS_NONE && access <= HW_RMA_ACCESS_NOCHECK);
}

int hw_rma_flush(struct hw_rma_window *window, int rank)
{
    if (!is_target(window, rank))
        return rank == HW_PROC_NULL ? MPI_SUCCESS : hw_rma_raise(window, MPI_ERR_RANK);
    if (!is_passive(window, rank))
        return hw_rma_raise(window, MPI_ERR_RMA_SYNC);
    bool may_owe = hw_rma_owed_allows(window, &window->targets[rank]);
    return flush_target(window, rank, may_owe ? OWING : AT_TARGET);
}

int hw_rma_flush_local(struct hw_rma_window *window, int rank)
{
    if (!is_target(window, rank))
        return rank == HW_PROC_NULL ? MPI_SUCCESS : hw_rma_raise(window, MPI_ERR_RANK);
    if (!is_passive(window, rank))
        return hw_rma_raise(window, MPI_ERR_RMA_SYNC);
    struct hw_rma_target *target = &window->targets[rank];
    int rc = MPI_SUCCESS;
    if (hw_rma_is_dirty(window, target))
        rc = window->spread ? flush_spread(window, target, LOCALLY)
                            : flush_ghost(window, target->ghost, target->bell, LOCALLY);
    else
        make_progress_instead();
    return rc == MPI_SUCCESS && window->dynamic ? hw_rma_dynamic_flush(window, rank, true) : rc;
}

int hw_rma_flush_all(struct hw_rma_window *window)
{
    if (!window->is_lock_all && window->lock_count == 0)
        return hw_rma_raise(window, MPI_ERR_RMA_SYNC);
    return flush_everything(window);
}

int hw_rma_flush_local_all(struct hw_rma_window *window)
{
    if (!window->is_lock_all && window->lock_count == 0)
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

int hw_rma_sync(struct hw_rma_window *window) { return synchronise(window); }

/* ---- active target ---- */

int hw_rma_fence(struct hw_rma_window *window, int assertion)
{
    if (window->is_lock_all || window->lock_count > 0)
        return hw_rma_raise(window, MPI_ERR_RMA_SYNC);
    int rc = hw_rma_epoch_allow(window, HW_RMA_EPOCH_FENCE, "MPI_Win_fence");
    if (rc != MPI_SUCCESS)
        return rc;
    rc = flush_everything(window);
    if (rc == MPI_SUCCESS)
        rc = synchronise(window);
    if (rc == MPI_SUCCESS)
        rc = raise_if(window, hw_bottom.Barrier(window->users));
    if (rc == MPI_SUCCESS)
        rc = synchronise(window);
    pthread_mutex_lock(&window->mutex);
    window->is_fence = !(assertion & MPI_MODE_NOSUCCEED);
    publish_open(window);
    pthread_mutex_unlock(&window->mutex);
    return rc;
}

static int pscw_tag(const struct hw_rma_window *window, enum hw_rma_pscw what)
{
    return window->number * 2 + (int)what;
}

/* Nobody waits here for the message: the receiver may post its receive much later. */
static int signal(const struct hw_rma_window *window, int rank, enum hw_rma_pscw what)
{
    MPI_Request request;
    int rc = hw_bottom.Isend(NULL, 0, HW_BYTE, rank, pscw_tag(window, what), window->users, &request);
    return rc == MPI_SUCCESS ? hw_bottom.Request_free(&request) : rc;
}

/* The members of a group, as ranks of the window; the caller frees them. */
static int ranks_of(const struct hw_rma_window *window, MPI_Group group, int **ranks, int *count)
{
    int rc = hw_bottom.Group_size(group, count);
    if (rc != MPI_SUCCESS)
        return rc;
    int *own = malloc(((size_t)*count + 1) * sizeof *own);
    *ranks = malloc(((size_t)*count + 1) * sizeof **ranks);
    if (own == NULL || *ranks == NULL)
        rc = MPI_ERR_NO_MEM;
    for (int i = 0; rc == MPI_SUCCESS && i < *count; i++)
        own[i] = i;
    if (rc == MPI_SUCCESS)
        rc = hw_bottom.Group_translate_ranks(group, *count, own, window->group, *ranks);
    free(own);
    for (int i = 0; rc == MPI_SUCCESS && i < *count; i++)
        if ((*ranks)[i] == HW_UNDEFINED)
            rc = MPI_ERR_GROUP;
    if (rc != MPI_SUCCESS) {
        free(*ranks);
        *ranks = NULL;
    }
    return rc;
}

int hw_rma_post(struct hw_rma_window *window, MPI_Group group, int assertion)
{
    int *ranks, count;
    if (window->post_count >= 0)
        return hw_rma_raise(window, MPI_ERR_RMA_SYNC);
    int rc = hw_rma_epoch_allow(window, HW_RMA_EPOCH_PSCW, "MPI_Win_post");
    if (rc != MPI_SUCCESS)
        return rc;
    rc = ranks_of(window, group, &ranks, &count);
    if (rc != MPI_SUCCESS)
        return hw_rma_raise(window, rc);
    window->post_requests = calloc((size_t)count + 1, sizeof(MPI_Request));
    window->post_count = count;
    rc = window->post_requests ? synchronise(window) : MPI_ERR_NO_MEM;
    for (int i = 0; rc == MPI_SUCCESS && i < count; i++)
        rc = hw_bottom.Irecv(NULL, 0, HW_BYTE, ranks[i], pscw_tag(window, HW_RMA_PSCW_COMPLETE),
                             window->users, &window->post_requests[i]);
    for (int i = 0; rc == MPI_SUCCESS && i < count && !(assertion & MPI_MODE_NOCHECK); i++)
        rc = signal(window, ranks[i], HW_RMA_PSCW_POST);
    free(ranks);
    return raise_if(window, rc);
}

int hw_rma_start_access(struct hw_rma_window *window, MPI_Group group, int assertion)
{
    int *ranks, count;
    if (window->start_count >= 0 || window->is_lock_all || window->lock_count > 0)
        return hw_rma_raise(window, MPI_ERR_RMA_SYNC);
    int rc = hw_rma_epoch_allow(window, HW_RMA_EPOCH_PSCW, "MPI_Win_start");
    if (rc != MPI_SUCCESS)
        return rc;
    rc = ranks_of(window, group, &ranks, &count);
    if (rc != MPI_SUCCESS)
        return hw_rma_raise(window, rc);
    for (int i = 0; rc == MPI_SUCCESS && i < count && !(assertion & MPI_MODE_NOCHECK); i++)
        rc = hw_bottom.Recv(NULL, 0, HW_BYTE, ranks[i], pscw_tag(window, HW_RMA_PSCW_POST), window->users,
                            HW_STATUS_IGNORE);
    window->start_ranks = ranks;
    window->start_count = count;
    for (int i = 0; i < count; i++)
        change_access(window, ranks[i], HW_RMA_ACCESS_NONE, HW_RMA_ACCESS_STARTED);
    return raise_if(window, rc);
}

int hw_rma_complete(struct hw_rma_window *window)
{
    if (window->start_count < 0)
        return hw_rma_raise(window, MPI_ERR_RMA_SYNC);
    int rc = MPI_SUCCESS;
    for (int i = 0; rc == MPI_SUCCESS && i < window->start_count; i++)
        rc = flush_target(window, window->start_ranks[i], AT_TARGET);
    for (int i = 0; rc == MPI_SUCCESS && i < window->start_count; i++) {
        change_access(window, window->start_ranks[i], HW_RMA_ACCESS_STARTED, HW_RMA_ACCESS_NONE);
        rc = raise_if(window, signal(window, window->start_ranks[i], HW_RMA_PSCW_COMPLETE));
    }
    free(window->start_ranks);
    window->start_ranks = NULL;
    window->start_count = -1;
    return rc;
}

static int end_exposure(struct hw_rma_window *window)
{
    free(window->post_requests);
    window->post_requests = NULL;
    window->post_count = -1;
    return synchronise(window);
}

int hw_rma_wait(struct hw_rma_window *window)
{
    if (window->post_count < 0)
        return hw_rma_raise(window, MPI_ERR_RMA_SYNC);
    int rc = hw_bottom.Waitall(window->post_count, window->post_requests, HW_STATUSES_IGNORE);
    return rc == MPI_SUCCESS ? end_exposure(window) : hw_rma_raise(window, rc);
}

int hw_rma_test(struct hw_rma_window *window, int *flag)
{
    if (window->post_count < 0)
        return hw_rma_raise(window, MPI_ERR_RMA_SYNC);
    int rc = hw_bottom.Testall(window->post_count, window->post_requests, flag, HW_STATUSES_IGNORE);
    if (rc != MPI_SUCCESS)
        return hw_rma_raise(window, rc);
    return *flag ? end_exposure(window) : MPI_SUCCESS;
}

void hw_rma_unlock_all_at_end(struct hw_rma_window *window)
{
    if (window->is_lock_all)
        hw_rma_unlock_all(window);
    for (int rank = 0; rank < window->size && window->lock_count > 0; rank++)
        if (access_of(window, rank) != HW_RMA_ACCESS_NONE)
            hw_rma_unlock(window, rank);
    if (window->start_count >= 0)
        hw_rma_complete(window);
    if (window->post_count >= 0)
        hw_rma_wait(window);
}
