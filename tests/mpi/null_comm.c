/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: communicators and windows made of MPI_COMM_NULL, and calls on MPI_WIN_NULL: the program's
 * handler hears of each once. */
#include "check.h"

static int calls;

static void hear(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
    calls++;
}

static void report(const char *name)
{
    check_report(name, (uint64_t)calls);
    calls = 0;
}

static void communicators(void)
{
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_NULL, &made);
    report("dup");
    MPI_Comm_dup_with_info(MPI_COMM_NULL, MPI_INFO_NULL, &made);
    report("dup_with_info");
    MPI_Comm_split_type(MPI_COMM_NULL, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made);
    report("split_type");
    MPI_Comm_set_info(MPI_COMM_NULL, MPI_INFO_NULL);
    report("set_info");
}

static void epochs(void)
{
    MPI_Win_fence(0, MPI_WIN_NULL);
    report("fence");
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, MPI_WIN_NULL);
    report("lock");
    MPI_Win_unlock(0, MPI_WIN_NULL);
    report("unlock");
    MPI_Win_flush_all(MPI_WIN_NULL);
    report("flush_all");
    MPI_Win_complete(MPI_WIN_NULL);
    report("complete");
}

int main(int argc, char **argv)
{
    static int memory;
    void *base;
    MPI_Win win;
    MPI_Errhandler handler;
    MPI_Init(&argc, &argv);
    check_begin();
    MPI_Comm_create_errhandler(hear, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
    MPI_Win_allocate(sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_NULL, &base, &win);
    report("allocate");
    MPI_Win_allocate_shared(sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_NULL, &base, &win);
    report("allocate_shared");
    MPI_Win_create(&memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_NULL, &win);
    report("create");
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_NULL, &win);
    report("create_dynamic");
    communicators();
    epochs();
    MPI_Errhandler_free(&handler);
    MPI_Finalize();
    return 0;
}
