/* Description: accumulates on its neighbour until it is killed. */
#include "check.h"

int main(int argc, char **argv)
{
    int *base, one = 1;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    check_begin();
    MPI_Win_allocate(sizeof *base, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win_lock_all(0, win);
    for (;;) {
        MPI_Accumulate(&one, 1, MPI_INT, (check_rank + 1) % check_size, 0, 1, MPI_INT, MPI_SUM, win);
        MPI_Win_flush_all(win);
    }
}
