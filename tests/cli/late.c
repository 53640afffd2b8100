/* SPDX-License-Identifier: BSD-3-Clause */
/* One rank of three comes late, and how the others come to wait for it. Who is late is a matter of order and
 * not of time: the late rank begins to sleep when each other has said, by a file, that it is about to wait,
 * or has nothing more to do. Usage: late DIRECTORY, which is empty. */
#include "../mpi/order.h"
#include <mpi.h>

enum { LATE = 2, SLEEP_MS = 1000 };

static int rank;

static void say(const char *part) { order_say(part, rank); }

static void come_late(const char *part)
{
    for (int other = 0; other < 3; other++)
        if (other != rank)
            order_await(part, other);
    order_sleep(SLEEP_MS);
}

/* Rank 2 is late, rank 1 waits for it, rank 0 for rank 1. */
static void chain(int *token)
{
    MPI_Barrier(MPI_COMM_WORLD); /* site: before chain */
    if (rank == LATE) {
        come_late("chain");
        MPI_Send(token, 1, MPI_INT, 1, 1, MPI_COMM_WORLD); /* site: late send */
    } else if (rank == 1) {
        say("chain");
        MPI_Recv(token, 1, MPI_INT, LATE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* site: middle */
        MPI_Send(token, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    } else {
        say("chain");
        MPI_Recv(token, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* site: end */
    }
}

/* Rank 0 waits for ranks 1 and 2 at once. */
static void several(int *tokens)
{
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Request requests[2];
    if (rank == 0) {
        MPI_Irecv(&tokens[0], 1, MPI_INT, 1, 2, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(&tokens[1], 1, MPI_INT, 2, 2, MPI_COMM_WORLD, &requests[1]);
        say("several");
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE); /* site: several */
        return;
    }
    if (rank == LATE)
        come_late("several");
    MPI_Isend(tokens, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, &requests[0]); /* site: to several */
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    if (rank != LATE)
        say("several");
}

/* All but rank 1 wait for it in a communicator in which ranks go backwards. */
static void collective(MPI_Comm backwards)
{
    int one = 1, sum = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1)
        come_late("collective");
    else
        say("collective");
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, backwards); /* site: allreduce */
}

/* The same, posted first and waited for then. */
static void nonblocking(MPI_Comm backwards)
{
    int one = 1, sum = 0;
    MPI_Request request;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1)
        come_late("nonblocking");
    MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, backwards, &request); /* site: iallreduce */
    if (rank != 1)
        say("nonblocking");
    MPI_Wait(&request, MPI_STATUS_IGNORE); /* site: wait for all */
}

int main(int argc, char **argv)
{
    int tokens[2] = {0, 0};
    MPI_Comm backwards;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    order_directory = argc > 1 ? argv[1] : ".";
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &backwards);
    chain(tokens);
    several(tokens);
    collective(backwards);
    nonblocking(backwards);
    MPI_Comm_free(&backwards);
    MPI_Finalize();
    if (rank == 0)
        printf("done\n");
    return 0;
}
