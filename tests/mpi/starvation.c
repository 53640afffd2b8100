/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: processes that take a shared lock again and again, and hold it for a while, until they see
 * what another writes under an exclusive one. */
#include "check.h"

#include <unistd.h>

enum { HOLD_US = 80 * 1000, ROUNDS_MAX = 60 };

int main(int argc, char **argv)
{
    long *base, seen = 0, one = 1;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    check_begin();
    int target = check_size - 1, writer = check_size - 2;
    MPI_Win_allocate(sizeof *base, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, check_rank, 0, win);
    *base = 0;
    MPI_Win_unlock(check_rank, win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank == writer) {
        usleep(2 * HOLD_US);
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win);
        MPI_Put(&one, 1, MPI_LONG, target, 0, 1, MPI_LONG, win);
        MPI_Win_unlock(target, win);
    }
    if (check_rank < writer)
        usleep((unsigned)check_rank * HOLD_US / (unsigned)writer); /* never all at once without */
    for (int i = 0; check_rank < writer && !seen && i < ROUNDS_MAX; i++) {
        MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win);
        MPI_Get(&seen, 1, MPI_LONG, target, 0, 1, MPI_LONG, win);
        MPI_Win_flush(target, win);
        usleep(HOLD_US);
        MPI_Win_unlock(target, win);
    }
    check_report("seen", (uint64_t)(check_rank < writer ? seen : 1));
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
