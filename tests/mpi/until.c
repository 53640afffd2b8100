/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: until FILE [busy]: makes a window, says so, and sleeps until FILE is there; busy: with a lock
 * now and then, which a ghost that serves the window keeps. */
#include "check.h"

#include <unistd.h>

int main(int argc, char **argv)
{
    int *base, one = 1;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    check_begin();
    MPI_Win_allocate(sizeof *base, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    *base = 0;
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    check_report("at-work", 0);
    while (access(argv[1], F_OK) != 0) {
        usleep(20000);
        if (argc > 2) {
            MPI_Win_lock(MPI_LOCK_SHARED, check_right, 0, win);
            MPI_Win_unlock(check_right, win);
        }
    }
    MPI_Win_fence(0, win);
    MPI_Accumulate(&one, 1, MPI_INT, check_right, 0, 1, MPI_INT, MPI_SUM, win);
    MPI_Win_fence(0, win);
    check_report("counted", (uint64_t)*base);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
