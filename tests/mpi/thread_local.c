/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: two MiB of thread-local data, which the C library keeps on every thread's stack. */
#include "check.h"

enum { BYTES = 2 * 1024 * 1024, ROUNDS = 3 };

static _Thread_local volatile char data[BYTES];

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    check_begin();
    int peer = check_rank ^ 1;
    int *sent = check_ints(LARGE_INTS), *received = check_ints(LARGE_INTS);
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Request requests[2];
        data[round] = 1;
        check_fill(sent, LARGE_INTS, (unsigned)(round * 10 + check_rank));
        MPI_Irecv(received, LARGE_INTS, MPI_INT, peer, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(sent, LARGE_INTS, MPI_INT, peer, 0, MPI_COMM_WORLD, &requests[1]);
        check_compute(COMPUTE_US);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        CHECK(check_is_filled(received, LARGE_INTS, (unsigned)(round * 10 + peer)));
    }
    check_report("thread-local", (uint64_t)data[0]);
    MPI_Finalize();
    return 0;
}
