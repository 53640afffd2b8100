/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: paths ROUNDS: one function that calls MPI, called from three phases, one of which also through
 * another function and one with a frame whose size is never the same, first by more than there is of the
 * stack above it. The marks name lines for the test. */
#include <alloca.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

static int peer;

static __attribute__((noinline)) void exchange(int *values)
{
    const MPI_Comm world = MPI_COMM_WORLD;
    MPI_Sendrecv_replace(values, 4, MPI_INT, peer, 0, peer, 0, world, MPI_STATUS_IGNORE); /* path: call */
    values[0]++;
}

static __attribute__((noinline)) void first_phase(int *values)
{
    exchange(values); /* path: first */
    values[1]++;
}

static __attribute__((noinline)) void between(int *values)
{
    exchange(values); /* path: between */
    values[2]++;
}

static __attribute__((noinline)) void second_phase(int *values)
{
    between(values); /* path: second */
    values[1]++;
}

static __attribute__((noinline)) void varying_phase(int *values, size_t bytes)
{
    char *memory = alloca(bytes);
    memset(memory, 1, bytes);
    exchange(values); /* path: varying */
    values[3] += memory[bytes - 1];
}

int main(int argc, char **argv)
{
    int rank, rounds = argc > 1 ? atoi(argv[1]) : 10, values[4] = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    peer = rank ^ 1;
    for (int i = 0; i < rounds; i++) {
        first_phase(values);
        second_phase(values);
        if (i % 2 == 0)
            first_phase(values);
        varying_phase(values, i == 0 ? (size_t)4 << 20 : 16 + (size_t)(i % 7) * 160);
    }
    MPI_Finalize();
    return 0;
}
