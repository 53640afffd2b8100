/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: a receive too small for its message, computation, and only then, around the completing call,
 * MPI_ERRORS_RETURN instead of the handler that ends the job. */
#include "check.h"

enum { ROUNDS = 3 };

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    check_begin();
    int peer = check_rank ^ 1;
    int *sent = check_ints(LARGE_INTS), *received = check_ints(LARGE_INTS);
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Request requests[2];
        int class = MPI_SUCCESS;
        MPI_Irecv(received, LARGE_INTS / 2, MPI_INT, peer, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(sent, LARGE_INTS, MPI_INT, peer, 0, MPI_COMM_WORLD, &requests[1]);
        check_compute(5 * COMPUTE_US);
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        MPI_Error_class(MPI_Wait(&requests[0], MPI_STATUS_IGNORE), &class);
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE); /* whether the sender learns of it is the MPI's choice */
        CHECK(class == MPI_ERR_TRUNCATE);
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
        check_report("late", (uint64_t) class);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    free(sent);
    free(received);
    return 0;
}
