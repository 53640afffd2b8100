/* SPDX-License-Identifier: BSD-3-Clause */
/* Epochs (MPI-4.1 sections 12.5 and 12.7): the real call, unless an engine takes it. Entries call these hooks
 * only while an engine is asked. */
#include "engines/engine.h"
#include "hooks.h"

int hw_win_fence(int assertion, MPI_Win win)
{
    int rc = hw_ask_win_fence(assertion, win);
    return rc != HW_DECLINES ? rc : hw_real.Win_fence(assertion, win);
}

int hw_win_post(MPI_Group group, int assertion, MPI_Win win)
{
    int rc = hw_ask_win_post(group, assertion, win);
    return rc != HW_DECLINES ? rc : hw_real.Win_post(group, assertion, win);
}

int hw_win_start(MPI_Group group, int assertion, MPI_Win win)
{
    int rc = hw_ask_win_start(group, assertion, win);
    return rc != HW_DECLINES ? rc : hw_real.Win_start(group, assertion, win);
}

int hw_win_complete(MPI_Win win)
{
    int rc = hw_ask_win_complete(win);
    return rc != HW_DECLINES ? rc : hw_real.Win_complete(win);
}

int hw_win_wait(MPI_Win win)
{
    int rc = hw_ask_win_wait(win);
    return rc != HW_DECLINES ? rc : hw_real.Win_wait(win);
}

int hw_win_test(MPI_Win win, int *flag)
{
    int rc = hw_ask_win_test(win, flag);
    return rc != HW_DECLINES ? rc : hw_real.Win_test(win, flag);
}

int hw_win_lock(int lock_type, int rank, int assertion, MPI_Win win)
{
    int rc = hw_ask_win_lock(lock_type, rank, assertion, win);
    return rc != HW_DECLINES ? rc : hw_real.Win_lock(lock_type, rank, assertion, win);
}

int hw_win_unlock(int rank, MPI_Win win)
{
    int rc = hw_ask_win_unlock(rank, win);
    return rc != HW_DECLINES ? rc : hw_real.Win_unlock(rank, win);
}

int hw_win_lock_all(int assertion, MPI_Win win)
{
    int rc = hw_ask_win_lock_all(assertion, win);
    return rc != HW_DECLINES ? rc : hw_real.Win_lock_all(assertion, win);
}

int hw_win_unlock_all(MPI_Win win)
{
    int rc = hw_ask_win_unlock_all(win);
    return rc != HW_DECLINES ? rc : hw_real.Win_unlock_all(win);
}

int hw_win_flush(int rank, MPI_Win win)
{
    int rc = hw_ask_win_flush(rank, win);
    return rc != HW_DECLINES ? rc : hw_real.Win_flush(rank, win);
}

int hw_win_flush_local(int rank, MPI_Win win)
{
    int rc = hw_ask_win_flush_local(rank, win);
    return rc != HW_DECLINES ? rc : hw_real.Win_flush_local(rank, win);
}

int hw_win_flush_all(MPI_Win win)
{
    int rc = hw_ask_win_flush_all(win);
    return rc != HW_DECLINES ? rc : hw_real.Win_flush_all(win);
}

int hw_win_flush_local_all(MPI_Win win)
{
    int rc = hw_ask_win_flush_local_all(win);
    return rc != HW_DECLINES ? rc : hw_real.Win_flush_local_all(win);
}

int hw_win_sync(MPI_Win win)
{
    int rc = hw_ask_win_sync(win);
    return rc != HW_DECLINES ? rc : hw_real.Win_sync(win);
}
