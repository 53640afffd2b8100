/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: a program that has all its memory locked, that of the future too, before it initializes MPI:
 * accumulates on a window. */
#include "check.h"

#include <sys/mman.h>

enum { TIMES = 20 };

int main(int argc, char **argv)
{
    int *memory, one = 1;
    MPI_Win win;
    if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0) /* forbidden: not locked, then */
        perror("mlockall");
    MPI_Init(&argc, &argv);
    check_begin();
    MPI_Win_allocate(sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    *memory = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < TIMES; i++) {
        MPI_Win_lock(MPI_LOCK_SHARED, check_right, 0, win);
        MPI_Accumulate(&one, 1, MPI_INT, check_right, 0, 1, MPI_INT, MPI_SUM, win);
        MPI_Win_unlock(check_right, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, check_rank, 0, win);
    check_report("locked", (uint64_t)*memory);
    MPI_Win_unlock(check_rank, win);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
