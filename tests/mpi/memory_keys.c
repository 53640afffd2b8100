/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: receives into memory under a protection key that the program allocated long after MPI_Init:
 * only the thread that did may use it. Ends with status 77 where the processor has no such keys. */
#define _GNU_SOURCE
#include "check.h"

#include <sys/mman.h>

enum { ROUNDS = 6, STATUS_SKIP = 77 };

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    check_begin();
    int peer = check_rank ^ 1, key = -1;
    size_t bytes = LARGE_INTS * sizeof(int);
    int *sent = check_ints(LARGE_INTS);
    int *received = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(received != MAP_FAILED);
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Request requests[2];
        if (round == 1 && (key = pkey_alloc(0, 0)) >= 0)
            CHECK(pkey_mprotect(received, bytes, PROT_READ | PROT_WRITE, key) == 0);
        check_fill(sent, LARGE_INTS, (unsigned)(round * 10 + check_rank));
        MPI_Irecv(received, LARGE_INTS, MPI_INT, peer, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(sent, LARGE_INTS, MPI_INT, peer, 0, MPI_COMM_WORLD, &requests[1]);
        check_compute(3 * COMPUTE_US);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        CHECK(check_is_filled(received, LARGE_INTS, (unsigned)(round * 10 + peer)));
    }
    check_report("keys", check_digest(received, bytes));
    MPI_Finalize();
    return key >= 0 ? 0 : STATUS_SKIP;
}
