/* SPDX-License-Identifier: BSD-3-Clause */
/* Says `begun` when all ranks are there, then waits until the file of its argument is, for 30 s at most. */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int count, char **words)
{
    int rank;
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        puts("begun");
        fflush(stdout);
    }
    for (int i = 0; rank == 0 && access(words[1], F_OK) && i < 3000; i++)
        usleep(10000);
    MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Finalize();
}
