/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: blocking collectives of one communicator, so often that the MPI changes to the way within a
 * node that costs memory. */
#include "check.h"

enum { ROUNDS = 16, WORDS = 32 };

int main(int argc, char **argv)
{
    long words[WORDS], sums[WORDS];
    uint64_t all = 0;
    MPI_Init(&argc, &argv);
    check_begin();
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < WORDS; i++)
            words[i] = check_rank + round * i;
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Bcast(words, WORDS, MPI_LONG, 0, MPI_COMM_WORLD);
        MPI_Allreduce(words, sums, WORDS, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
        MPI_Reduce(sums, words, WORDS, MPI_LONG, MPI_MAX, 1, MPI_COMM_WORLD);
        all = all * 31 + check_digest(sums, sizeof sums);
    }
    check_report("barriers", all);
    MPI_Finalize();
    return 0;
}
