/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: one-sided operations that an MPI refuses, on a target of another node: each is refused with
 * the same class of error, and right ones around them do what they should. */
#include "check.h"

enum { COUNT = 8, ROUNDS = 20 };

static MPI_Win win;
static int target;

static void report(const char *name, int rc)
{
    int class = MPI_SUCCESS;
    if (rc != MPI_SUCCESS)
        MPI_Error_class(rc, &class);
    check_report(name, (uint64_t) class);
}

static void go_wrong(void)
{
    double values[COUNT] = {0};
    double *nothing = NULL;
    report("accumulate",
           MPI_Accumulate(values, 2 * COUNT, MPI_INT, target, 0, COUNT, MPI_DOUBLE, MPI_SUM, win));
    report("null accumulate",
           MPI_Accumulate(values, COUNT, MPI_DATATYPE_NULL, target, 0, COUNT, MPI_DOUBLE, MPI_SUM, win));
    report("no result", MPI_Fetch_and_op(values, nothing, MPI_DOUBLE, target, 0, MPI_SUM, win));
    report("nobody", MPI_Get(values, COUNT, MPI_DOUBLE, check_size, 0, COUNT, MPI_DOUBLE, win));
    report("no type", MPI_Get(values, COUNT, MPI_DATATYPE_NULL, target, 0, COUNT, MPI_DOUBLE, win));
}

static void go_right(double *memory, MPI_Datatype gaps)
{
    double values[COUNT], found = 0, got[COUNT / 2] = {0};
    for (int i = 0; i < COUNT; i++)
        values[i] = check_rank + i;
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Accumulate(values, COUNT, MPI_DOUBLE, target, 0, COUNT, MPI_DOUBLE, MPI_SUM, win);
        MPI_Accumulate(values, COUNT / 2, MPI_DOUBLE, target, 0, 1, gaps, MPI_SUM, win);
        MPI_Fetch_and_op(values, &found, MPI_DOUBLE, target, 1, MPI_SUM, win);
        MPI_Get(got, COUNT / 2, MPI_DOUBLE, target, 0, 1, gaps, win);
        check_compute(100);
        MPI_Win_flush(target, win);
    }
    MPI_Win_flush_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_sync(win);
    check_report("memory", check_digest(memory, COUNT * sizeof *memory));
}

int main(int argc, char **argv)
{
    double *memory;
    MPI_Datatype gaps;
    MPI_Init(&argc, &argv);
    check_begin();
    target = (check_rank + check_size / 2) % check_size;
    MPI_Type_vector(COUNT / 2, 1, 2, MPI_DOUBLE, &gaps);
    MPI_Type_commit(&gaps);
    MPI_Win_allocate(COUNT * sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    memset(memory, 0, COUNT * sizeof *memory);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    go_wrong();
    go_right(memory, gaps);
    go_wrong();
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    MPI_Type_free(&gaps);
    MPI_Finalize();
    return 0;
}
