/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: a sealed communicator of the world, then a session with MPI_THREAD_MULTIPLE, where the MPI has
 * one. A thread exchanges messages on a communicator of the session, which asserts the same, beside the first
 * thread, which does so on the sealed one; with an argument one thread after the other. */
#include "check.h"

#include <pthread.h>

enum { ROUNDS = 100, MESSAGES = 4, SMALL_INTS = 4, MOVED_INTS = 20000 };

static int buffers[2][2][MESSAGES][MOVED_INTS]; /* by thread; what is sent, what is received */

struct part {
    MPI_Comm comm;
    int index;
};

static void *exchange(void *argument)
{
    const struct part *part = argument;
    MPI_Request requests[2 * MESSAGES], freed;
    int rank, size, wrong = 0;
    MPI_Comm_rank(part->comm, &rank);
    MPI_Comm_size(part->comm, &size);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    for (int round = 1; round <= ROUNDS; round++) {
        for (int i = 0; i < MESSAGES; i++)
            MPI_Irecv(buffers[part->index][1][i], i % 2 ? SMALL_INTS : MOVED_INTS, MPI_INT, left, i,
                      part->comm, &requests[i]);
        for (int i = 0; i < MESSAGES; i++) {
            int *sent = buffers[part->index][0][i], ints = i % 2 ? SMALL_INTS : MOVED_INTS;
            sent[0] = sent[ints - 1] = round * MESSAGES + i;
            MPI_Isend(sent, ints, MPI_INT, right, i, part->comm, &requests[MESSAGES + i]);
        }
        MPI_Waitall(2 * MESSAGES, requests, MPI_STATUSES_IGNORE);
        for (int i = 0; i < MESSAGES; i++) {
            const int *got = buffers[part->index][1][i];
            int last = (i % 2 ? SMALL_INTS : MOVED_INTS) - 1;
            wrong += got[0] != round * MESSAGES + i || got[last] != round * MESSAGES + i;
        }
        MPI_Isend(buffers[part->index][0][0], MOVED_INTS, MPI_INT, right, MESSAGES, part->comm, &freed);
        MPI_Request_free(&freed);
        MPI_Recv(buffers[part->index][1][1], MOVED_INTS, MPI_INT, left, MESSAGES, part->comm,
                 MPI_STATUS_IGNORE);
        wrong += buffers[part->index][1][1][0] != round * MESSAGES;
        MPI_Sendrecv(buffers[part->index][0][0], MOVED_INTS, MPI_INT, right, 9, buffers[part->index][1][0],
                     MOVED_INTS, MPI_INT, left, 9, part->comm, MPI_STATUS_IGNORE);
    }
    CHECK(wrong == 0);
    return NULL;
}

int main(int argc, char **argv)
{
    MPI_Session session;
    MPI_Info info;
    MPI_Group group;
    MPI_Comm plain;
    struct part parts[2] = {{.index = 0}, {.index = 1}};
    pthread_t thread;
    MPI_Init(&argc, &argv);
    check_begin();
    parts[0].comm = check_seal(MPI_COMM_WORLD);
    MPI_Info_create(&info);
    MPI_Info_set(info, "thread_level", "MPI_THREAD_MULTIPLE");
    MPI_Session_init(info, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Info_free(&info);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "beside", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &plain);
    parts[1].comm = check_seal(plain);
    bool has_threads = check_session_is_multiple(session), are_at_once = has_threads && argc == 1;
    if (are_at_once)
        CHECK(pthread_create(&thread, NULL, exchange, &parts[1]) == 0);
    else
        exchange(&parts[1]);
    exchange(&parts[0]);
    if (are_at_once)
        pthread_join(thread, NULL);
    check_report("has-threads", has_threads);
    MPI_Comm_free(&parts[1].comm);
    MPI_Comm_free(&plain);
    MPI_Group_free(&group);
    MPI_Session_finalize(&session);
    MPI_Comm_free(&parts[0].comm);
    MPI_Finalize();
    return 0;
}
