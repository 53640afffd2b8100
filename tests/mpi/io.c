/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: io FILE [split]: nonblocking file access, or split collectives, each process its own blocks,
 * with messages pending beside. */
#include "check.h"

static bool is_split;

/* Access that goes on until it is completed below. */
static void begin_write(MPI_File file, MPI_Offset at, const int *sent, MPI_Request *request)
{
    if (is_split)
        MPI_File_write_at_all_begin(file, at, sent, LARGE_INTS, MPI_INT);
    else
        MPI_File_iwrite_at(file, at, sent, LARGE_INTS, MPI_INT, request);
}

static void begin_read(MPI_File file, MPI_Offset at, int *read, MPI_Request *request)
{
    if (is_split)
        MPI_File_read_at_all_begin(file, at, read, LARGE_INTS, MPI_INT);
    else
        MPI_File_iread_at(file, at, read, LARGE_INTS, MPI_INT, request);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    check_begin();
    CHECK(argc == 2 || argc == 3);
    is_split = argc == 3;
    int peer = check_rank ^ 1, count;
    int *sent = check_ints(LARGE_INTS), *received = check_ints(LARGE_INTS), *read = check_ints(LARGE_INTS);
    MPI_Offset at = (MPI_Offset)check_rank * LARGE_INTS * (MPI_Offset)sizeof(int);
    MPI_File file;
    MPI_Request requests[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status statuses[3];
    check_fill(sent, LARGE_INTS, 40u + (unsigned)check_rank);
    CHECK(MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                        MPI_INFO_NULL, &file) == MPI_SUCCESS);
    MPI_Irecv(received, LARGE_INTS, MPI_INT, peer, 1, MPI_COMM_WORLD, &requests[0]);
    begin_write(file, at, sent, &requests[1]);
    MPI_Isend(sent, LARGE_INTS, MPI_INT, peer, 1, MPI_COMM_WORLD, &requests[2]);
    check_compute(COMPUTE_US);
    MPI_Waitall(3, requests, statuses);
    if (is_split)
        MPI_File_write_at_all_end(file, sent, &statuses[1]);
    MPI_Get_count(&statuses[1], MPI_INT, &count);
    CHECK(count == LARGE_INTS && check_is_filled(received, LARGE_INTS, 40u + (unsigned)peer));
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_sync(file);
    begin_read(file, (MPI_Offset)peer * LARGE_INTS * (MPI_Offset)sizeof(int), read, &requests[0]);
    check_compute(COMPUTE_US);
    for (int done = 0; !done;)
        MPI_Test(&requests[0], &done, &statuses[0]);
    if (is_split)
        MPI_File_read_at_all_end(file, read, &statuses[0]);
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
