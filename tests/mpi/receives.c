/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: receives that know less than the send: wildcards, larger buffers, other datatypes, matched
 * probes. */
#include "check.h"

static int *sent, *received;

/* Rank 0 receives from everybody with both wildcards; who came first is nobody's business. */
static void wildcards(void)
{
    uint64_t digest = 0;
    if (check_rank != 0) {
        MPI_Request request;
        check_fill(sent, LARGE_INTS, (unsigned)check_rank);
        MPI_Isend(sent, LARGE_INTS, MPI_INT, 0, 100 + check_rank, MPI_COMM_WORLD, &request);
        check_compute(COMPUTE_US);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    for (int i = 1; check_rank == 0 && i < check_size; i++) {
        MPI_Request request;
        MPI_Status status;
        int count;
        MPI_Irecv(received, 2 * LARGE_INTS, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
        check_compute(COMPUTE_US);
        MPI_Wait(&request, &status);
        MPI_Get_count(&status, MPI_INT, &count);
        CHECK(count == LARGE_INTS && status.MPI_TAG == 100 + status.MPI_SOURCE);
        CHECK(check_is_filled(received, LARGE_INTS, (unsigned)status.MPI_SOURCE));
        digest += check_digest(received, LARGE_INTS * sizeof(int));
    }
    check_report("wildcards", digest);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void derived_types(void)
{
    int peer = check_rank ^ 1, count;
    MPI_Datatype strided, blocks;
    MPI_Request requests[2];
    MPI_Status statuses[2];
    MPI_Type_vector(LARGE_INTS / 4, 2, 4, MPI_INT, &strided);
    MPI_Type_contiguous(LARGE_INTS / 8, MPI_INT, &blocks);
    MPI_Type_commit(&strided);
    MPI_Type_commit(&blocks);
    check_fill(sent, LARGE_INTS, (unsigned)check_rank);
    memset(received, 0x5a, 2 * LARGE_INTS * sizeof(int));
    MPI_Irecv(received, 6, blocks, peer, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(sent, 1, strided, peer, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Type_free(&strided); /* legal while the send is active */
    check_compute(COMPUTE_US);
    MPI_Waitall(2, requests, statuses);
    MPI_Get_count(&statuses[0], blocks, &count);
    CHECK(count == 4);
    check_report("derived", check_digest(received, 2 * LARGE_INTS * sizeof(int)));
    MPI_Type_free(&blocks);
}

static void matched_probe(bool is_blocking)
{
    int peer = check_rank ^ 1, found = 0, count;
    MPI_Request requests[2];
    MPI_Message message;
    MPI_Status status;
    check_fill(sent, LARGE_INTS, 7u + (unsigned)check_rank);
    MPI_Isend(sent, LARGE_INTS, MPI_INT, peer, 2, MPI_COMM_WORLD, &requests[0]);
    if (is_blocking)
        MPI_Mprobe(MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &message, &status);
    while (!is_blocking && !found)
        MPI_Improbe(peer, MPI_ANY_TAG, MPI_COMM_WORLD, &found, &message, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK(count == LARGE_INTS && status.MPI_SOURCE == peer);
    MPI_Imrecv(received, count, MPI_INT, &message, &requests[1]);
    CHECK(message == MPI_MESSAGE_NULL);
    check_compute(COMPUTE_US);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    CHECK(check_is_filled(received, LARGE_INTS, 7u + (unsigned)peer));
    check_report(is_blocking ? "mprobe" : "improbe", check_digest(received, LARGE_INTS * sizeof(int)));
    MPI_Barrier(MPI_COMM_WORLD);
}

static void nothing_at_all(void)
{
    MPI_Request requests[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status status;
    MPI_Irecv(received, LARGE_INTS, MPI_INT, MPI_PROC_NULL, 5, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(sent, LARGE_INTS, MPI_INT, MPI_PROC_NULL, 5, MPI_COMM_WORLD, &requests[1]);
    MPI_Wait(&requests[0], &status);
    CHECK(requests[0] == MPI_REQUEST_NULL);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    int index = 0, flag = 0;
    MPI_Waitany(3, requests, &index, &status);
    CHECK(index == MPI_UNDEFINED);
    MPI_Testany(0, NULL, &index, &flag, &status);
    CHECK(flag && index == MPI_UNDEFINED);
    MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE);
    check_report("null", 0);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    check_begin();
    sent = check_ints(2 * LARGE_INTS);
    received = check_ints(2 * LARGE_INTS);
    wildcards();
    derived_types();
    matched_probe(true);
    matched_probe(false);
    nothing_at_all();
    free(sent);
    free(received);
    MPI_Finalize();
    return 0;
}
