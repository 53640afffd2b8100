/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: partitioned HOW: partitioned messages between pairs of processes, and one-sided operations on
 * a window in turn. (Not between the start of a send and its last MPI_Pready: an MPI call that makes progress
 * there completes a send of Open MPI 5 too early, plain too.)
 *
 *   all      every process (also without an argument)
 *   first    the first pair alone; others send the same with MPI_Isend. Plain Open MPI 5 hangs in it. */
#include "check.h"

enum { ROUNDS = 3, PARTITIONS = 8, COUNT = 1024 };

static int *sent, *received, *base, peer;
static MPI_Win win;

static void make_requests(bool is_partitioned, MPI_Request requests[2])
{
    if (is_partitioned) {
        MPI_Precv_init(received, PARTITIONS, COUNT, MPI_INT, peer, 3, MPI_COMM_WORLD, MPI_INFO_NULL,
                       &requests[0]);
        MPI_Psend_init(sent, PARTITIONS, COUNT, MPI_INT, peer, 3, MPI_COMM_WORLD, MPI_INFO_NULL,
                       &requests[1]);
    } else {
        MPI_Recv_init(received, PARTITIONS * COUNT, MPI_INT, peer, 3, MPI_COMM_WORLD, &requests[0]);
        MPI_Send_init(sent, PARTITIONS * COUNT, MPI_INT, peer, 3, MPI_COMM_WORLD, &requests[1]);
    }
}

static void exchange(bool is_partitioned, unsigned round, MPI_Request requests[2])
{
    int one = 1;
    unsigned seed = 100 * round;
    check_fill(sent, PARTITIONS * COUNT, seed + (unsigned)check_rank);
    for (int i = 0; i < PARTITIONS; i++)
        MPI_Accumulate(&one, 1, MPI_INT, (check_rank + i) % check_size, 0, 1, MPI_INT, MPI_SUM, win);
    MPI_Startall(2, requests);
    for (int i = 0; is_partitioned && i < PARTITIONS; i++)
        MPI_Pready(i, requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    CHECK(check_is_filled(received, PARTITIONS * COUNT, seed + (unsigned)peer));
    check_report("received", check_digest(received, PARTITIONS * COUNT * sizeof(int)));
}

int main(int argc, char **argv)
{
    MPI_Request requests[2];
    MPI_Init(&argc, &argv);
    check_begin();
    peer = check_rank ^ 1;
    bool is_partitioned = argc < 2 || strcmp(argv[1], "first") != 0 || check_rank < 2;
    sent = check_ints(PARTITIONS * COUNT);
    received = check_ints(PARTITIONS * COUNT);
    MPI_Win_allocate(COUNT * sizeof *base, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    *base = 0;
    MPI_Win_fence(0, win);
    make_requests(is_partitioned, requests);
    for (unsigned round = 0; round < ROUNDS; round++)
        exchange(is_partitioned, round, requests);
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    MPI_Win_fence(0, win);
    check_report("counted", (uint64_t)*base);
    MPI_Win_free(&win);
    free(sent);
    free(received);
    MPI_Finalize();
    return 0;
}
