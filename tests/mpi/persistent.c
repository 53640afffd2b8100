/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: persistent requests: restarted, inactive in arrays, freed while active, never started, and
 * left over at MPI_Finalize; persistent collectives and partitioned messages where the MPI has them. */
#include "check.h"

enum { ROUNDS = 4, PARTITIONS = 8 };

static int *sent, *received;
static int peer;

static void restarted(void)
{
    MPI_Request requests[4] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    uint64_t digest = 0;
    MPI_Recv_init(received, LARGE_INTS, MPI_INT, peer, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Ssend_init(sent, LARGE_INTS, MPI_INT, peer, 1, MPI_COMM_WORLD, &requests[2]);
    for (unsigned round = 0; round < ROUNDS; round++) {
        check_fill(sent, LARGE_INTS, 10 * round + (unsigned)check_rank);
        if (round % 2 == 0) {
            MPI_Start(&requests[0]);
            MPI_Start(&requests[2]);
        } else {
            MPI_Request both[2] = {requests[0], requests[2]};
            MPI_Startall(2, both);
        }
        check_compute(COMPUTE_US);
        MPI_Status statuses[4];
        MPI_Waitall(4, requests, statuses);
        CHECK(requests[0] != MPI_REQUEST_NULL && requests[1] == MPI_REQUEST_NULL);
        CHECK(check_is_filled(received, LARGE_INTS, 10 * round + (unsigned)peer));
        digest ^= check_digest(received, LARGE_INTS * sizeof(int)) + round;
        int index = 0, count = 0, indices[4], done = 0;
        MPI_Waitany(4, requests, &index, &statuses[0]);
        CHECK(index == MPI_UNDEFINED);
        MPI_Testsome(4, requests, &count, indices, statuses);
        CHECK(count == MPI_UNDEFINED);
        MPI_Testall(4, requests, &done, statuses);
        CHECK(done);
        MPI_Wait(&requests[0], &statuses[0]);
        CHECK(requests[0] != MPI_REQUEST_NULL && statuses[0].MPI_SOURCE == MPI_ANY_SOURCE);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[2]);
    check_report("restarted", digest);
}

static void freed_while_active(void)
{
    MPI_Request send, receive;
    check_fill(sent, LARGE_INTS, 50u + (unsigned)check_rank);
    MPI_Send_init(sent, LARGE_INTS, MPI_INT, peer, 2, MPI_COMM_WORLD, &send);
    MPI_Irecv(received, LARGE_INTS, MPI_INT, peer, 2, MPI_COMM_WORLD, &receive);
    MPI_Start(&send);
    MPI_Request_free(&send);
    check_compute(COMPUTE_US);
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
    CHECK(check_is_filled(received, LARGE_INTS, 50u + (unsigned)peer));
    MPI_Barrier(MPI_COMM_WORLD);
    check_report("freed", check_digest(received, LARGE_INTS * sizeof(int)));
}

static void cancelled(void)
{
    MPI_Request request;
    MPI_Status status;
    int is_cancelled = 0;
    MPI_Recv_init(received, LARGE_INTS, MPI_INT, peer, 4242, MPI_COMM_WORLD, &request);
    MPI_Start(&request);
    check_compute(COMPUTE_US);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &is_cancelled);
    CHECK(is_cancelled);
    MPI_Request_free(&request);
    check_report("cancelled", (uint64_t)is_cancelled);
}

#ifdef HAVE_PARTITIONED
static void partitioned(void)
{
    MPI_Request requests[2];
    uint64_t digest = 0;
    MPI_Precv_init(received, PARTITIONS, LARGE_INTS / PARTITIONS, MPI_INT, peer, 3, MPI_COMM_WORLD,
                   MPI_INFO_NULL, &requests[0]);
    MPI_Psend_init(sent, PARTITIONS, LARGE_INTS / PARTITIONS, MPI_INT, peer, 3, MPI_COMM_WORLD, MPI_INFO_NULL,
                   &requests[1]);
    for (unsigned round = 0; round < ROUNDS; round++) {
        check_fill(sent, LARGE_INTS, 60 + 10 * round + (unsigned)check_rank);
        MPI_Start(&requests[0]);
        MPI_Start(&requests[1]);
        for (int i = 0; i < PARTITIONS; i++) {
            check_compute(COMPUTE_US / PARTITIONS);
            MPI_Pready((i * 3) % PARTITIONS, requests[1]);
        }
        int arrived = 0;
        while (!arrived)
            MPI_Parrived(requests[0], PARTITIONS - 1, &arrived);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
        CHECK(check_is_filled(received, LARGE_INTS, 60 + 10 * round + (unsigned)peer));
        digest ^= check_digest(received, LARGE_INTS * sizeof(int)) + round;
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    check_report("partitioned", digest);
}
#endif

#ifdef HAVE_PERSISTENT_COLLECTIVES
static void collective(void)
{
    MPI_Request request;
    uint64_t digest = 0;
    MPI_Allreduce_init(sent, received, LARGE_INTS, MPI_INT, MPI_BXOR, MPI_COMM_WORLD, MPI_INFO_NULL,
                       &request);
    for (unsigned round = 0; round < ROUNDS; round++) {
        check_fill(sent, LARGE_INTS, 90 + 10 * round + (unsigned)check_rank);
        MPI_Start(&request);
        check_compute(COMPUTE_US);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        digest ^= check_digest(received, LARGE_INTS * sizeof(int)) + round;
    }
    MPI_Request_free(&request);
    check_report("collective", digest);
}
#endif

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    check_begin();
    peer = check_rank ^ 1;
    sent = check_ints(LARGE_INTS);
    received = check_ints(LARGE_INTS);
    restarted();
    freed_while_active();
    cancelled();
#ifdef HAVE_PARTITIONED
    partitioned();
#endif
#ifdef HAVE_PERSISTENT_COLLECTIVES
    collective();
#endif
    /* Left over: inactive persistent requests when MPI ends. */
    MPI_Request left[2];
    MPI_Send_init(sent, LARGE_INTS, MPI_INT, peer, 9, MPI_COMM_WORLD, &left[0]);
    MPI_Recv_init(received, LARGE_INTS, MPI_INT, peer, 9, MPI_COMM_WORLD, &left[1]);
    MPI_Startall(2, left);
    MPI_Waitall(2, left, MPI_STATUSES_IGNORE);
    MPI_Finalize();
    check_report("finalized", 0);
    return 0;
}
