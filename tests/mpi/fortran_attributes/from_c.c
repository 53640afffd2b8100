/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: an attribute of MPI_COMM_WORLD as C sees it (MPI-4.1 section 19.3.7). */
#include <mpi.h>

int seen_from_c(int keyval);
void set_from_c(int keyval, int number);

/* -1: it is not set. */
int seen_from_c(int keyval)
{
    MPI_Aint *number;
    int is_set;
    MPI_Comm_get_attr(MPI_COMM_WORLD, keyval, &number, &is_set);
    return is_set ? (int)*number : -1;
}

void set_from_c(int keyval, int number)
{
    MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, (void *)(MPI_Aint)number);
}
