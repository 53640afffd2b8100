/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: large messages both ways while the same processes put into, and accumulate to, a window that
 * the same ghosts may serve. Every rank prints what differs. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 12, WORDS = 40000, CELLS = 64 };

int main(int argc, char **argv)
{
    int rank, size, failures = 0;
    long *cells;
    MPI_Win window;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int *in = malloc(WORDS * sizeof *in), *out = malloc(WORDS * sizeof *out);
    MPI_Win_allocate(CELLS * sizeof *cells, sizeof *cells, MPI_INFO_NULL, MPI_COMM_WORLD, &cells, &window);
    memset(cells, 0, CELLS * sizeof *cells);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, window);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Request requests[2];
        MPI_Status statuses[2];
        long one = 1, mark = 100 * round + rank;
        int count;
        for (int i = 0; i < WORDS; i++)
            out[i] = i ^ (1000 * round + rank);
        MPI_Irecv(in, WORDS, MPI_INT, left, round, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(out, WORDS, MPI_INT, right, round, MPI_COMM_WORLD, &requests[1]);
        for (int i = 0; i < CELLS / 2; i++)
            MPI_Accumulate(&one, 1, MPI_LONG, right, i, 1, MPI_LONG, MPI_SUM, window);
        MPI_Put(&mark, 1, MPI_LONG, right, CELLS - 1, 1, MPI_LONG, window);
        MPI_Win_flush(right, window);
        MPI_Waitall(2, requests, statuses);
        MPI_Get_count(&statuses[0], MPI_INT, &count);
        failures += count != WORDS || statuses[0].MPI_SOURCE != left;
        for (int i = 0; i < WORDS; i++)
            failures += in[i] != (i ^ (1000 * round + left));
        long seen = 0;
        MPI_Get(&seen, 1, MPI_LONG, right, CELLS - 1, 1, MPI_LONG, window);
        MPI_Win_flush(right, window);
        failures += seen != mark;
    }
    MPI_Win_unlock_all(window);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, window);
    for (int i = 0; i < CELLS / 2; i++)
        failures += cells[i] != ROUNDS;
    MPI_Win_unlock(rank, window);
    printf("rank %d: %d failures\n", rank, failures);
    MPI_Win_free(&window);
    free(in);
    free(out);
    MPI_Finalize();
    return failures != 0;
}
