/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: threads that make, use and free windows of their own communicators at the same time, each of
 * other sizes. With the argument "in turn" one thread after the other does. */
#include "check.h"

#include <pthread.h>

enum { THREADS = 3, ROUNDS = 20 };

static MPI_Comm comms[THREADS];

static void use(MPI_Comm comm, int count, long sent)
{
    int rank, size;
    long *memory;
    MPI_Win win;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Win_allocate(count * (MPI_Aint)sizeof *memory, sizeof *memory, MPI_INFO_NULL, comm, &memory, &win);
    for (int i = 0; i < count; i++)
        memory[i] = -1;
    MPI_Win_fence(0, win);
    long own = sent + rank;
    MPI_Put(&own, 1, MPI_LONG, (rank + 1) % size, count - 1, 1, MPI_LONG, win);
    MPI_Win_fence(0, win);
    CHECK(memory[count - 1] == sent + (rank + size - 1) % size);
    for (int i = 0; i < count - 1; i++)
        CHECK(memory[i] == -1);
    MPI_Win_free(&win);
}

static void *run(void *argument)
{
    int index = (int)(intptr_t)argument;
    for (int round = 0; round < ROUNDS; round++)
        use(comms[index], (index + 1) * 300 + round, (index + 1) * 10000L + round * 100);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    bool is_in_turn = argc > 1 && strcmp(argv[1], "in turn") == 0;
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    check_begin();
    CHECK(provided == MPI_THREAD_MULTIPLE);
    for (intptr_t i = 0; i < THREADS; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
        pthread_create(&threads[i], NULL, run, (void *)i);
        if (is_in_turn)
            pthread_join(threads[i], NULL);
    }
    for (int i = 0; i < THREADS && !is_in_turn; i++)
        pthread_join(threads[i], NULL);
    check_report("windows", THREADS * ROUNDS);
    for (int i = 0; i < THREADS; i++)
        MPI_Comm_free(&comms[i]);
    MPI_Finalize();
    return 0;
}
