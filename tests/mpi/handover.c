/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: requests posted by one thread are completed, cancelled by another, while a third is
 * inside a blocking call; the posting thread is gone by then. */
#include "check.h"

#include <pthread.h>

enum { ROUNDS = 8, BUSY_TAG = 50 };

static int *sent, *received, *unmatched;
static int peer;
static MPI_Request requests[3];

static void *post(void *argument)
{
    const unsigned *seed = argument;
    check_fill(sent, LARGE_INTS, *seed + (unsigned)check_rank);
    memset(received, 0, LARGE_INTS * sizeof(int));
    MPI_Irecv(received, LARGE_INTS, MPI_INT, peer, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(unmatched, LARGE_INTS, MPI_INT, peer, 4711, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(sent, LARGE_INTS, MPI_INT, peer, 1, MPI_COMM_WORLD, &requests[1]);
    return NULL;
}

static void *complete(void *argument)
{
    const unsigned *seed = argument;
    int is_cancelled = 0, index = -1, done = 0;
    MPI_Status status;
    MPI_Cancel(&requests[2]);
    MPI_Wait(&requests[2], &status);
    MPI_Test_cancelled(&status, &is_cancelled);
    CHECK(is_cancelled);
    if (*seed % 3 == 0) {
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    } else if (*seed % 3 == 1) {
        for (int i = 0; i < 2; i++)
            MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
    } else {
        while (!done)
            MPI_Testall(2, requests, &done, MPI_STATUSES_IGNORE);
    }
    return NULL;
}

/* Blocks in MPI until the peer has finished the round. */
static void *wait_for_peer(void *unused)
{
    int token;
    (void)unused;
    MPI_Recv(&token, 1, MPI_INT, peer, BUSY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return NULL;
}

static void run(void *(*what)(void *), unsigned *seed)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, what, seed) != 0)
        abort();
    pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
    int provided, token = 1;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    check_begin();
    CHECK(provided == MPI_THREAD_MULTIPLE);
    peer = check_rank ^ 1;
    sent = check_ints(LARGE_INTS);
    received = check_ints(LARGE_INTS);
    unmatched = check_ints(LARGE_INTS);
    for (unsigned seed = 0; seed < ROUNDS; seed++) {
        pthread_t blocked;
        if (pthread_create(&blocked, NULL, wait_for_peer, NULL) != 0)
            abort();
        run(post, &seed);
        check_compute(COMPUTE_US);
        run(complete, &seed);
        CHECK(check_is_filled(received, LARGE_INTS, seed + (unsigned)peer));
        MPI_Send(&token, 1, MPI_INT, peer, BUSY_TAG, MPI_COMM_WORLD);
        pthread_join(blocked, NULL);
    }
    check_report("handover", check_digest(received, LARGE_INTS * sizeof(int)));
    free(sent);
    free(received);
    free(unmatched);
    MPI_Finalize();
    return 0;
}
