/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 0 goes to MPI_Finalize at once; the others make windows, use them with locks, and free them. */
#include "check.h"

enum { WINDOWS = 5, ROUNDS = 20 };

static void use(MPI_Comm others, int size)
{
    long *memory;
    MPI_Win win;
    MPI_Win_allocate(sizeof *memory, sizeof *memory, MPI_INFO_NULL, others, &memory, &win);
    *memory = 0;
    MPI_Barrier(others);
    for (int round = 0; round < ROUNDS; round++) {
        long one = 1, found;
        int target = round % size;
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win);
        MPI_Get(&found, 1, MPI_LONG, target, 0, 1, MPI_LONG, win);
        MPI_Win_flush(target, win);
        found += one;
        MPI_Put(&found, 1, MPI_LONG, target, 0, 1, MPI_LONG, win);
        MPI_Win_unlock(target, win);
    }
    MPI_Barrier(others);
    check_report("count", (uint64_t)*memory);
    MPI_Win_free(&win);
}

int main(int argc, char **argv)
{
    MPI_Comm others;
    MPI_Init(&argc, &argv);
    check_begin();
    MPI_Comm_split(MPI_COMM_WORLD, check_rank == 0 ? MPI_UNDEFINED : 0, check_rank, &others);
    for (int i = 0; i < WINDOWS && check_rank > 0; i++)
        use(others, check_size - 1);
    if (check_rank > 0)
        MPI_Comm_free(&others);
    MPI_Finalize();
    return 0;
}
