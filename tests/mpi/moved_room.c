/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: of all processes two alone send, more at once than an equal part of the room, with time for
 * the ghosts in between. Rank 0 prints whether what came was right. */
#include "check.h"

#include <string.h>
#include <unistd.h>

enum { BYTES = 40000, ROUNDS = 60, PAUSE_US = 2000 };

int main(int argc, char **argv)
{
    static unsigned char sent[BYTES], received[BYTES];
    int last, wrong = 0;
    MPI_Init(&argc, &argv);
    check_begin();
    last = check_size - 1;
    for (int round = 0; round < ROUNDS && (check_rank == 0 || check_rank == last); round++) {
        MPI_Request requests[2];
        int other = check_rank == 0 ? last : 0;
        memset(sent, round + check_rank, BYTES);
        MPI_Irecv(received, BYTES, MPI_BYTE, other, 1, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(sent, BYTES, MPI_BYTE, other, 1, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        for (int i = 0; i < BYTES; i++)
            wrong += received[i] != (unsigned char)(round + other);
        usleep(PAUSE_US);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank == 0)
        check_report("wrong bytes", (uint64_t)wrong);
    MPI_Finalize();
    return 0;
}
