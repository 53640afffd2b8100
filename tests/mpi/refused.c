/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: a window that is larger than any memory: the program hears of it, and goes on with a small
 * one. */
#include "check.h"

enum { COUNT = 64 };

int main(int argc, char **argv)
{
    int *base, target, sent;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    check_begin();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    CHECK(MPI_Win_allocate((MPI_Aint)1 << 46, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win) != MPI_SUCCESS);
    CHECK(MPI_Win_allocate(COUNT * sizeof *base, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win) ==
          MPI_SUCCESS);
    target = (check_rank + 1) % check_size;
    sent = check_rank + 1;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win);
    MPI_Put(&sent, 1, MPI_INT, target, COUNT - 1, 1, MPI_INT, win);
    MPI_Win_unlock(target, win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, check_rank, 0, win);
    check_report("sent", (uint64_t)base[COUNT - 1]);
    MPI_Win_unlock(check_rank, win);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
