/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: one thread of a program that may have more posts large receives, which the library may begin
 * late; then another thread calls MPI for the first time, and what was posted has begun. */
#include "check.h"

#include <pthread.h>
#include <stdatomic.h>

enum { ROUNDS = 4, DATA = 5, AFTER = 6 };

static int *sent, *received;
static int peer;
static atomic_bool is_posted;

static void exchange(const char *name)
{
    uint64_t digest = 0;
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Request requests[2];
        int size, rank;
        MPI_Aint lower, extent;
        check_fill(sent, LARGE_INTS, (unsigned)(check_rank + 10 * round));
        MPI_Irecv(received, LARGE_INTS, MPI_INT, peer, round, MPI_COMM_WORLD, &requests[0]);
        /* as bindings of other languages ask before the next post */
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Type_size(MPI_INT, &size);
        MPI_Type_get_extent(MPI_INT, &lower, &extent);
        CHECK(rank == check_rank && size == sizeof(int) && extent == sizeof(int));
        MPI_Isend(sent, LARGE_INTS, MPI_INT, peer, round, MPI_COMM_WORLD, &requests[1]);
        check_compute(COMPUTE_US);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        CHECK(check_is_filled(received, LARGE_INTS, (unsigned)(peer + 10 * round)));
        digest += check_digest(received, LARGE_INTS * sizeof(int));
    }
    check_report(name, digest);
}

/* Messages do not overtake: when the second one is here, the first one has met the receive. */
static void *probe(void *unused)
{
    int number, is_there;
    while (!atomic_load(&is_posted)) /* at once then: the library's own thread begins it before long */
        continue;
    MPI_Recv(&number, 1, MPI_INT, peer, AFTER, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Iprobe(peer, DATA, MPI_COMM_WORLD, &is_there, MPI_STATUS_IGNORE);
    CHECK(number == 1 && !is_there);
    return unused;
}

static void receive_beside_another_thread(void)
{
    pthread_t thread;
    MPI_Request request;
    CHECK(pthread_create(&thread, NULL, probe, NULL) == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Irecv(received, LARGE_INTS, MPI_INT, peer, DATA, MPI_COMM_WORLD, &request);
    atomic_store(&is_posted, true);
    pthread_join(thread, NULL);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(check_is_filled(received, LARGE_INTS, (unsigned)peer));
}

static void send_both(void)
{
    int number = 1;
    MPI_Request request;
    check_fill(sent, LARGE_INTS, (unsigned)check_rank);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Isend(sent, LARGE_INTS, MPI_INT, peer, DATA, MPI_COMM_WORLD, &request);
    MPI_Send(&number, 1, MPI_INT, peer, AFTER, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    CHECK(level == MPI_THREAD_MULTIPLE);
    check_begin();
    peer = check_rank ^ 1;
    sent = calloc(LARGE_INTS, sizeof *sent);
    received = calloc(LARGE_INTS, sizeof *received);
    exchange("one thread");
    if (check_rank == 0)
        receive_beside_another_thread();
    else
        send_both();
    exchange("afterwards");
    free(sent);
    free(received);
    MPI_Finalize();
    return 0;
}
