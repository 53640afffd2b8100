/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: io FILE: nonblocking file access, each process its own blocks, with messages pending beside.
 */
#include "check.h"

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    check_begin();
    CHECK(argc == 2);
    int peer = check_rank ^ 1, count;
    int *sent = check_ints(LARGE_INTS), *received = check_ints(LARGE_INTS), *read = check_ints(LARGE_INTS);
    MPI_Offset at = (MPI_Offset)check_rank * LARGE_INTS * (MPI_Offset)sizeof(int);
    MPI_File file;
    MPI_Request requests[3];
    MPI_Status statuses[3];
    check_fill(sent, LARGE_INTS, 40u + (unsigned)check_rank);
    CHECK(MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                        MPI_INFO_NULL, &file) == MPI_SUCCESS);
    MPI_Irecv(received, LARGE_INTS, MPI_INT, peer, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_File_iwrite_at(file, at, sent, LARGE_INTS, MPI_INT, &requests[1]);
    MPI_Isend(sent, LARGE_INTS, MPI_INT, peer, 1, MPI_COMM_WORLD, &requests[2]);
    check_compute(COMPUTE_US);
    MPI_Waitall(3, requests, statuses);
    MPI_Get_count(&statuses[1], MPI_INT, &count);
    CHECK(count == LARGE_INTS && check_is_filled(received, LARGE_INTS, 40u + (unsigned)peer));
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_sync(file);
    MPI_File_iread_at(file, (MPI_Offset)peer * LARGE_INTS * (MPI_Offset)sizeof(int), read, LARGE_INTS,
                      MPI_INT, &requests[0]);
    check_compute(COMPUTE_US);
    for (int done = 0; !done;)
        MPI_Test(&requests[0], &done, &statuses[0]);
    MPI_Get_count(&statuses[0], MPI_INT, &count);
    CHECK(count == LARGE_INTS && check_is_filled(read, LARGE_INTS, 40u + (unsigned)peer));
    MPI_File_close(&file);
    check_report("io", check_digest(read, LARGE_INTS * sizeof(int)));
    free(sent);
    free(received);
    free(read);
    MPI_Finalize();
    return 0;
}
