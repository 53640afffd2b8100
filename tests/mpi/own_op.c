/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: nonblocking and persistent reductions with an operation of the program, whose function takes a
 * lock that the program holds while it calls MPI functions that make no progress, as Python's interpreter
 * lock is held; large messages on the way all the while. */
#include "check.h"

#include <pthread.h>

enum { COUNT = 40000, ROUNDS = 6, CALLS = 400 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void add(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)type;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < *count; i++)
        ((int *)inout)[i] += ((int *)in)[i];
    pthread_mutex_unlock(&lock);
}

/* As long as the messages take, some of it under the lock. */
static void compute_and_ask(void)
{
    for (int call = 0, rank; call < CALLS; call++) {
        pthread_mutex_lock(&lock);
        check_compute(20);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        pthread_mutex_unlock(&lock);
        CHECK(rank == check_rank);
    }
}

static uint64_t reduce(MPI_Op op, bool is_persistent)
{
    uint64_t digest = 0;
    int peer = check_rank ^ 1;
    int *own = check_ints(COUNT), *sum = check_ints(COUNT);
    int *sent = check_ints(LARGE_INTS), *received = check_ints(LARGE_INTS);
    MPI_Request requests[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
#ifdef HAVE_PERSISTENT_COLLECTIVES
    if (is_persistent)
        MPI_Allreduce_init(own, sum, COUNT, MPI_INT, op, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
#endif
    for (int round = 0; round < ROUNDS; round++) {
        check_fill(own, COUNT, (unsigned)(round * 10 + check_rank));
        check_fill(sent, LARGE_INTS, (unsigned)(round * 10 + check_rank));
        MPI_Irecv(received, LARGE_INTS, MPI_INT, peer, 0, MPI_COMM_WORLD, &requests[1]);
        MPI_Isend(sent, LARGE_INTS, MPI_INT, peer, 0, MPI_COMM_WORLD, &requests[2]);
        if (is_persistent)
            MPI_Start(&requests[0]);
        else
            MPI_Iallreduce(own, sum, COUNT, MPI_INT, op, MPI_COMM_WORLD, &requests[0]);
        compute_and_ask();
        MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
        CHECK(check_is_filled(received, LARGE_INTS, (unsigned)(round * 10 + peer)));
        digest ^= check_digest(sum, COUNT * sizeof(int)) + (unsigned)round;
        /* without a reduction the thread is back */
        MPI_Irecv(received, LARGE_INTS, MPI_INT, peer, 1, MPI_COMM_WORLD, &requests[1]);
        MPI_Isend(sent, LARGE_INTS, MPI_INT, peer, 1, MPI_COMM_WORLD, &requests[2]);
        check_compute(COMPUTE_US);
        MPI_Waitall(2, requests + 1, MPI_STATUSES_IGNORE);
    }
    if (is_persistent)
        MPI_Request_free(&requests[0]);
    free(own);
    free(sum);
    free(sent);
    free(received);
    return digest;
}

int main(int argc, char **argv)
{
    MPI_Op op;
    MPI_Init(&argc, &argv);
    check_begin();
    MPI_Op_create(add, 1, &op);
    check_report("posted", reduce(op, false));
#ifdef HAVE_PERSISTENT_COLLECTIVES
    check_report("persistent", reduce(op, true));
#endif
    check_report("predefined", reduce(MPI_SUM, false));
    MPI_Op_free(&op);
    MPI_Finalize();
    return 0;
}
