/* SPDX-License-Identifier: BSD-3-Clause */
/* Two ranks exchange structs with gaps, and bytes without, at known lines. Argument: rounds. */
#include <mpi.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 8192 };

struct particle {
    double mass;
    int kind;
    double position[2];
};

static MPI_Datatype particle(void)
{
    const int lengths[] = {1, 1, 2};
    const MPI_Aint places[] = {offsetof(struct particle, mass), offsetof(struct particle, kind),
                               offsetof(struct particle, position)};
    const MPI_Datatype types[] = {MPI_DOUBLE, MPI_INT, MPI_DOUBLE};
    MPI_Datatype made;
    MPI_Type_create_struct(3, lengths, places, types, &made);
    MPI_Type_commit(&made);
    return made;
}

int main(int argc, char **argv)
{
    int rank, rounds = argc > 1 ? atoi(argv[1]) : 0;
    static struct particle out[COUNT], in[COUNT];
    static char bytes[COUNT];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Datatype type = particle();
    int other = 1 - rank;
    for (int i = 0; i < COUNT; i++)
        out[i] = (struct particle){rank, i, {i, -i}};
    for (int round = 0; round < rounds; round++) {
        MPI_Request request;
        MPI_Irecv(in, COUNT, type, other, 0, MPI_COMM_WORLD, &request); /* site: irecv */
        MPI_Send(out, COUNT, type, other, 0, MPI_COMM_WORLD);           /* site: send */
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Isend(out, COUNT, type, other, 1, MPI_COMM_WORLD, &request); /* site: isend */
        MPI_Recv(in, COUNT, type, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        if (rank == 0)
            MPI_Send(bytes, COUNT, MPI_CHAR, other, 2, MPI_COMM_WORLD); /* site: dense */
        else
            MPI_Recv(bytes, COUNT, MPI_CHAR, other, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    int wrong = 0;
    for (int i = 0; i < COUNT; i++)
        wrong += in[i].mass != other || in[i].kind != i || in[i].position[1] != -i;
    MPI_Type_free(&type);
    printf("rank %d wrong %d\n", rank, wrong);
    MPI_Finalize();
    return wrong != 0;
}
