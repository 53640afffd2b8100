/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: moved_given_up tickets|sealed: receives that are cancelled and freed, and no other call for a
 * long time. Their memory is used again. */
#include "check.h"

#include <unistd.h>

enum { RECEIVES = 10000, CANCELLED_INTS = 20000, TAG = 5, MOST_KIB = 2048 };

static long resident_kib(void)
{
    long pages = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL || fscanf(file, "%ld %ld", &pages, &resident) != 2)
        resident = 0;
    if (file)
        fclose(file);
    return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

static void give_up_all(MPI_Comm comm, int *buffer)
{
    for (int i = 0; i < RECEIVES; i++) {
        MPI_Request request;
        MPI_Irecv(buffer, CANCELLED_INTS, MPI_INT, check_right, TAG, comm, &request);
        MPI_Cancel(&request);
        MPI_Request_free(&request);
    }
}

int main(int argc, char **argv)
{
    MPI_Comm comm;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    check_begin();
    int *received = check_ints(LARGE_INTS), *sent = check_ints(LARGE_INTS);
    if (argc > 1 && strcmp(argv[1], "sealed") == 0)
        comm = check_seal(MPI_COMM_WORLD);
    else
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    give_up_all(comm, received);
    long before_kib = resident_kib();
    give_up_all(comm, received);
    CHECK(resident_kib() - before_kib < MOST_KIB);
    MPI_Barrier(comm);
    check_fill(sent, LARGE_INTS, (unsigned)check_rank);
    MPI_Isend(sent, LARGE_INTS, MPI_INT, check_left, TAG, comm, &request);
    MPI_Recv(received, LARGE_INTS, MPI_INT, check_right, TAG, comm, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check_report("received", check_is_filled(received, LARGE_INTS, (unsigned)check_right));
    MPI_Comm_free(&comm);
    free(sent);
    free(received);
    MPI_Finalize();
    return 0;
}
