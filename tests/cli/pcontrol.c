/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: pcontrol ROUNDS: what is profiled between MPI_Pcontrol's levels. A request is pending, and a
 * persistent one defined, when the profile pauses. */
#include <mpi.h>
#include <stdlib.h>

enum { COUNT = 64 };

int main(int argc, char **argv)
{
    int rank, rounds = argc > 1 ? atoi(argv[1]) : 10, sent[COUNT] = {0}, received[COUNT];
    MPI_Request requests[2], kept;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int peer = rank ^ 1;
    MPI_Send_init(sent, COUNT, MPI_INT, peer, 1, MPI_COMM_WORLD, &kept);
    for (int i = 0; i < rounds; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    MPI_Irecv(received, COUNT, MPI_INT, peer, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(sent, COUNT, MPI_INT, peer, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Pcontrol(0);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 3 * rounds; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    MPI_Pcontrol(1);
    MPI_Pcontrol(2);
    for (int i = 0; i < rounds; i++) {
        MPI_Pcontrol(5);
        MPI_Start(&kept);
        MPI_Recv(received, COUNT, MPI_INT, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&kept, MPI_STATUS_IGNORE);
        MPI_Pcontrol(6);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Pcontrol(-6);
        MPI_Pcontrol(-5);
    }
    MPI_Pcontrol(-9);
    MPI_Request_free(&kept);
    MPI_Finalize();
    return 0;
}
