/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: large operations with MPI_PROC_NULL, as at the edge of a grid, after one real exchange: they
 * end at once, touch no buffer and are not followed, and the thread sees to the exchange. */
#include "check.h"

enum { NOBODIES = 10, REQUESTS = NOBODIES + 2 };

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    check_begin();
    int *sent = check_ints(LARGE_INTS), *received = check_ints(LARGE_INTS),
        *untouched = check_ints(LARGE_INTS);
    MPI_Request requests[REQUESTS];
    int peer = check_rank ^ 1;
    check_fill(sent, LARGE_INTS, (unsigned)check_rank);
    MPI_Irecv(received, LARGE_INTS, MPI_INT, peer, 7, MPI_COMM_WORLD, &requests[NOBODIES]);
    MPI_Isend(sent, LARGE_INTS, MPI_INT, peer, 7, MPI_COMM_WORLD, &requests[NOBODIES + 1]);
    for (int i = 0; i < NOBODIES; i += 2) {
        MPI_Isend(sent, LARGE_INTS, MPI_INT, MPI_PROC_NULL, i, MPI_COMM_WORLD, &requests[i]);
        MPI_Irecv(untouched, LARGE_INTS, MPI_INT, MPI_PROC_NULL, i, MPI_COMM_WORLD, &requests[i + 1]);
    }
    check_compute(COMPUTE_US);
    MPI_Waitall(REQUESTS, requests, MPI_STATUSES_IGNORE);
    CHECK(check_is_filled(received, LARGE_INTS, (unsigned)peer));
    check_report("received", check_digest(received, LARGE_INTS * sizeof *received));
    check_report("untouched", check_digest(untouched, LARGE_INTS * sizeof *untouched));
    MPI_Finalize();
    free(sent);
    free(received);
    free(untouched);
    return 0;
}
