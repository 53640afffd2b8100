/* SPDX-License-Identifier: BSD-3-Clause */
/* Two ranks of a node exchange 4 MiB. What they do in each round is the argument's to say:
 *   both      both post, compute, and then wait
 *   late      rank 1 computes before it posts
 *   sends     rank 0 sends and waits at once; rank 1 has posted, and computes
 * Where rank 0 waits at once, rank 1 computes until that is about to wait, and a while longer.
 * A second argument is an empty directory.
 */
#include "../mpi/order.h"
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 5, BYTES = 4 << 20, SLEEP_MS = 100 };

/* Sleeping is computing as good as any: nothing of it is in MPI. */
static void compute(void) { order_sleep(SLEEP_MS); }

static void compute_until_it_waits(int round)
{
    order_await("waits", round);
    compute();
}

static void exchange(char *out, char *in, int rank, int both, int round)
{
    MPI_Request requests[2];
    if (rank == 1 && !both)
        compute_until_it_waits(round);
    MPI_Irecv(in, BYTES, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, BYTES, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD, &requests[1]);
    if (both)
        compute();
    else if (rank == 0)
        order_say("waits", round);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE); /* site: exchange */
}

static void one_way(char *out, char *in, int rank, int round)
{
    MPI_Request request;
    if (rank == 1) {
        MPI_Irecv(in, BYTES, MPI_CHAR, 0, 0, MPI_COMM_WORLD, &request);
        MPI_Barrier(MPI_COMM_WORLD);
        compute_until_it_waits(round);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Isend(out, BYTES, MPI_CHAR, 1, 0, MPI_COMM_WORLD, &request);
        order_say("waits", round);
        MPI_Wait(&request, MPI_STATUS_IGNORE); /* site: send */
    }
}

int main(int argc, char **argv)
{
    int rank;
    char *out = calloc(1, BYTES), *in = calloc(1, BYTES);

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc < 3 || !out || !in)
        MPI_Abort(MPI_COMM_WORLD, 2);
    order_directory = argv[2];
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (strcmp(argv[1], "sends") == 0)
            one_way(out, in, rank, i);
        else
            exchange(out, in, rank, strcmp(argv[1], "both") == 0, i);
    }
    if (rank == 0)
        puts("done");
    MPI_Finalize();
    return 0;
}
