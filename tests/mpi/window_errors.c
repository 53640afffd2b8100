/* SPDX-License-Identifier: BSD-3-Clause */
/* Two windows: what is wrong with a call on one of them only that one's handler hears, or the call returns
 * it.
 */
#include "check.h"

#include <stdbool.h>

enum { WINDOWS = 2 };

static bool has_handler;
static int calls, last_class;
static MPI_Win heard;

static void hear(MPI_Win *win, int *code, ...)
{
    calls++;
    heard = *win;
    MPI_Error_class(*code, &last_class);
}

/* With a handler of the program's not by what the call returned: MPICH 5 returns MPI_SUCCESS then. */
static void expect(int wanted_class, MPI_Win win, int code)
{
    int class = MPI_SUCCESS;
    MPI_Error_class(code, &class);
    if (has_handler)
        CHECK(calls == 1 && heard == win && last_class == wanted_class);
    else
        CHECK(calls == 0 && class == wanted_class);
    calls = 0;
}

static void go_wrong(MPI_Win win)
{
    long value = 1, result;
    int target = (check_rank + 1) % check_size;
    MPI_Request request;
    expect(MPI_ERR_RANK, win, MPI_Put(&value, 1, MPI_LONG, check_size, 0, 1, MPI_LONG, win));
    expect(MPI_ERR_COUNT, win, MPI_Get(&result, -1, MPI_LONG, target, 0, 1, MPI_LONG, win));
    expect(MPI_ERR_TYPE, win, MPI_Put(&value, 1, MPI_DATATYPE_NULL, target, 0, 1, MPI_LONG, win));
    expect(MPI_ERR_TYPE, win, MPI_Rget(&result, 1, MPI_DATATYPE_NULL, target, 0, 1, MPI_LONG, win, &request));
    expect(MPI_ERR_OP, win, MPI_Accumulate(&value, 1, MPI_LONG, target, 0, 1, MPI_LONG, MPI_OP_NULL, win));
    expect(MPI_ERR_DISP, win, MPI_Put(&value, 1, MPI_LONG, target, -1, 1, MPI_LONG, win));
    expect(MPI_ERR_DISP, win, MPI_Accumulate(&value, 1, MPI_LONG, target, -1, 1, MPI_LONG, MPI_SUM, win));
    expect(MPI_ERR_DISP, win, MPI_Fetch_and_op(&value, &result, MPI_LONG, check_rank, -1, MPI_SUM, win));
    expect(MPI_ERR_RANK, win, MPI_Win_flush(check_size, win));
    expect(MPI_ERR_RMA_SYNC, win, MPI_Win_lock_all(0, win));
    MPI_Accumulate(&value, 1, MPI_LONG, target, 0, 1, MPI_LONG, MPI_SUM, win);
    MPI_Put(&value, 1, MPI_LONG, MPI_PROC_NULL, 0, 1, MPI_LONG, win);
    CHECK(calls == 0);
}

int main(int argc, char **argv)
{
    long *memory;
    MPI_Win windows[WINDOWS];
    MPI_Errhandler handler;
    MPI_Init(&argc, &argv);
    check_begin();
    MPI_Win_create_errhandler(hear, &handler);
    for (int i = 0; i < WINDOWS; i++) {
        MPI_Win_allocate(sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &windows[i]);
        MPI_Win_set_errhandler(windows[i], handler);
        *memory = 0;
    }
    MPI_Errhandler_free(&handler);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < WINDOWS; i++)
        MPI_Win_lock_all(0, windows[i]);
    has_handler = true;
    for (int i = 0; i < WINDOWS; i++)
        go_wrong(windows[i]);
    has_handler = false;
    for (int i = 0; i < WINDOWS; i++)
        MPI_Win_set_errhandler(windows[i], MPI_ERRORS_RETURN);
    for (int i = 0; i < WINDOWS; i++)
        go_wrong(windows[i]);
    for (int i = 0; i < WINDOWS; i++)
        MPI_Win_unlock_all(windows[i]);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < WINDOWS; i++)
        MPI_Win_free(&windows[i]);
    MPI_Finalize();
    return 0;
}
