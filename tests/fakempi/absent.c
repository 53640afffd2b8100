/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: a program that may do without MPI, and does: it asks by weak references. */
#include <stdio.h>

int MPI_Initialized(int *flag) __attribute__((weak));
int MPI_Finalized(int *flag) __attribute__((weak));

int main(void)
{
    int is_initialized = 0, is_finalized = 0;
    if (MPI_Initialized && MPI_Finalized) {
        MPI_Initialized(&is_initialized);
        MPI_Finalized(&is_finalized);
    }
    printf("MPI %d %d\n", is_initialized, is_finalized);
    return 0;
}
