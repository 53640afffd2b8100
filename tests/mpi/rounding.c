/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: nonblocking sums while the program rounds upwards, and while it takes the smallest numbers for
 * zero, modes of each thread's own, set long after MPI_Init; and sums too large, which leave a sign of it in
 * the program's thread. */
#include "check.h"

#include <float.h>
#include <xmmintrin.h>

enum { NUMBERS = 64 * 1024, ROUNDS = 8, ZERO_BOTH_WAYS = 0x8040 };

static double *added, *sum;

/* The sums of the two processes' numbers, all of them what the program makes of them itself. */
static void add_up(const char *name, double mine, double others)
{
    volatile double first = mine, second = others;
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Request request;
        for (int i = 0; i < NUMBERS; i++)
            added[i] = check_rank == 0 ? mine : others;
        MPI_Iallreduce(added, sum, NUMBERS, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
        check_compute(3 * COMPUTE_US);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        double expected = first + second;
        for (int i = 0; i < NUMBERS; i++)
            CHECK(sum[i] == expected);
    }
    check_report(name, check_digest(sum, NUMBERS * sizeof *sum));
}

/* Rank 0 makes additions itself on every MPI; others may only be given the sums. */
static void too_large(void)
{
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Request request;
        for (int i = 0; i < NUMBERS; i++)
            added[i] = DBL_MAX;
        _mm_setcsr(_mm_getcsr() & ~(unsigned)_MM_EXCEPT_MASK);
        MPI_Iallreduce(added, sum, NUMBERS, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
        check_compute(3 * COMPUTE_US);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK(check_rank != 0 || (_mm_getcsr() & _MM_EXCEPT_OVERFLOW));
    }
    check_report("too large", check_digest(sum, NUMBERS * sizeof *sum));
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    check_begin();
    added = malloc(NUMBERS * sizeof *added);
    sum = malloc(NUMBERS * sizeof *sum);
    CHECK(added && sum);
    add_up("nearest", 1.0, 1e-20);
    _MM_SET_ROUNDING_MODE(_MM_ROUND_UP);
    add_up("upward", 1.0, 1e-20);
    _MM_SET_ROUNDING_MODE(_MM_ROUND_NEAREST);
    add_up("nearest again", 1.0, 1e-20);
    _mm_setcsr(_mm_getcsr() | ZERO_BOTH_WAYS);
    add_up("zero", 1e-310, 1e-311);
    too_large();
    MPI_Finalize();
    free(added);
    free(sum);
    return 0;
}
