/* SPDX-License-Identifier: BSD-3-Clause */
/* Several communicators duplicated at once, while each process computes for another while between the
 * posts: progress that is made at different moments must not keep them from agreeing. */
#include "check.h"

enum { COPIES = 10, ROUNDS = 5 };

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    check_begin();
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Comm copies[COPIES];
        MPI_Request requests[2 * COPIES];
        int one = 1, sums[COPIES];
        for (int i = 0; i < COPIES; i++) {
            MPI_Comm_idup(MPI_COMM_WORLD, &copies[i], &requests[2 * i]);
            MPI_Iallreduce(&one, &sums[i], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[2 * i + 1]);
            check_compute((check_rank + i) % check_size * 200);
        }
        MPI_Waitall(2 * COPIES, requests, MPI_STATUSES_IGNORE);
        for (int i = 0; i < COPIES; i++) {
            int sum;
            MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, copies[i]);
            CHECK(sum == check_size && sums[i] == check_size);
            MPI_Comm_free(&copies[i]);
        }
    }
    printf("rank %d duplicates %d\n", check_rank, ROUNDS * COPIES);
    MPI_Finalize();
    return 0;
}
