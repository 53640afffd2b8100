/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: a process waits in a loop of flushes that have nothing to flush, or of lock and unlock, for
 * what another writes to its window once it has received a message, of which only its sender can make
 * progress. */
#include "check.h"

enum { BYTES = 100 * 1024, KINDS = 6 }; /* rendezvous, yet below what the progress thread looks after */

static MPI_Win win;
static long *base;

static void loop_once(int kind, int other)
{
    if (kind == 0)
        MPI_Win_flush(other, win);
    else if (kind == 1)
        MPI_Win_flush_local(other, win);
    else if (kind == 2)
        MPI_Win_flush_all(win);
    else if (kind == 3)
        MPI_Win_flush_local_all(win);
    else if (kind == 4)
        MPI_Win_flush(check_rank, win);
    if (kind < KINDS - 1)
        return;
    MPI_Win_unlock_all(win);
    MPI_Win_lock(MPI_LOCK_SHARED, check_rank, MPI_MODE_NOCHECK, win);
    MPI_Win_unlock(check_rank, win);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
}

static void wait_for(int kind, int other)
{
    static char message[BYTES];
    MPI_Request request;
    MPI_Isend(message, BYTES, MPI_CHAR, other, kind, MPI_COMM_WORLD, &request);
    while (*(volatile long *)base != kind + 1)
        loop_once(kind, other);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void answer(int kind, int other)
{
    static char message[BYTES];
    long number = kind + 1;
    check_compute(COMPUTE_US); /* the other has begun to loop */
    MPI_Recv(message, BYTES, MPI_CHAR, other, kind, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Put(&number, 1, MPI_LONG, other, 0, 1, MPI_LONG, win);
    MPI_Win_flush(other, win);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    check_begin();
    int last = check_size - 1;
    MPI_Win_allocate(sizeof *base, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    *base = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
    for (int kind = 0; kind < KINDS; kind++) {
        if (check_rank == 0)
            wait_for(kind, last);
        else if (check_rank == last)
            answer(kind, 0);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Win_unlock_all(win);
    check_report("kinds", KINDS);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
