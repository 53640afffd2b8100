/* Epochs (MPI-4.1 sections 12.5 and 12.7): the real call, unless ghosts serve the window. */
#include "engines/rma/epoch/owed.h"
#include "engines/rma/rma.h"
#include "hooks.h"
#include "mpi/under_way.h"

/* Of a window that ghosts serve. */
#define COMPLETED(target, call) HW_UNDER_WAY_COMPLETED(window, target, call)
#define ALL_COMPLETED(call) COMPLETED(HW_UNDER_WAY_EVERY_TARGET, call)

int hw_win_fence(int assertion, MPI_Win win)
{
    struct hw_rma_window *window = hw_rma_find(win);
    return window ? ALL_COMPLETED(hw_rma_fence(window, assertion)) : hw_real.Win_fence(assertion, win);
}

int hw_win_post(MPI_Group group, int assertion, MPI_Win win)
{
    struct hw_rma_window *window = hw_rma_find(win);
    return window ? hw_rma_post(window, group, assertion) : hw_real.Win_post(group, assertion, win);
}

int hw_win_start(MPI_Group group, int assertion, MPI_Win win)
{
    struct hw_rma_window *window = hw_rma_find(win);
    return window ? hw_rma_start_access(window, group, assertion) : hw_real.Win_start(group, assertion, win);
}

int hw_win_complete(MPI_Win win)
{
    struct hw_rma_window *window = hw_rma_find(win);
    return window ? ALL_COMPLETED(hw_rma_complete(window)) : hw_real.Win_complete(win);
}

int hw_win_wait(MPI_Win win)
{
    struct hw_rma_window *window = hw_rma_find(win);
    return window ? hw_rma_wait(window) : hw_real.Win_wait(win);
}

int hw_win_test(MPI_Win win, int *flag)
{
    struct hw_rma_window *window = hw_rma_find(win);
    return window ? hw_rma_test(window, flag) : hw_real.Win_test(win, flag);
}

int hw_win_lock(int lock_type, int rank, int assertion, MPI_Win win)
{
    struct hw_rma_window *window = hw_rma_find(win);
    return window ? hw_rma_lock(window, lock_type, rank, assertion)
                  : hw_real.Win_lock(lock_type, rank, assertion, win);
}

int hw_win_unlock(int rank, MPI_Win win)
{
    struct hw_rma_window *window = hw_rma_find(win);
    return window ? COMPLETED(rank, hw_rma_unlock(window, rank)) : hw_real.Win_unlock(rank, win);
}

int hw_win_lock_all(int assertion, MPI_Win win)
{
    struct hw_rma_window *window = hw_rma_find(win);
    return window ? hw_rma_lock_all(window, assertion) : hw_real.Win_lock_all(assertion, win);
}

int hw_win_unlock_all(MPI_Win win)
{
    struct hw_rma_window *window = hw_rma_find(win);
    return window ? ALL_COMPLETED(hw_rma_unlock_all(window)) : hw_real.Win_unlock_all(win);
}

int hw_win_flush(int rank, MPI_Win win)
{
    struct hw_rma_window *window = hw_rma_find(win);
    hw_rma_owed_before(window, rank);
    return window ? COMPLETED(rank, hw_rma_flush(window, rank)) : hw_real.Win_flush(rank, win);
}

int hw_win_flush_local(int rank, MPI_Win win)
{
    struct hw_rma_window *window = hw_rma_find(win);
    return window ? COMPLETED(rank, hw_rma_flush_local(window, rank)) : hw_real.Win_flush_local(rank, win);
}

int hw_win_flush_all(MPI_Win win)
{
    struct hw_rma_window *window = hw_rma_find(win);
    return window ? ALL_COMPLETED(hw_rma_flush_all(window)) : hw_real.Win_flush_all(win);
}

int hw_win_flush_local_all(MPI_Win win)
{
    struct hw_rma_window *window = hw_rma_find(win);
    return window ? ALL_COMPLETED(hw_rma_flush_local_all(window)) : hw_real.Win_flush_local_all(win);
}

int hw_win_sync(MPI_Win win)
{
    struct hw_rma_window *window = hw_rma_find(win);
    return window ? hw_rma_sync(window) : hw_real.Win_sync(win);
}
