/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: arrays that mix null, small, large, inactive, persistent and generalized requests through each
 * of the calls that complete some of them; and a communicator freed while its messages are pending. */
#include "check.h"

enum { NOTHING, SMALL, LARGE, IDLE, PERSISTENT, GENERALIZED, LARGE_SEND, PERSISTENT_SEND, SMALL_SEND, COUNT };
enum { ACTIVE_COUNT = COUNT - 2 }; /* all but NOTHING and IDLE */

static int *sent[2], *received[2];
static int small_sent, small_received, idle;
static int peer;
static MPI_Request requests[COUNT], persistent[2];
static MPI_Status statuses[COUNT];
static bool is_seen[COUNT];

static int query(void *state, MPI_Status *status)
{
    (void)state;
    MPI_Status_set_elements(status, MPI_INT, 7);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = MPI_UNDEFINED;
    status->MPI_TAG = MPI_UNDEFINED;
    return MPI_SUCCESS;
}
static int release(void *state)
{
    (void)state;
    return MPI_SUCCESS;
}
static int cancel(void *state, int is_complete)
{
    (void)state;
    (void)is_complete;
    return MPI_SUCCESS;
}

static void post(unsigned seed)
{
    small_sent = (int)seed + check_rank;
    small_received = -1;
    for (int i = 0; i < 2; i++) {
        check_fill(sent[i], LARGE_INTS, seed + (unsigned)(i + 10 * check_rank));
        memset(received[i], 0, LARGE_INTS * sizeof(int));
    }
    memset(is_seen, 0, sizeof is_seen);
    requests[NOTHING] = MPI_REQUEST_NULL;
    MPI_Irecv(&small_received, 1, MPI_INT, peer, 1, MPI_COMM_WORLD, &requests[SMALL]);
    MPI_Irecv(received[0], LARGE_INTS, MPI_INT, peer, 2, MPI_COMM_WORLD, &requests[LARGE]);
    MPI_Recv_init(&idle, 1, MPI_INT, peer, 3, MPI_COMM_WORLD, &requests[IDLE]);
    requests[PERSISTENT] = persistent[0];
    requests[PERSISTENT_SEND] = persistent[1];
    MPI_Start(&requests[PERSISTENT]);
    MPI_Grequest_start(query, release, cancel, NULL, &requests[GENERALIZED]);
    MPI_Isend(sent[0], LARGE_INTS, MPI_INT, peer, 2, MPI_COMM_WORLD, &requests[LARGE_SEND]);
    MPI_Start(&requests[PERSISTENT_SEND]);
    MPI_Isend(&small_sent, 1, MPI_INT, peer, 1, MPI_COMM_WORLD, &requests[SMALL_SEND]);
    check_compute(COMPUTE_US);
    MPI_Grequest_complete(requests[GENERALIZED]);
}

static void note(int index, const MPI_Status *status)
{
    CHECK(index > NOTHING && index < COUNT && index != IDLE && !is_seen[index]);
    is_seen[index] = true;
    statuses[index] = *status;
}

static void verify(const char *name, unsigned seed)
{
    int count = -1;
    for (int i = 0; i < 2; i++)
        CHECK(check_is_filled(received[i], LARGE_INTS, seed + (unsigned)(i + 10 * peer)));
    CHECK(small_received == (int)seed + peer);
    MPI_Get_count(&statuses[LARGE], MPI_INT, &count);
    CHECK(count == LARGE_INTS && statuses[LARGE].MPI_TAG == 2);
    MPI_Get_count(&statuses[PERSISTENT], MPI_INT, &count);
    CHECK(count == LARGE_INTS && statuses[PERSISTENT].MPI_TAG == 4);
    MPI_Get_count(&statuses[GENERALIZED], MPI_INT, &count);
    CHECK(count == 7);
    CHECK(requests[PERSISTENT] == persistent[0] && requests[PERSISTENT_SEND] == persistent[1]);
    CHECK(requests[LARGE] == MPI_REQUEST_NULL && requests[GENERALIZED] == MPI_REQUEST_NULL);
    MPI_Request_free(&requests[IDLE]);
    check_report(name, check_digest(received[1], LARGE_INTS * sizeof(int)));
    MPI_Barrier(MPI_COMM_WORLD);
}

static void any(unsigned seed, bool is_blocking)
{
    post(seed);
    for (int left = ACTIVE_COUNT + 1; left > 0;) { /* once more than there are: then it says so */
        int index = -1, done = 1;
        MPI_Status status;
        if (is_blocking)
            MPI_Waitany(COUNT, requests, &index, &status);
        else
            MPI_Testany(COUNT, requests, &index, &done, &status);
        if (!done)
            continue;
        if (--left > 0)
            note(index, &status);
        else
            CHECK(index == MPI_UNDEFINED);
    }
    verify(is_blocking ? "Waitany" : "Testany", seed);
}

static void some(unsigned seed, bool is_blocking)
{
    post(seed);
    for (int left = ACTIVE_COUNT + 1; left > 0;) {
        int count = -1, indices[COUNT];
        MPI_Status those[COUNT];
        if (is_blocking)
            MPI_Waitsome(COUNT, requests, &count, indices, those);
        else
            MPI_Testsome(COUNT, requests, &count, indices, those);
        if (left == 1) {
            CHECK(count == MPI_UNDEFINED);
            break;
        }
        for (int i = 0; i < count; i++)
            note(indices[i], &those[i]);
        left -= count;
    }
    verify(is_blocking ? "Waitsome" : "Testsome", seed);
}

static void all(unsigned seed, bool is_blocking)
{
    int done = 0;
    post(seed);
    if (is_blocking)
        MPI_Waitall(COUNT, requests, statuses);
    while (!is_blocking && !done)
        MPI_Testall(COUNT, requests, &done, statuses);
    verify(is_blocking ? "Waitall" : "Testall", seed);
}

static void freed_communicator(void)
{
    MPI_Comm comm;
    MPI_Request pair[2];
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    check_fill(sent[0], LARGE_INTS, 70u + (unsigned)check_rank);
    MPI_Irecv(received[0], LARGE_INTS, MPI_INT, peer, 9, comm, &pair[0]);
    MPI_Isend(sent[0], LARGE_INTS, MPI_INT, peer, 9, comm, &pair[1]);
    MPI_Comm_free(&comm);
    check_compute(COMPUTE_US);
    MPI_Waitall(2, pair, MPI_STATUSES_IGNORE);
    CHECK(check_is_filled(received[0], LARGE_INTS, 70u + (unsigned)peer));
    check_report("Comm_free", check_digest(received[0], LARGE_INTS * sizeof(int)));
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    check_begin();
    peer = check_rank ^ 1;
    for (int i = 0; i < 2; i++) {
        sent[i] = check_ints(LARGE_INTS);
        received[i] = check_ints(LARGE_INTS);
    }
    MPI_Recv_init(received[1], LARGE_INTS, MPI_INT, peer, 4, MPI_COMM_WORLD, &persistent[0]);
    MPI_Send_init(sent[1], LARGE_INTS, MPI_INT, peer, 4, MPI_COMM_WORLD, &persistent[1]);
    any(10, true);
    any(20, false);
    some(30, true);
    some(40, false);
    all(50, true);
    all(60, false);
    freed_communicator();
    MPI_Request_free(&persistent[0]);
    MPI_Request_free(&persistent[1]);
    for (int i = 0; i < 2; i++) {
        free(sent[i]);
        free(received[i]);
    }
    MPI_Finalize();
    return 0;
}
