/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls MPI from known lines, a known number of times, so that a profile can be checked against it.
 * Usage: sites [ROUNDS]. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 32768 }; /* ints: 128 KiB */

static int outgoing[COUNT], incoming[COUNT];
static volatile double sink;

/* Real work, a few hundred microseconds. */
static void compute(void)
{
    double sum = 0.0;
    for (int i = 1; i < 200000; i++)
        sum += 1.0 / i;
    sink = sum;
}

static void exchange(int peer)
{
    MPI_Request requests[2];
    MPI_Irecv(incoming, COUNT, MPI_INT, peer, 1, MPI_COMM_WORLD, &requests[0]); /* site: irecv */
    MPI_Isend(outgoing, COUNT, MPI_INT, peer, 1, MPI_COMM_WORLD, &requests[1]); /* site: isend */
    compute();
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE); /* site: waitall */
}

static void at_once(int peer)
{
    MPI_Request requests[2];
    MPI_Irecv(incoming, COUNT, MPI_INT, peer, 2, MPI_COMM_WORLD, &requests[0]); /* site: at once */
    MPI_Isend(outgoing, COUNT, MPI_INT, peer, 2, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static void tested(int peer)
{
    int is_done = 0, index, count, indices[2];
    MPI_Request requests[2];
    MPI_Irecv(incoming, COUNT, MPI_INT, peer, 3, MPI_COMM_WORLD, &requests[0]); /* site: tested */
    MPI_Isend(outgoing, COUNT, MPI_INT, peer, 3, MPI_COMM_WORLD, &requests[1]);
    compute();
    while (!is_done)
        MPI_Test(&requests[0], &is_done, MPI_STATUS_IGNORE);
    MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
    MPI_Waitsome(2, requests, &count, indices, MPI_STATUSES_IGNORE);
}

/* Odd ranks come late. */
static void asked(int peer, int rank)
{
    int is_done = 0;
    MPI_Request requests[2];
    MPI_Irecv(incoming, COUNT, MPI_INT, peer, 7, MPI_COMM_WORLD, &requests[0]);
    for (int i = 0; rank % 2 && i < 5; i++)
        compute();
    MPI_Isend(outgoing, COUNT, MPI_INT, peer, 7, MPI_COMM_WORLD, &requests[1]);
    while (!is_done)
        MPI_Request_get_status(requests[0], &is_done, MPI_STATUS_IGNORE); /* site: asked */
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);                        /* site: after asking */
}

/* Sends that are complete at once may all have one handle. */
static void several_small(int peer)
{
    MPI_Request requests[8];
    for (int i = 0; i < 4; i++) {
        MPI_Irecv(incoming + i, 1, MPI_INT, peer, 6, MPI_COMM_WORLD, &requests[2 * i]);
        MPI_Isend(outgoing + i, 1, MPI_INT, peer, 6, MPI_COMM_WORLD, &requests[2 * i + 1]); /* site: small */
    }
    MPI_Waitall(8, requests, MPI_STATUSES_IGNORE); /* site: several small */
}

static void persistent(int peer, int rounds)
{
    MPI_Request requests[2];
    MPI_Recv_init(incoming, COUNT, MPI_INT, peer, 4, MPI_COMM_WORLD, &requests[0]);
    MPI_Send_init(outgoing, COUNT, MPI_INT, peer, 4, MPI_COMM_WORLD, &requests[1]);
    for (int i = 0; i < rounds; i++) {
        MPI_Startall(2, requests); /* site: startall */
        compute();
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

/* Completed one by one: their handles stay. */
static void persistent_by_one(int peer, int rounds)
{
    int index, is_any, done, count, indices[2];
    MPI_Request requests[2];
    MPI_Recv_init(incoming, COUNT, MPI_INT, peer, 5, MPI_COMM_WORLD, &requests[0]);
    MPI_Send_init(outgoing, COUNT, MPI_INT, peer, 5, MPI_COMM_WORLD, &requests[1]);
    for (int i = 0; i < rounds; i++) {
        MPI_Startall(2, requests); /* site: startall by one */
        done = 0;
        for (; i % 4 == 0 && done < 2; done++)
            MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE); /* site: persistent waitany */
        for (; i % 4 == 1 && done < 2; done += count)
            MPI_Waitsome(2, requests, &count, indices, MPI_STATUSES_IGNORE);
        for (; i % 4 == 2 && done < 2; done += is_any)
            MPI_Testany(2, requests, &index, &is_any, MPI_STATUS_IGNORE);
        for (; i % 4 == 3 && done < 2; done += count)
            MPI_Testsome(2, requests, &count, indices, MPI_STATUSES_IGNORE);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

static void collectives(void)
{
    int one = 1, sum = 0;
    MPI_Request request;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); /* site: allreduce */
    MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    compute();
    MPI_Wait(&request, MPI_STATUS_IGNORE); /* site: wait collective */
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, incoming, 1, MPI_INT, MPI_COMM_WORLD);
}

/* One communicator with a name, made and freed each time; one without. */
static void communicators(int rank)
{
    int one = 1, sum = 0;
    MPI_Comm named, alone;
    MPI_Comm_dup(MPI_COMM_WORLD, &named);
    MPI_Comm_set_name(named, "halo of the grid");
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, named);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, named);
    MPI_Comm_free(&named);
    MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &alone);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, alone);
    MPI_Comm_free(&alone);
}

static int free_inner(MPI_Comm comm, int keyval, void *inner, void *extra)
{
    (void)comm, (void)keyval, (void)extra;
    return MPI_Comm_free(inner);
}

/* A communicator that is freed with its owner; others may get its handle. */
static void cached(int rank)
{
    int keyval, one = 1, sum = 0;
    MPI_Comm owner, inner, others[2];
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_inner, &keyval, NULL);
    MPI_Comm_dup(MPI_COMM_WORLD, &owner);
    MPI_Comm_set_name(owner, "owner");
    MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &inner);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, inner);
    MPI_Comm_set_attr(owner, keyval, &inner);
    MPI_Comm_free(&owner);
    for (int i = 0; i < 2; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &others[i]);
        MPI_Comm_set_name(others[i], "anew");
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, others[i]);
    }
    MPI_Comm_free(&others[0]);
    MPI_Comm_free(&others[1]);
    MPI_Comm_free_keyval(&keyval);
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 5;
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < rounds; i++) {
        exchange(rank ^ 1);
        at_once(rank ^ 1);
        tested(rank ^ 1);
        asked(rank ^ 1, rank);
        several_small(rank ^ 1);
        collectives();
        communicators(rank);
        cached(rank);
    }
    persistent(rank ^ 1, rounds);
    persistent_by_one(rank ^ 1, rounds);
    MPI_Finalize();
    if (rank == 0)
        printf("done %d\n", rounds);
    return 0;
}
