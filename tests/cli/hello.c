/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints who and where each rank is, then ping-pongs between the first and the last rank.
 * Usage: hello [BYTES [ROUNDS]]; one JSON object per rank. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double ping_pong(int rank, int last, char *buffer, int bytes, int rounds)
{
    double start = MPI_Wtime();
    for (int i = 0; i < rounds; i++) {
        if (rank == 0) {
            MPI_Send(buffer, bytes, MPI_CHAR, last, i, MPI_COMM_WORLD);
            MPI_Recv(buffer, bytes, MPI_CHAR, last, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else if (rank == last) {
            MPI_Recv(buffer, bytes, MPI_CHAR, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(buffer, bytes, MPI_CHAR, 0, i, MPI_COMM_WORLD);
        }
    }
    return (MPI_Wtime() - start) / rounds / 2.0;
}

int main(int argc, char **argv)
{
    int bytes = argc > 1 ? atoi(argv[1]) : 8;
    int rounds = argc > 2 ? atoi(argv[2]) : 10;
    int rank, size, length;
    char name[MPI_MAX_PROCESSOR_NAME];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Get_processor_name(name, &length);
    char *buffer = malloc((size_t)bytes + 1);
    if (!buffer)
        MPI_Abort(MPI_COMM_WORLD, 1);
    memset(buffer, rank, (size_t)bytes + 1);
    MPI_Barrier(MPI_COMM_WORLD);
    double seconds = size > 1 ? ping_pong(rank, size - 1, buffer, bytes, rounds) : 0.0;
    printf("{\"rank\": %d, \"size\": %d, \"host\": \"%s\", \"half_trip_us\": %.2f}\n", rank, size, name,
           seconds * 1e6);
    fflush(stdout);
    free(buffer);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
