/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: prints a variable of the environment (argument 1) as it is after MPI_Init, in each rank. */
#include "check.h"

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    check_begin();
    const char *value = argc > 1 ? getenv(argv[1]) : NULL;
    printf("rank %d %s\n", check_rank, value ? value : "unset");
    MPI_Finalize();
    return 0;
}
