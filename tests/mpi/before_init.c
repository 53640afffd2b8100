/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: what a program begins before MPI_Init: a handler of exit(3) that uses what the program has
 * only afterwards, and a destructor. Each of its processes runs them once. */
#include "check.h"

static const int *rank_at_exit;

static void at_exit(void)
{
    printf("rank %d at exit\n", *rank_at_exit);
    fflush(stdout);
}

static void __attribute__((destructor)) destruct(void)
{
    if (rank_at_exit == NULL)
        abort();
}

int main(int argc, char **argv)
{
    atexit(at_exit);
    MPI_Init(&argc, &argv);
    check_begin();
    rank_at_exit = &check_rank;
    MPI_Finalize();
    return 0;
}
