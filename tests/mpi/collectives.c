/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: every nonblocking collective, with computation before its completion, on intracommunicators,
 * a Cartesian topology and an intercommunicator; blocking calls in between. */
#include "check.h"

enum { SHARE = 8192 }; /* ints each process contributes to each other */

static int *sent, *received, *counts, *displs;
static MPI_Datatype *types;

static void finish(const char *name, MPI_Request *request)
{
    check_compute(COMPUTE_US / 2);
    MPI_Wait(request, MPI_STATUS_IGNORE);
    CHECK(*request == MPI_REQUEST_NULL);
    check_report(name, check_digest(received, (size_t)check_size * SHARE * sizeof(int)));
    check_fill(sent, (size_t)check_size * SHARE, (unsigned)check_rank + 3);
    memset(received, 0, (size_t)check_size * SHARE * sizeof(int));
}

static void rooted(MPI_Comm comm)
{
    MPI_Request request;
    int mine = counts[check_rank];
    if (check_rank == 1)
        check_fill(received, SHARE, 77);
    MPI_Ibcast(received, SHARE, MPI_INT, 1, comm, &request);
    finish("Ibcast", &request);
    MPI_Igather(sent, SHARE, MPI_INT, received, SHARE, MPI_INT, 0, comm, &request);
    finish("Igather", &request);
    MPI_Igatherv(sent, mine, MPI_INT, received, counts, displs, MPI_INT, 1, comm, &request);
    finish("Igatherv", &request);
    MPI_Iscatter(sent, SHARE, MPI_INT, received, SHARE, MPI_INT, 0, comm, &request);
    finish("Iscatter", &request);
    MPI_Iscatterv(sent, counts, displs, MPI_INT, received, mine, MPI_INT, 1, comm, &request);
    finish("Iscatterv", &request);
    MPI_Ireduce(sent, received, SHARE, MPI_INT, MPI_BXOR, 0, comm, &request);
    finish("Ireduce", &request);
}

static void symmetric(MPI_Comm comm)
{
    MPI_Request request;
    int mine = counts[check_rank], equal[64], bytes[64];
    CHECK(check_size <= 64);
    for (int i = 0; i < check_size; i++) {
        equal[i] = SHARE / 2;
        bytes[i] = displs[i] * (int)sizeof(int);
    }
    MPI_Ibarrier(comm, &request);
    finish("Ibarrier", &request);
    MPI_Iallgather(sent, SHARE, MPI_INT, received, SHARE, MPI_INT, comm, &request);
    finish("Iallgather", &request);
    MPI_Iallgatherv(sent, mine, MPI_INT, received, counts, displs, MPI_INT, comm, &request);
    finish("Iallgatherv", &request);
    MPI_Ialltoall(sent, SHARE, MPI_INT, received, SHARE, MPI_INT, comm, &request);
    finish("Ialltoall", &request);
    MPI_Ialltoallv(sent, equal, displs, MPI_INT, received, equal, displs, MPI_INT, comm, &request);
    finish("Ialltoallv", &request);
    MPI_Ialltoallw(sent, equal, bytes, types, received, equal, bytes, types, comm, &request);
    finish("Ialltoallw", &request);
    MPI_Iallreduce(sent, received, SHARE, MPI_INT, MPI_MAX, comm, &request);
    finish("Iallreduce", &request);
    MPI_Iallreduce(MPI_IN_PLACE, received, SHARE, MPI_INT, MPI_MIN, comm, &request);
    finish("Iallreduce-in-place", &request);
    MPI_Ireduce_scatter(sent, received, equal, MPI_INT, MPI_BXOR, comm, &request);
    finish("Ireduce_scatter", &request);
    MPI_Ireduce_scatter_block(sent, received, SHARE, MPI_INT, MPI_BXOR, comm, &request);
    finish("Ireduce_scatter_block", &request);
    MPI_Iscan(sent, received, SHARE, MPI_INT, MPI_BXOR, comm, &request);
    finish("Iscan", &request);
    MPI_Iexscan(sent, received, SHARE, MPI_INT, MPI_BXOR, comm, &request);
    if (check_rank == 0) { /* undefined there */
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        memset(received, 0, (size_t)check_size * SHARE * sizeof(int));
    }
    finish("Iexscan", &request);
}

static void neighbours(void)
{
    MPI_Comm ring;
    MPI_Request request;
    int periodic = 1, equal[2] = {SHARE / 2, SHARE / 2}, at[2] = {0, SHARE};
    MPI_Cart_create(MPI_COMM_WORLD, 1, &check_size, &periodic, 0, &ring);
    MPI_Ineighbor_allgather(sent, SHARE, MPI_INT, received, SHARE, MPI_INT, ring, &request);
    finish("Ineighbor_allgather", &request);
    MPI_Ineighbor_alltoall(sent, SHARE, MPI_INT, received, SHARE, MPI_INT, ring, &request);
    finish("Ineighbor_alltoall", &request);
    MPI_Ineighbor_alltoallv(sent, equal, at, MPI_INT, received, equal, at, MPI_INT, ring, &request);
    finish("Ineighbor_alltoallv", &request);
    MPI_Comm_free(&ring);
}

/* Odd against even ranks; p2p and a collective across. */
static void intercommunicator(void)
{
    MPI_Comm half, across;
    MPI_Request requests[2];
    int peers;
    MPI_Comm_split(MPI_COMM_WORLD, check_rank % 2, check_rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - check_rank % 2, 12, &across);
    MPI_Comm_remote_size(across, &peers);
    int mine;
    MPI_Comm_rank(half, &mine);
    if (mine < peers) {
        MPI_Irecv(received, SHARE, MPI_INT, mine, 1, across, &requests[0]);
        MPI_Isend(sent, SHARE, MPI_INT, mine, 1, across, &requests[1]);
        check_compute(COMPUTE_US);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Barrier(across);
    check_report("intercommunicator-p2p", check_digest(received, SHARE * sizeof(int)));
    MPI_Iallreduce(sent, received, SHARE, MPI_INT, MPI_BXOR, across, &requests[0]);
    finish("intercommunicator-Iallreduce", &requests[0]);
    MPI_Comm_free(&across);
    MPI_Comm_free(&half);
}

/* A communicator freed, and one made, while operations on it or before its use are pending. */
static void communicators(void)
{
    MPI_Comm copy, late;
    MPI_Request request;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Iallgather(sent, SHARE, MPI_INT, received, SHARE, MPI_INT, copy, &request);
    MPI_Comm_free(&copy);
    finish("freed-communicator", &request);
    MPI_Comm_idup(MPI_COMM_WORLD, &late, &request);
    finish("Comm_idup", &request);
    int size;
    MPI_Comm_size(late, &size);
    CHECK(size == check_size);
    MPI_Comm_free(&late);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    check_begin();
    size_t ints = (size_t)check_size * SHARE;
    sent = check_ints(ints);
    received = check_ints(ints);
    counts = check_ints((size_t)check_size);
    displs = check_ints((size_t)check_size);
    types = malloc((size_t)check_size * sizeof *types);
    for (int i = 0; i < check_size; i++) {
        counts[i] = SHARE / (1 + i);
        displs[i] = SHARE * i;
        types[i] = MPI_INT;
    }
    check_fill(sent, ints, (unsigned)check_rank);
    memset(received, 0, ints * sizeof(int));
    rooted(MPI_COMM_WORLD);
    symmetric(MPI_COMM_WORLD);
    neighbours();
    if (check_size > 1)
        intercommunicator();
    communicators();
    free(sent);
    free(received);
    free(counts);
    free(displs);
    free(types);
    MPI_Finalize();
    return 0;
}
