/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: endless_rma [RANK]: accumulates on its neighbour until it is killed, or until RANK calls
 * MPI_Abort; says when it is at work. */
#include "check.h"

enum { AT_WORK = 20, AT_END = 100 };

int main(int argc, char **argv)
{
    int *base, one = 1, aborting = argc > 1 ? atoi(argv[1]) : -1;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    check_begin();
    MPI_Win_allocate(sizeof *base, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win_lock_all(0, win);
    for (int round = 1;; round = round < AT_END ? round + 1 : round) {
        MPI_Accumulate(&one, 1, MPI_INT, (check_rank + 1) % check_size, 0, 1, MPI_INT, MPI_SUM, win);
        MPI_Win_flush_all(win);
        if (round == AT_WORK)
            check_report("at-work", 0);
        if (round == AT_END && check_rank == aborting)
            MPI_Abort(MPI_COMM_WORLD, 7);
    }
}
