/* SPDX-License-Identifier: BSD-3-Clause */
/* Epochs as engines are asked for them (MPI-4.1 sections 12.5 and 12.7). */
#include "engines/rma/epoch/calls.h"

#include "engines/rma/epoch/epoch.h"
#include "engines/rma/epoch/owed.h"
#include "engines/rma/epoch/under_way.h"
#include "engines/rma/window/table.h"

/* Of a window that ghosts serve. */
#define COMPLETED(target, call) HW_RMA_UNDER_WAY_COMPLETED(window, target, call)
#define ALL_COMPLETED(call) COMPLETED(HW_RMA_UNDER_WAY_EVERY_TARGET, call)

static int fence(int assertion, MPI_Win win)
{
    struct hw_rma_window *window = hw_rma_find(win);
    if (window == NULL)
        return HW_DECLINES;
    return ALL_COMPLETED(hw_rma_fence(window, assertion));
}

static int post(MPI_Group group, int assertion, MPI_Win win)
{
    struct hw_rma_window *window = hw_rma_find(win);
    if (window == NULL)
        return HW_DECLINES;
    return hw_rma_post(window, group, assertion);
}

static int start(MPI_Group group, int assertion, MPI_Win win)
{
    struct hw_rma_window *window = hw_rma_find(win);
    if (window == NULL)
        return HW_DECLINES;
    return hw_rma_start_access(window, group, assertion);
}

static int complete(MPI_Win win)
{
    struct hw_rma_window *window = hw_rma_find(win);
    if (window == NULL)
        return HW_DECLINES;
    return ALL_COMPLETED(hw_rma_complete(window));
}

static int wait_for(MPI_Win win)
{
    struct hw_rma_window *window = hw_rma_find(win);
    if (window == NULL)
        return HW_DECLINES;
    return hw_rma_wait(window);
}

static int test(MPI_Win win, int *flag)
{
    struct hw_rma_window *window = hw_rma_find(win);
    if (window == NULL)
        return HW_DECLINES;
    return hw_rma_test(window, flag);
}

static int lock(int lock_type, int rank, int assertion, MPI_Win win)
{
    struct hw_rma_window *window = hw_rma_find(win);
    if (window == NULL)
        return HW_DECLINES;
    return hw_rma_lock(window, lock_type, rank, assertion);
}

static int unlock(int rank, MPI_Win win)
{
    struct hw_rma_window *window = hw_rma_find(win);
    if (window == NULL)
        return HW_DECLINES;
    return COMPLETED(rank, hw_rma_unlock(window, rank));
}

static int lock_all(int assertion, MPI_Win win)
{
    struct hw_rma_window *window = hw_rma_find(win);
    if (window == NULL)
        return HW_DECLINES;
    return hw_rma_lock_all(window, assertion);
}

static int unlock_all(MPI_Win win)
{
    struct hw_rma_window *window = hw_rma_find(win);
    if (window == NULL)
        return HW_DECLINES;
    return ALL_COMPLETED(hw_rma_unlock_all(window));
}

static int flush(int rank, MPI_Win win)
{
    struct hw_rma_window *window = hw_rma_find(win);
    hw_rma_owed_before(window, rank);
    if (window == NULL)
        return HW_DECLINES;
    return COMPLETED(rank, hw_rma_flush(window, rank));
}

static int flush_local(int rank, MPI_Win win)
{
    struct hw_rma_window *window = hw_rma_find(win);
    if (window == NULL)
        return HW_DECLINES;
    return COMPLETED(rank, hw_rma_flush_local(window, rank));
}

static int flush_all(MPI_Win win)
{
    struct hw_rma_window *window = hw_rma_find(win);
    if (window == NULL)
        return HW_DECLINES;
    return ALL_COMPLETED(hw_rma_flush_all(window));
}

static int flush_local_all(MPI_Win win)
{
    struct hw_rma_window *window = hw_rma_find(win);
    if (window == NULL)
        return HW_DECLINES;
    return ALL_COMPLETED(hw_rma_flush_local_all(window));
}

static int sync(MPI_Win win)
{
    struct hw_rma_window *window = hw_rma_find(win);
    if (window == NULL)
        return HW_DECLINES;
    return hw_rma_sync(window);
}

const struct hw_engine_epoch hw_rma_epoch_calls = {
    .win_fence = fence,
    .win_post = post,
    .win_start = start,
    .win_complete = complete,
    .win_wait = wait_for,
    .win_test = test,
    .win_lock = lock,
    .win_unlock = unlock,
    .win_lock_all = lock_all,
    .win_unlock_all = unlock_all,
    .win_flush = flush,
    .win_flush_local = flush_local,
    .win_flush_all = flush_all,
    .win_flush_local_all = flush_local_all,
    .win_sync = sync,
};
