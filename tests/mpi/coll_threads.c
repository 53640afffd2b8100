/* SPDX-License-Identifier: BSD-3-Clause */
/* Arguments: bytes of a block. Description: two threads, each with nonblocking collectives on a communicator
 * of its own, at MPI_THREAD_MULTIPLE. Prints a digest of what each rank has. */
#include "coll.h"

#include <pthread.h>

enum { THREADS = 2, KINDS = 2, ROUNDS = DOORS };

struct worker {
    MPI_Comm comm;
    int index;
    unsigned *sent, *received[ROUNDS], *told[ROUNDS];
};

static int round_of(const struct worker *worker, int round) { return worker->index * ROUNDS + round; }

static void *work(void *argument)
{
    struct worker *worker = argument;
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Request requests[KINDS];
        for (int to = 0; to < size; to++)
            for (size_t i = 0; i < words; i++)
                worker->sent[(size_t)to * words + i] = pattern(rank, to, round_of(worker, round), i);
        for (size_t i = 0; rank == round % size && i < words; i++)
            worker->told[round][i] = pattern(rank, 0, round_of(worker, round), i);
        MPI_Ialltoall(worker->sent, (int)words, MPI_INT, worker->received[round], (int)words, MPI_INT,
                      worker->comm, &requests[0]);
        MPI_Ibcast(worker->told[round], (int)words, MPI_INT, round % size, worker->comm, &requests[1]);
        finish(&requests[0], round);
        finish(&requests[1], ROUNDS - 1 - round);
    }
    return NULL;
}

static void check(const struct worker *worker)
{
    for (int round = 0; round < ROUNDS; round++) {
        for (int from = 0; from < size; from++)
            for (size_t i = 0; i < words; i += 1 + words / 977)
                expect("alltoall", worker->received[round][(size_t)from * words + i],
                       pattern(from, rank, round_of(worker, round), i));
        for (size_t i = 0; i < words; i += 1 + words / 977)
            expect("bcast", worker->told[round][i], pattern(round % size, 0, round_of(worker, round), i));
    }
}

static void make_worker(struct worker *worker, int index)
{
    worker->index = index;
    MPI_Comm_dup(MPI_COMM_WORLD, &worker->comm);
    worker->sent = make(words * (size_t)size);
    for (int round = 0; round < ROUNDS; round++) {
        worker->received[round] = make(words * (size_t)size);
        worker->told[round] = make(words);
    }
}

static void free_worker(struct worker *worker)
{
    MPI_Comm_free(&worker->comm);
    free(worker->sent);
    for (int round = 0; round < ROUNDS; round++) {
        free(worker->received[round]);
        free(worker->told[round]);
    }
}

int main(int argc, char **argv)
{
    struct worker workers[THREADS];
    pthread_t threads[THREADS];
    start_with_level(argc, argv, MPI_THREAD_MULTIPLE);
    for (int i = 0; i < THREADS; i++)
        make_worker(&workers[i], i);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, &workers[i]);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++) {
        check(&workers[i]);
        free_worker(&workers[i]);
    }
    return say_and_end();
}
