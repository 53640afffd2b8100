/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs whose causes of waiting are known, because what each rank computes is time and not work.
 * Usage: causes PATTERN ROUNDS COMPUTE_US BYTES, on two ranks or more; all but the first two do nothing in
 * patterns of two. */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int rank, size, rounds, compute_us, bytes;
static char *out, *in;

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void compute(int us)
{
    for (double end = now_s() + 1e-6 * us; now_s() < end;)
        ;
}

static void give(int tag) { MPI_Send(out, bytes, MPI_BYTE, 1 - rank, tag, MPI_COMM_WORLD); } /* site: send */

static void take(int tag)
{
    MPI_Recv(in, bytes, MPI_BYTE, 1 - rank, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* site: receive */
}

/* Each posts, computes the same, waits: nobody is late. */
static void symmetric(int round)
{
    MPI_Request requests[2];
    (void)round;
    if (rank > 1)
        return;
    MPI_Irecv(in, bytes, MPI_BYTE, 1 - rank, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, bytes, MPI_BYTE, 1 - rank, 1, MPI_COMM_WORLD, &requests[1]);
    compute(compute_us);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE); /* site: waitall */
}

/* The sender computes first, and is another one each time. True in the rank that is to receive. */
static bool is_given(int round)
{
    if (rank == round % 2) {
        compute(compute_us);
        give(2);
    }
    return rank == 1 - round % 2;
}

static void sender(int round)
{
    if (is_given(round))
        take(2);
}

/* The same, received from anybody. */
static void anybody(int round)
{
    if (!is_given(round))
        return;
    MPI_Recv(in, bytes, MPI_BYTE, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* site: anybody */
}

/* The same, the receive posted and waited for at once. */
static void posted(int round)
{
    MPI_Request request;
    if (!is_given(round))
        return;
    MPI_Irecv(in, bytes, MPI_BYTE, 1 - rank, 2, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE); /* site: wait */
}

/* The same, posted for anybody: two rounds waited for alone, two in an array. */
static void open_receive(int round)
{
    MPI_Request request;
    if (!is_given(round))
        return;
    MPI_Irecv(in, bytes, MPI_BYTE, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &request);
    if (round % 4 < 2)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    else
        MPI_Waitall(1, &request, MPI_STATUSES_IGNORE);
}

/* The receiver of something large computes first, and is another one each time. */
static void receiver(int round)
{
    if (rank > 1)
        return;
    if (rank == round % 2) {
        give(3);
    } else {
        compute(compute_us);
        take(3);
    }
}

/* Another rank each time computes before all meet. */
static void barrier(int round)
{
    if (rank == round % size)
        compute(compute_us);
    MPI_Barrier(MPI_COMM_WORLD); /* site: barrier */
}

/* The last rank always has more to compute. */
static void imbalance(int round)
{
    (void)round;
    int one = 1, sum = 0;
    compute(rank == size - 1 ? compute_us : compute_us / 10);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); /* site: allreduce */
}

/* A large message there and back, nothing computed: all there is to wait for is the message. */
static void message(int round)
{
    if (rank > 1)
        return;
    if (rank == round % 2)
        give(4);
    else
        take(4);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(int round);
    } patterns[] = {{"symmetric", symmetric}, {"sender", sender},       {"posted", posted},
                    {"anybody", anybody},     {"receiver", receiver},   {"barrier", barrier},
                    {"open", open_receive},   {"imbalance", imbalance}, {"message", message}};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc < 5 || size < 2)
        MPI_Abort(MPI_COMM_WORLD, 2);
    rounds = atoi(argv[2]);
    compute_us = atoi(argv[3]);
    bytes = atoi(argv[4]);
    out = calloc(1, (size_t)bytes);
    in = calloc(1, (size_t)bytes);
    for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++)
        for (int round = 0; strcmp(argv[1], patterns[i].name) == 0 && round < rounds; round++) {
            if (round % 16 == 0)
                MPI_Barrier(MPI_COMM_WORLD); /* site: together */
            patterns[i].run(round);
        }
    free(out);
    free(in);
    MPI_Finalize();
    if (rank == 0)
        printf("done\n");
    return 0;
}
