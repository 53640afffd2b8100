/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: messages from a process whose memory nobody may read (a filter of system calls), from memory
 * of its own and of MPI_Alloc_mem. Rank 1 prints whether they are right. */
#include "../unit/forbidden.h"
#include "check.h"

#include <string.h>
#include <sys/syscall.h>

enum { BYTES = 300000 };

static void exchange(unsigned char *buffer, int tag)
{
    MPI_Request request;
    if (check_rank == 0) {
        for (int i = 0; i < BYTES; i++)
            buffer[i] = (unsigned char)(i * 7 + tag);
        MPI_Isend(buffer, BYTES, MPI_BYTE, 1, tag, MPI_COMM_WORLD, &request);
    } else {
        memset(buffer, 0, BYTES);
        MPI_Irecv(buffer, BYTES, MPI_BYTE, 0, tag, MPI_COMM_WORLD, &request);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (check_rank == 1)
        check_report(tag ? "allocated" : "own", check_digest(buffer, BYTES));
}

int main(int argc, char **argv)
{
    static unsigned char own[BYTES];
    unsigned char *allocated;
    if (!forbid(SYS_process_vm_readv))
        return 1;
    MPI_Init(&argc, &argv);
    check_begin();
    MPI_Alloc_mem(BYTES, MPI_INFO_NULL, (void *)&allocated);
    exchange(own, 0);
    exchange(allocated, 1);
    MPI_Free_mem(allocated);
    MPI_Finalize();
    return 0;
}
