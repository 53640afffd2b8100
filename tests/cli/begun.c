/* SPDX-License-Identifier: BSD-3-Clause */
/* Says on standard error when all ranks have started, and on standard output when it ends. */
#include <mpi.h>
#include <stdio.h>
#include <time.h>

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL); /* what was said before is passed on */
    if (rank == 0) {
        fputs("begun\n", stderr);
        fflush(stderr);
    }
    puts("ended");
    MPI_Finalize();
    return 0;
}
