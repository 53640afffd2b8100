/* SPDX-License-Identifier: BSD-3-Clause */
/* Synchronisation: what begins an epoch need not wait, what ends it, or a flush, does (MPI-4.1 section
 * 12.5). */
#include "engines/rma/deferred/calls.h"
#include "engines/rma/deferred/late.h"
#include "engines/rma/epoch/access.h"
#include "engines/rma/epoch/calls.h"
#include "engines/rma/epoch/epoch.h"
#include "engines/rma/window/calls.h"
#include "engines/rma/window/facts.h"
#include "engines/rma/window/table.h"
#include "real/constants.h"

/* Not where the program may load and store the memory of other processes itself: after MPI_Win_lock or
 * MPI_Win_start it does so without asking us. */
static bool may_defer(const struct hw_rma_window *window)
{
    return window->may_defer && !window->is_shown && window->flavor != MPI_WIN_FLAVOR_SHARED &&
           !hw_rma_may_have_threads();
}

/* What the call of the engine below returned, or the first error of an operation that was issued late. */
static int with_late_error(struct hw_rma_window *window, int rc)
{
    int error = hw_rma_late_take_error(window);
    return rc == MPI_SUCCESS && error != MPI_SUCCESS ? hw_rma_raise(window, error) : rc;
}

/* Before a call that needs RANK, or HW_RMA_LATE_ALL: NULL, and the call is the engine's below. */
static struct hw_rma_window *settle(MPI_Win win, int rank)
{
    struct hw_rma_window *window = hw_rma_find(win);
    if (window == NULL || window->deferred == NULL)
        return NULL;
    bool is_needed = rank == HW_RMA_LATE_ALL ? hw_rma_has_late(window)
                                             : hw_rma_is_target(window, rank) && hw_rma_is_late(window, rank);
    if (is_needed)
        hw_rma_late_settle(window, rank);
    return window;
}

static int start(MPI_Group group, int assertion, MPI_Win win)
{
    const int *ranks;
    int count;
    struct hw_rma_window *window = hw_rma_find(win);
    if (window == NULL)
        return HW_DECLINES;
    hw_rma_late_settle_fence(window);
    if ((assertion & MPI_MODE_NOCHECK) || !may_defer(window) || !hw_rma_late_reserve(window))
        return HW_DECLINES;
    int rc = hw_rma_start_begin(window, group, &ranks, &count);
    if (rc != MPI_SUCCESS)
        return rc;
    for (int i = 0; i < count && rc == MPI_SUCCESS; i++) {
        struct hw_ghost_later post = {.request = HW_REQUEST_NULL};
        rc = hw_rma_start_expect(window, ranks[i], &post.request);
        if (rc == MPI_SUCCESS)
            hw_rma_late_add(window, ranks[i], HW_RMA_LATE_POST, &post);
    }
    if (rc == MPI_SUCCESS) {
        hw_rma_late_look(window);
        return rc;
    }
    hw_rma_late_settle(window, HW_RMA_LATE_ALL);
    hw_rma_start_fail(window);
    return hw_rma_raise(window, rc);
}

static int complete(MPI_Win win)
{
    struct hw_rma_window *window = settle(win, HW_RMA_LATE_ALL);
    return window ? with_late_error(window, hw_rma_epoch_calls.win_complete(win)) : HW_DECLINES;
}

static int post(MPI_Group group, int assertion, MPI_Win win)
{
    (void)group, (void)assertion;
    struct hw_rma_window *window = hw_rma_find(win);
    if (window)
        hw_rma_late_settle_fence(window);
    return HW_DECLINES;
}

/* MPI_Win_lock of a late target is one too many, which the engine below does not see. */
static int lock(int lock_type, int rank, int assertion, MPI_Win win)
{
    struct hw_rma_window *window = hw_rma_find(win);
    if (window == NULL || !hw_rma_is_target(window, rank)) {
        hw_rma_late_settle_everything();
        return HW_DECLINES;
    }
    hw_rma_late_settle_fence(window);
    if (hw_rma_is_late(window, rank))
        return hw_rma_raise(window, MPI_ERR_RMA_SYNC);
    /* Two that are not granted yet would be had in any order: programs that lock in one order would lock
     * one another out. */
    hw_rma_late_settle_everything();
    if (lock_type != MPI_LOCK_EXCLUSIVE || (assertion & MPI_MODE_NOCHECK) || rank == window->rank ||
        !may_defer(window) || !hw_rma_late_reserve(window))
        return HW_DECLINES;
    struct hw_ghost_later grant;
    int rc;
    if (hw_rma_lock_ask(window, rank, &grant, &rc) == HW_DECLINED)
        return HW_DECLINES;
    if (rc != MPI_SUCCESS)
        return rc;
    hw_rma_late_add(window, rank, HW_RMA_LATE_GRANT, &grant);
    hw_rma_late_look(window);
    return MPI_SUCCESS;
}

