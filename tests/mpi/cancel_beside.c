/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: one thread waits for a receive that nobody sends to, as a thread that listens does, and
 * another cancels it; a large receive stays pending all the while. */
#include "check.h"

#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

enum { ROUNDS = 200, UNMATCHED_TAG = 99 };

static sem_t is_posted, is_over;
static MPI_Request listened;
static int *buffer;

static void *listen(void *unused)
{
    (void)unused;
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Request request;
        MPI_Status status;
        int is_cancelled = 0;
        MPI_Irecv(buffer, LARGE_INTS, MPI_INT, check_rank ^ 1, UNMATCHED_TAG, MPI_COMM_WORLD, &request);
        listened = request;
        sem_post(&is_posted);
        MPI_Wait(&request, &status);
        MPI_Test_cancelled(&status, &is_cancelled);
        CHECK(is_cancelled);
        sem_post(&is_over);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int provided, peer, *received;
    pthread_t listener;
    MPI_Request pending[2];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    check_begin();
    CHECK(provided == MPI_THREAD_MULTIPLE);
    sem_init(&is_posted, 0, 0);
    sem_init(&is_over, 0, 0);
    peer = check_rank ^ 1;
    buffer = check_ints(LARGE_INTS);
    received = check_ints(LARGE_INTS);
    int *sent = check_ints(LARGE_INTS);
    check_fill(sent, LARGE_INTS, (unsigned)check_rank);
    MPI_Irecv(received, LARGE_INTS, MPI_INT, peer, 0, MPI_COMM_WORLD, &pending[0]);
    pthread_create(&listener, NULL, listen, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        sem_wait(&is_posted);
        usleep((useconds_t)(i % 7 * 100));
        MPI_Request copy = listened;
        MPI_Cancel(&copy);
        sem_wait(&is_over);
        check_compute(500);
    }
    pthread_join(listener, NULL);
    MPI_Isend(sent, LARGE_INTS, MPI_INT, peer, 0, MPI_COMM_WORLD, &pending[1]);
    check_compute(COMPUTE_US);
    MPI_Waitall(2, pending, MPI_STATUSES_IGNORE);
    CHECK(check_is_filled(received, LARGE_INTS, (unsigned)peer));
    check_report("cancel-beside", ROUNDS);
    MPI_Finalize();
    return 0;
}
