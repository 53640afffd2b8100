/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: reductions to the root of an intercommunicator, whose group gives MPI_PROC_NULL for it and
 * arguments that mean nothing. Four processes: the even and the odd ones. */
#include "check.h"

enum { COUNT = 64 };

int main(int argc, char **argv)
{
    MPI_Comm half, across;
    MPI_Request request;
    int data[COUNT], sum[COUNT] = {0};
    MPI_Init(&argc, &argv);
    check_begin();
    MPI_Comm_split(MPI_COMM_WORLD, check_rank & 1, check_rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, check_rank & 1 ? 0 : 1, 3, &across);
    check_fill(data, COUNT, (unsigned)check_rank);
    int root = check_rank & 1 ? 0 : check_rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
    if (root == MPI_PROC_NULL) {
        MPI_Ireduce(NULL, NULL, COUNT, MPI_DATATYPE_NULL, MPI_OP_NULL, root, across, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Reduce(NULL, NULL, COUNT, MPI_DATATYPE_NULL, MPI_OP_NULL, root, across);
    } else {
        MPI_Ireduce(data, sum, COUNT, MPI_INT, MPI_SUM, root, across, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Reduce(data, sum, COUNT, MPI_INT, MPI_BXOR, root, across);
    }
    check_report("rooted", check_digest(sum, sizeof sum));
    MPI_Finalize();
    return 0;
}