static int unlock(int rank, MPI_Win win)
{
    struct hw_rma_window *window = settle(win, rank);
    return window ? with_late_error(window, hw_rma_epoch_calls.win_unlock(rank, win)) : HW_DECLINES;
}

static int lock_all(int assertion, MPI_Win win)
{
    (void)assertion;
    struct hw_rma_window *window = hw_rma_find(win);
    if (window)
        hw_rma_late_settle_fence(window);
    if (window == NULL || !hw_rma_has_late(window)) /* else it is an error */
        hw_rma_late_settle_everything();
    return HW_DECLINES;
}

/* All members give MPI_MODE_NOPRECEDE or none does (MPI-4.1 section 12.5.5), and may_defer is alike at all:
 * so all take this way or none. What is this process's alone decides only whether it waits. */
static int begin_fence(struct hw_rma_window *window, int assertion)
{
    MPI_Request barrier;
    if (!hw_rma_late_reserve(window))
        return hw_rma_raise(window, MPI_ERR_NO_MEM);
    int rc = hw_rma_fence_begin(window, &barrier);
    if (barrier == HW_REQUEST_NULL)
        return rc;
    hw_rma_late_add_fence(window, barrier, assertion);
    if (!may_defer(window) || (assertion & MPI_MODE_NOSUCCEED))
        hw_rma_late_settle(window, HW_RMA_LATE_ALL);
    else
        hw_rma_late_look(window);
    return rc;
}

static int fence(int assertion, MPI_Win win)
{
    struct hw_rma_window *window = hw_rma_find(win);
    if (window == NULL)
        return HW_DECLINES;
    hw_rma_late_settle_fence(window);
    if ((assertion & MPI_MODE_NOPRECEDE) && window->may_defer)
        return begin_fence(window, assertion);
    if (window->deferred == NULL)
        return HW_DECLINES;
    return with_late_error(window, hw_rma_epoch_calls.win_fence(assertion, win));
}

static int flush(int rank, MPI_Win win)
{
    struct hw_rma_window *window = settle(win, rank);
    return window ? with_late_error(window, hw_rma_epoch_calls.win_flush(rank, win)) : HW_DECLINES;
}

static int flush_local(int rank, MPI_Win win)
{
    struct hw_rma_window *window = settle(win, rank);
    return window ? with_late_error(window, hw_rma_epoch_calls.win_flush_local(rank, win)) : HW_DECLINES;
}

static int flush_all(MPI_Win win)
{
    struct hw_rma_window *window = settle(win, HW_RMA_LATE_ALL);
    return window ? with_late_error(window, hw_rma_epoch_calls.win_flush_all(win)) : HW_DECLINES;
}

static int flush_local_all(MPI_Win win)
{
    struct hw_rma_window *window = settle(win, HW_RMA_LATE_ALL);
    return window ? with_late_error(window, hw_rma_epoch_calls.win_flush_local_all(win)) : HW_DECLINES;
}

const struct hw_engine_epoch hw_rma_deferred_epochs = {
    .win_fence = fence,
    .win_post = post,
    .win_start = start,
    .win_complete = complete,
    .win_lock = lock,
    .win_unlock = unlock,
    .win_lock_all = lock_all,
    .win_flush = flush,
    .win_flush_local = flush_local,
    .win_flush_all = flush_all,
    .win_flush_local_all = flush_local_all,
};

/* Other epochs that are open make it an error, which is the engine's below. */
static int free_window(MPI_Win *win)
{
    struct hw_rma_window *window = win ? hw_rma_find(*win) : NULL;
    if (window == NULL)
        return HW_DECLINES;
    hw_rma_late_settle_fence(window);
    if (!hw_rma_has_late(window))
        hw_rma_late_forget(window);
    return HW_DECLINES;
}

const struct hw_engine_window hw_rma_deferred_windows = {.win_free = free_window};

bool hw_rma_deferred_window_place(MPI_Win *win, int *rank, struct hw_engine_place *place)
{
    (void)rank, (void)place;
    struct hw_rma_window *window = hw_rma_find(*win);
    if (window && hw_rma_has_late(window))
        hw_rma_late_settle(window, HW_RMA_LATE_ALL);
    return false;
}
