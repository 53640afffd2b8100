/* Description: until FILE: makes a window, says so, and sleeps until FILE is there. */
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
    MPI_Win_fence(0, win);
    check_report("at-work", 0);
    while (access(argv[1], F_OK) != 0)
        usleep(20000);
    MPI_Accumulate(&one, 1, MPI_INT, check_right, 0, 1, MPI_INT, MPI_SUM, win);
    MPI_Win_fence(0, win);
    check_report("counted", (uint64_t)*base);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
