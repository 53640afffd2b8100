/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: MPI_Init, then a session with MPI_THREAD_MULTIPLE, where the MPI has one: two threads fence
 * two windows of the session's communicators at once; with an argument one after the other. */
#include "check.h"

#include <pthread.h>

enum { THREADS = 2, ROUNDS = 200, LONGS = 64, PLACE = 3 };

static MPI_Comm comms[THREADS];

static void *exchange(void *argument)
{
    MPI_Comm comm = *(MPI_Comm *)argument;
    MPI_Win win;
    long *memory, wrong = 0;
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Win_allocate(LONGS * sizeof *memory, sizeof *memory, MPI_INFO_NULL, comm, &memory, &win);
    memset(memory, 0, LONGS * sizeof *memory);
    MPI_Win_fence(0, win);
    for (long value = 1; value <= ROUNDS; value++) {
        MPI_Put(&value, 1, MPI_LONG, (rank + 1) % size, PLACE, 1, MPI_LONG, win);
        MPI_Win_fence(0, win);
        wrong += memory[PLACE] != value;
        MPI_Win_fence(0, win);
    }
    CHECK(wrong == 0);
    MPI_Win_free(&win);
    return NULL;
}

int main(int argc, char **argv)
{
    MPI_Session session;
    MPI_Info info;
    MPI_Group group;
    pthread_t threads[THREADS];
    MPI_Init(&argc, &argv);
    check_begin();
    MPI_Info_create(&info);
    MPI_Info_set(info, "thread_level", "MPI_THREAD_MULTIPLE");
    MPI_Session_init(info, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Info_free(&info);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    for (int i = 0; i < THREADS; i++) {
        char tag[16];
        snprintf(tag, sizeof tag, "thread %d", i);
        MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comms[i]);
    }
    bool has_threads = check_session_is_multiple(session), are_at_once = has_threads && argc == 1;
    for (int i = 0; i < THREADS; i++)
        if (are_at_once)
            CHECK(pthread_create(&threads[i], NULL, exchange, &comms[i]) == 0);
        else
            exchange(&comms[i]);
    for (int i = 0; are_at_once && i < THREADS; i++)
        pthread_join(threads[i], NULL);
    check_report("has-threads", has_threads);
    for (int i = 0; i < THREADS; i++)
        MPI_Comm_free(&comms[i]);
    MPI_Group_free(&group);
    MPI_Session_finalize(&session);
    MPI_Finalize();
    return 0;
}
