/* SPDX-License-Identifier: BSD-3-Clause */
/* Asserts that it uses no wildcards and that lengths are equal. Rank 1 then receives with the wildcard that
 * is its argument, or with `length` more than is sent, with `short` less. */
#include "check.h"

int main(int argc, char **argv)
{
    static int many[1000] = {7};
    int rank, value = 7;
    MPI_Init(&argc, &argv);
    MPI_Comm comm = check_seal(MPI_COMM_WORLD);
    MPI_Comm_set_name(comm, "mine");
    MPI_Comm_rank(comm, &rank);
    int is_source = argc > 1 && strcmp(argv[1], "MPI_ANY_SOURCE") == 0;
    int is_short = argc > 1 && strcmp(argv[1], "short") == 0;
    if (rank == 1 && argc > 1 && strcmp(argv[1], "length") == 0) {
        MPI_Recv(many, 1000, MPI_INT, 0, 3, comm, MPI_STATUS_IGNORE);
        value = many[0];
    } else if (rank == 1)
        MPI_Recv(&value, 1, MPI_INT, is_source ? MPI_ANY_SOURCE : 0, is_source || is_short ? 3 : MPI_ANY_TAG,
                 comm, MPI_STATUS_IGNORE);
    else if (is_short)
        MPI_Send(many, 1000, MPI_INT, 1, 3, comm);
    else
        MPI_Send(&value, 1, MPI_INT, 1, 3, comm);
    MPI_Barrier(comm);
    printf("rank %d has %d\n", rank, value);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}
