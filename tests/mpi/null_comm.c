/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: windows over MPI_COMM_NULL: the program's handler hears of each once. */
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
    MPI_Errhandler_free(&handler);
    MPI_Finalize();
    return 0;
}
