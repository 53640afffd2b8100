/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: a program that wants to know of every result that had to be rounded: exchanges of whole
 * numbers, with computation in whole numbers, must not have any. Prints of how many windows there was one. */
#include "check.h"

#include <xmmintrin.h>

enum { ROUNDS = 60, STEPS = 2 * 1000 * 1000 };

static volatile long sink;

static void compute(void)
{
    for (long i = 0; i < STEPS; i++)
        sink += i;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    check_begin();
    int peer = check_rank ^ 1, count = 0;
    int *sent = check_ints(LARGE_INTS), *received = check_ints(LARGE_INTS);
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Request requests[2];
        check_fill(sent, LARGE_INTS, (unsigned)(round * 10 + check_rank));
        _mm_setcsr(_mm_getcsr() & ~(unsigned)_MM_EXCEPT_MASK);
        MPI_Irecv(received, LARGE_INTS, MPI_INT, peer, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(sent, LARGE_INTS, MPI_INT, peer, 0, MPI_COMM_WORLD, &requests[1]);
        compute();
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        count += (_mm_getcsr() & _MM_EXCEPT_INEXACT) != 0;
        CHECK(check_is_filled(received, LARGE_INTS, (unsigned)(round * 10 + peer)));
    }
    check_report("inexact", (uint64_t)count);
    MPI_Finalize();
    free(sent);
    free(received);
    return 0;
}
