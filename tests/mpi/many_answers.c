/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: large operations on a process of the same node, each of which takes many answers of the ghost:
 * in the call that makes it (Open MPI's accumulates), until the request is complete, or until a flush of many
 * is. With naps of a ghost between two answers the job takes minutes. */
#include "check.h"

enum { COUNT = 512 * 1024, ROUNDS = 12, TARGET = 1, PUTS = 32, PUT_COUNT = COUNT / 4 };
enum { SIZE = 2 * COUNT + PUTS * PUT_COUNT };

/* In turns: by a call that waits, and by one that asks. */
static void complete(MPI_Request *request, int round)
{
    int is_complete = 0;
    if (round % 2 == 0)
        MPI_Wait(request, MPI_STATUS_IGNORE);
    else
        while (!is_complete)
            MPI_Test(request, &is_complete, MPI_STATUS_IGNORE);
}

static void run_round(MPI_Win win, int round, long *ones, long *result, uint64_t *digest)
{
    MPI_Request request;
    MPI_Raccumulate(ones, COUNT, MPI_LONG, TARGET, 0, COUNT, MPI_LONG, MPI_SUM, win, &request);
    complete(&request, round);
    MPI_Rget_accumulate(ones, COUNT, MPI_LONG, result, COUNT, MPI_LONG, TARGET, 0, COUNT, MPI_LONG, MPI_SUM,
                        win, &request);
    complete(&request, round);
    *digest += (uint64_t)(result[0] + result[COUNT - 1]); /* accumulates of one origin are ordered */
    MPI_Accumulate(ones, COUNT, MPI_LONG, TARGET, 0, COUNT, MPI_LONG, MPI_SUM, win);
    MPI_Win_flush(TARGET, win);
    MPI_Rput(ones, COUNT, MPI_LONG, TARGET, COUNT, COUNT, MPI_LONG, win, &request);
    complete(&request, round);
    MPI_Win_flush(TARGET, win);
    memset(result, 0, COUNT * sizeof *result);
    MPI_Rget(result, COUNT, MPI_LONG, TARGET, COUNT, COUNT, MPI_LONG, win, &request);
    complete(&request, round);
    for (int i = 0; i < COUNT; i++)
        *digest += (uint64_t)result[i];
    for (int i = 0; i < PUTS; i++)
        MPI_Put(ones, PUT_COUNT, MPI_LONG, TARGET, 2 * COUNT + i * PUT_COUNT, PUT_COUNT, MPI_LONG, win);
    MPI_Win_flush(TARGET, win);
}

int main(int argc, char **argv)
{
    long *base;
    uint64_t digest = 0;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    check_begin();
    MPI_Win_allocate(SIZE * sizeof *base, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, check_rank, 0, win);
    memset(base, 0, SIZE * sizeof *base);
    MPI_Win_unlock(check_rank, win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank == 0) {
        long *ones = malloc(COUNT * sizeof *ones), *result = malloc(COUNT * sizeof *result);
        for (int i = 0; i < COUNT; i++)
            ones[i] = 1;
        MPI_Win_lock(MPI_LOCK_SHARED, TARGET, 0, win);
        for (int round = 0; round < ROUNDS; round++)
            run_round(win, round, ones, result, &digest);
        MPI_Win_unlock(TARGET, win);
        free(ones);
        free(result);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, check_rank, 0, win);
    for (int i = 0; i < SIZE; i++)
        digest += (uint64_t)base[i];
    MPI_Win_unlock(check_rank, win);
    check_report("answers", digest);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
