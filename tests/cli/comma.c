/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes numbers as its user's language does, and goes to another directory. */
#include <locale.h>
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    setlocale(LC_ALL, "");
    MPI_Init(&argc, &argv);
    if (chdir("/") != 0)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    printf("%.1f\n", 0.5);
    MPI_Finalize();
    return 0;
}
