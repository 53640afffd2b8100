/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: a large exchange completed through each door of MPI, one case a door. */
#include "check.h"

enum { PAIRS = 3, REQUESTS = 2 * PAIRS };

static int *sent[PAIRS], *received[PAIRS];
static MPI_Request requests[REQUESTS];
static MPI_Status statuses[REQUESTS];
static int peer;

static void post(unsigned seed)
{
    for (int i = 0; i < PAIRS; i++) {
        check_fill(sent[i], LARGE_INTS, seed + (unsigned)(i + 10 * check_rank));
        memset(received[i], 0, LARGE_INTS * sizeof(int));
        MPI_Irecv(received[i], LARGE_INTS, MPI_INT, peer, i, MPI_COMM_WORLD, &requests[i]);
    }
    for (int i = 0; i < PAIRS; i++)
        MPI_Isend(sent[i], LARGE_INTS, MPI_INT, peer, i, MPI_COMM_WORLD, &requests[PAIRS + i]);
    check_compute(COMPUTE_US);
}

static void verify(const char *name, unsigned seed, bool has_statuses)
{
    uint64_t digest = 0;
    for (int i = 0; i < PAIRS; i++) {
        CHECK(check_is_filled(received[i], LARGE_INTS, seed + (unsigned)(i + 10 * peer)));
        digest ^= check_digest(received[i], LARGE_INTS * sizeof(int));
        if (!has_statuses)
            continue;
        int count = -1;
        MPI_Get_count(&statuses[i], MPI_INT, &count);
        CHECK(statuses[i].MPI_SOURCE == peer && statuses[i].MPI_TAG == i && count == LARGE_INTS);
    }
    for (int i = 0; i < REQUESTS; i++)
        CHECK(requests[i] == MPI_REQUEST_NULL);
    check_report(name, digest);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void singly(void)
{
    int done;
    post(1);
    for (int i = 0; i < REQUESTS; i++)
        MPI_Wait(&requests[i], &statuses[i]);
    verify("Wait", 1, true);
    post(2);
    for (int i = REQUESTS - 1; i >= 0; i--)
        for (done = 0; !done;)
            MPI_Test(&requests[i], &done, &statuses[i]);
    verify("Test", 2, true);
    post(3);
    for (int i = 0; i < REQUESTS; i++) {
        for (done = 0; !done;)
            MPI_Request_get_status(requests[i], &done, &statuses[i]);
        MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    }
    verify("Request_get_status", 3, true);
}

static void all_at_once(void)
{
    int done = 0;
    post(4);
    MPI_Waitall(REQUESTS, requests, statuses);
    verify("Waitall", 4, true);
    post(5);
    MPI_Waitall(REQUESTS, requests, MPI_STATUSES_IGNORE);
    verify("Waitall-ignore", 5, false);
    post(6);
    while (!done)
        MPI_Testall(REQUESTS, requests, &done, statuses);
    verify("Testall", 6, true);
}

static void any(bool is_blocking)
{
    post(7);
    for (int left = REQUESTS; left > 0;) {
        int index = -1, done = 1;
        MPI_Status status;
        if (is_blocking)
            MPI_Waitany(REQUESTS, requests, &index, &status);
        else
            MPI_Testany(REQUESTS, requests, &index, &done, &status);
        if (!done)
            continue;
        CHECK(index >= 0 && index < REQUESTS);
        statuses[index] = status;
        left--;
    }
    verify(is_blocking ? "Waitany" : "Testany", 7, true);
}

static void some(bool is_blocking)
{
    post(8);
    for (int left = REQUESTS; left > 0;) {
        int count = -1, indices[REQUESTS];
        MPI_Status those[REQUESTS];
        if (is_blocking)
            MPI_Waitsome(REQUESTS, requests, &count, indices, those);
        else
            MPI_Testsome(REQUESTS, requests, &count, indices, those);
        CHECK(count >= 0 && count <= left);
        for (int i = 0; i < count; i++)
            statuses[indices[i]] = those[i];
        left -= count;
    }
    verify(is_blocking ? "Waitsome" : "Testsome", 8, true);
}

#ifdef HAVE_GET_STATUS_ARRAYS
static void status_arrays(void)
{
    int done = 0, index = -1, count = 0, indices[REQUESTS];
    post(9);
    while (!done)
        MPI_Request_get_status_all(REQUESTS, requests, &done, statuses);
    MPI_Waitall(REQUESTS, requests, statuses);
    verify("Request_get_status_all", 9, true);
    post(10);
    for (done = 0; !done;)
        MPI_Request_get_status_any(REQUESTS, requests, &index, &done, &statuses[0]);
    CHECK(index >= 0 && index < REQUESTS);
    MPI_Waitall(REQUESTS, requests, statuses);
    verify("Request_get_status_any", 10, true);
    post(11);
    while (count < 1) /* MPICH 5.0 makes no progress for the others once one is complete */
        MPI_Request_get_status_some(REQUESTS, requests, &count, indices, statuses);
    CHECK(count <= REQUESTS);
    MPI_Waitall(REQUESTS, requests, statuses);
    verify("Request_get_status_some", 11, true);
}
#endif

/* The send is freed while active: its buffer stays until the peer says it has the data. */
static void freed_send(void)
{
    int token = 0;
    check_fill(sent[0], LARGE_INTS, 20u + (unsigned)check_rank);
    MPI_Irecv(received[0], LARGE_INTS, MPI_INT, peer, 90, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(sent[0], LARGE_INTS, MPI_INT, peer, 90, MPI_COMM_WORLD, &requests[1]);
    MPI_Request_free(&requests[1]);
    CHECK(requests[1] == MPI_REQUEST_NULL);
    check_compute(COMPUTE_US);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    CHECK(check_is_filled(received[0], LARGE_INTS, 20u + (unsigned)peer));
    MPI_Sendrecv(&token, 1, MPI_INT, peer, 91, &token, 1, MPI_INT, peer, 91, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    check_report("Request_free", check_digest(received[0], LARGE_INTS * sizeof(int)));
}

/* A cancelled receive among active ones; then a receive cancelled too late, which must deliver. */
static void cancelled_receive(void)
{
    int is_cancelled = 0;
    MPI_Request lonely;
    MPI_Status status;
    MPI_Irecv(received[1], LARGE_INTS, MPI_INT, peer, 4711, MPI_COMM_WORLD, &lonely);
    post(12);
    MPI_Cancel(&lonely);
    MPI_Wait(&lonely, &status);
    MPI_Test_cancelled(&status, &is_cancelled);
    CHECK(is_cancelled);
    MPI_Waitall(REQUESTS, requests, statuses);
    verify("Cancel", 12, true);
    post(13);
    for (int i = 0, done = 0; i < REQUESTS; i++, done = 0)
        while (!done)
            MPI_Request_get_status(requests[i], &done, &statuses[i]);
    for (int i = 0; i < PAIRS; i++)
        MPI_Cancel(&requests[i]);
    MPI_Waitall(REQUESTS, requests, statuses);
    MPI_Test_cancelled(&statuses[0], &is_cancelled);
    CHECK(!is_cancelled);
    verify("Cancel-late", 13, true);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    check_begin();
    peer = check_rank ^ 1;
    for (int i = 0; i < PAIRS; i++) {
        sent[i] = check_ints(LARGE_INTS);
        received[i] = check_ints(LARGE_INTS);
    }
    singly();
    all_at_once();
    any(true);
    any(false);
    some(true);
    some(false);
#ifdef HAVE_GET_STATUS_ARRAYS
    status_arrays();
#endif
    freed_send();
    cancelled_receive();
    for (int i = 0; i < PAIRS; i++) {
        free(sent[i]);
        free(received[i]);
    }
    MPI_Finalize();
    return 0;
}
