/* SPDX-License-Identifier: BSD-3-Clause */
/* Spawns so many of itself (default 2), which call MPI_Allreduce more often than it does. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { PARENTS_CALLS = 5, CHILDRENS_CALLS = 9 };

static void call(int count)
{
    int one = 1, sum = 0;
    for (int i = 0; i < count; i++)
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    MPI_Comm other;
    MPI_Init(&argc, &argv);
    int count = argc > 1 ? atoi(argv[1]) : 2;
    MPI_Comm_get_parent(&other);
    if (other == MPI_COMM_NULL) {
        call(PARENTS_CALLS);
        MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, count, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other,
                       MPI_ERRCODES_IGNORE);
        printf("spawned\n");
    } else {
        call(CHILDRENS_CALLS);
    }
    MPI_Barrier(other);
    MPI_Comm_disconnect(&other);
    MPI_Finalize();
    return 0;
}
