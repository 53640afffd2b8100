/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: delete functions of a window's own attributes, which MPICH runs first of all in MPI_Win_free,
 * use that window as before. One that fails keeps it. */
#include "check.h"

enum { WORDS = 64 };

static long *memory;
static int ends;

/* One more at rank 0, and the caller's numbers at its right neighbour. */
static void operate(MPI_Win win)
{
    long one = 1, mine[WORDS], got[WORDS];
    for (int i = 0; i < WORDS; i++)
        mine[i] = 1000 * ends + 10 * i + check_rank;
    MPI_Win_lock_all(0, win);
    MPI_Accumulate(&one, 1, MPI_LONG, 0, 0, 1, MPI_LONG, MPI_SUM, win);
    MPI_Put(mine, WORDS, MPI_LONG, check_right, WORDS, WORDS, MPI_LONG, win);
    MPI_Win_flush_all(win);
    MPI_Get(got, WORDS, MPI_LONG, check_right, WORDS, WORDS, MPI_LONG, win);
    MPI_Win_unlock_all(win);
    CHECK(memcmp(got, mine, sizeof mine) == 0);
}

static void report(const char *name, MPI_Win win)
{
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, check_rank, 0, win);
    check_report(name, check_digest(memory, 2 * WORDS * sizeof *memory));
    MPI_Win_unlock(check_rank, win);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* It refuses. MPICH deletes the attribute all the same. */
static int deleted(MPI_Win win, int keyval, void *value, void *extra)
{
    (void)keyval, (void)value, (void)extra;
    ends++;
    operate(win);
    report("deleted", win);
    return MPI_ERR_OTHER;
}

int main(int argc, char **argv)
{
    int keyval;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    check_begin();
    MPI_Win_allocate(2 * WORDS * sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory,
                     &win);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, check_rank, 0, win);
    memset(memory, 0, 2 * WORDS * sizeof *memory);
    MPI_Win_unlock(check_rank, win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, deleted, &keyval, NULL);
    MPI_Win_set_attr(win, keyval, NULL);
    MPI_Win_free_keyval(&keyval);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    CHECK(MPI_Win_free(&win) != MPI_SUCCESS && win != MPI_WIN_NULL);
    operate(win);
    report("kept", win);
    CHECK(MPI_Win_free(&win) == MPI_SUCCESS && win == MPI_WIN_NULL);
    CHECK(ends == 1);
    MPI_Finalize();
    return 0;
}
