/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 0 has rounds of one-sided operations on the last rank's memory, and waits for each; what that does
 * meanwhile is the argument's to say:
 *   computes   it sleeps, outside MPI, until rank 0 is about to act and a while longer, and then calls MPI
 *   waits      it is in MPI all the time
 *   fences     both meet in fences, to which it comes late
 * A second argument names the window: allocate, or create, over memory of the program's own; a third is an
 * empty directory. */
#include "../mpi/order.h"
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 12, COUNT = 512, STRIDE = 4, SLEEP_MS = 30 };

static double memory[COUNT * STRIDE];

static void act(MPI_Win win, MPI_Datatype type, int target)
{
    static double ones[COUNT];
    MPI_Accumulate(ones, COUNT, MPI_DOUBLE, target, 0, 1, type, MPI_SUM, win); /* site: act */
}

static void in_locks(MPI_Win win, MPI_Datatype type, int rank, int last, int does_compute)
{
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0) {
            if (does_compute)
                order_await("outside", i);
            order_say("acts", i);
            act(win, type, last);
            MPI_Win_flush(last, win); /* site: flush */
        } else if (rank == last && does_compute) {
            order_say("outside", i);
            order_await("acts", i);
            order_sleep(SLEEP_MS);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Win_unlock_all(win);
}

static void in_fences(MPI_Win win, MPI_Datatype type, int rank, int last)
{
    MPI_Win_fence(0, win);
    for (int i = 0; i < ROUNDS; i++) {
        if (rank == 0)
            act(win, type, last);
        else if (rank == last)
            order_sleep(SLEEP_MS);
        MPI_Win_fence(0, win); /* site: fence */
    }
}

int main(int argc, char **argv)
{
    int rank, size;
    double *base = memory;
    MPI_Datatype type;
    MPI_Win win;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc < 4)
        MPI_Abort(MPI_COMM_WORLD, 2);
    order_directory = argv[3];
    if (strcmp(argv[2], "create") == 0)
        MPI_Win_create(memory, sizeof memory, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    else
        MPI_Win_allocate(sizeof memory, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Type_vector(COUNT, 1, STRIDE, MPI_DOUBLE, &type); /* no MPI has the target's hardware do this */
    MPI_Type_commit(&type);
    if (strcmp(argv[1], "fences") == 0)
        in_fences(win, type, rank, size - 1);
    else
        in_locks(win, type, rank, size - 1, strcmp(argv[1], "computes") == 0);
    MPI_Type_free(&type);
    MPI_Win_free(&win);
    if (rank == 0)
        puts("done");
    MPI_Finalize();
    return 0;
}
