/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: calls that are refused, since there is no place for what they give, or no function: the error
 * is what the MPI says, and a handler of the program's hears of it once. With an argument errors are
 * returned, and there is no handler. */
#include "check.h"

static int heard, last_class;

static void hear(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    heard++;
    MPI_Error_class(*code, &last_class);
}

static uint64_t sum;

/* MPICH 5 returns MPI_SUCCESS where a handler has heard of an error. */
static void take(int rc)
{
    int class;
    MPI_Error_class(rc, &class);
    CHECK(class != MPI_SUCCESS || heard == 1);
    sum = ((sum * 31 + (uint64_t) class) * 31 + (uint64_t)heard) * 31 + (uint64_t)last_class;
    heard = last_class = 0;
}

static void ask_for_attributes(void)
{
    void *value;
    int flag;
    take(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, NULL, &flag));
    take(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, NULL));
    take(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &value, NULL));
    CHECK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &flag) == MPI_SUCCESS && flag);
}

static void make_windows(void)
{
    char memory[16];
    void *base;
    take(MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, NULL));
    take(MPI_Win_allocate(sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, NULL));
    take(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, NULL));
}

int main(int argc, char **argv)
{
    MPI_Errhandler handler, none;
    MPI_Init(&argc, &argv);
    check_begin();
    MPI_Comm_create_errhandler(hear, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, argc > 1 ? MPI_ERRORS_RETURN : handler);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, argc > 1 ? MPI_ERRORS_RETURN : handler);
    take(MPI_Comm_create_errhandler(NULL, &none));
    ask_for_attributes();
    make_windows();
    check_report("no-place", sum);
    MPI_Errhandler_free(&handler);
    MPI_Finalize();
    return 0;
}
