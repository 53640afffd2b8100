/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: the last rank is killed while its messages are on their way. The job ends. */
#include "check.h"

#include <signal.h>
#include <unistd.h>

enum { MESSAGES = 4, INTS = 1 << 20, PAUSE_US = 20000 };

int main(int argc, char **argv)
{
    MPI_Request requests[2 * MESSAGES];
    int *buffers[2 * MESSAGES];
    MPI_Init(&argc, &argv);
    check_begin();
    for (int i = 0; i < 2 * MESSAGES; i++)
        buffers[i] = check_ints(INTS);
    for (int i = 0; i < MESSAGES; i++)
        MPI_Irecv(buffers[i], INTS, MPI_INT, check_right, i, MPI_COMM_WORLD, &requests[i]);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < MESSAGES; i++)
        MPI_Isend(buffers[MESSAGES + i], INTS, MPI_INT, check_left, i, MPI_COMM_WORLD,
                  &requests[MESSAGES + i]);
    if (check_rank == check_size - 1) {
        usleep(PAUSE_US);
        raise(SIGKILL);
    }
    MPI_Waitall(2 * MESSAGES, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 2 * MESSAGES; i++)
        free(buffers[i]);
    MPI_Finalize();
    return 0;
}
