/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: endings HOW: how a program may end with large messages pending.
 *
 *   exit      exit() without MPI_Finalize, status 3
 *   abort     MPI_Abort by rank 0 with code 7
 *   hang      computes until killed; prints its process id first
 *   leak      MPI_Finalize with an inactive persistent request left over
 *   unmatched MPI_Finalize with a message to itself that it never receives
 *   early     uses MPI_Initialized, MPI_Get_version before MPI_Init, the same after MPI_Finalize
 *   late      as leak, in a function that exit() calls, registered before MPI_Init
 *   last      as leak, in a destructor */
#include "check.h"

#include <sys/ioctl.h>
#include <unistd.h>

static int *sent, *received;

static void post(MPI_Request requests[2])
{
    sent = check_ints(LARGE_INTS);
    received = check_ints(LARGE_INTS);
    check_fill(sent, LARGE_INTS, (unsigned)check_rank);
    MPI_Irecv(received, LARGE_INTS, MPI_INT, check_rank ^ 1, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(sent, LARGE_INTS, MPI_INT, check_rank ^ 1, 1, MPI_COMM_WORLD, &requests[1]);
    check_compute(10 * COMPUTE_US);
}

static void end(void)
{
    int flag = 0, version = 0, subversion = 0;
    MPI_Finalize();
    MPI_Finalized(&flag);
    CHECK(flag);
    MPI_Initialized(&flag);
    CHECK(flag);
    MPI_Get_version(&version, &subversion);
    CHECK(version >= 3);
}

/* Where MPI_Finalize comes after its own function of exit(), MPICH says no goodbye to Hydra, which then kills
 * the other processes of the node: nothing that has not been read may be left by then. */
static void leave_nothing_unread(void)
{
    int unread = 0;
    while (ioctl(STDOUT_FILENO, FIONREAD, &unread) == 0 && unread > 0)
        usleep(1000);
    MPI_Barrier(MPI_COMM_WORLD);
}

static bool is_last;

__attribute__((destructor)) static void end_last(void)
{
    if (is_last)
        end();
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    MPI_Request requests[2], left;
    int flag = 0, version = 0, subversion = 0;
    bool is_late = strcmp(how, "late") == 0;
    if (is_late && atexit(end) != 0)
        return 8;
    if (strcmp(how, "early") == 0) {
        MPI_Initialized(&flag);
        MPI_Get_version(&version, &subversion);
        if (flag || version < 3)
            return 9;
    }
    MPI_Init(&argc, &argv);
    check_begin();
    post(requests);
    if (strcmp(how, "exit") == 0)
        exit(3);
    if (strcmp(how, "abort") == 0) {
        if (check_rank == 0)
            MPI_Abort(MPI_COMM_WORLD, 7);
        for (;;)
            check_compute(COMPUTE_US);
    }
    if (strcmp(how, "hang") == 0) {
        printf("pid %d\n", (int)getpid());
        fflush(stdout);
        for (;;)
            check_compute(COMPUTE_US);
    }
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    CHECK(check_is_filled(received, LARGE_INTS, (unsigned)(check_rank ^ 1)));
    MPI_Send_init(sent, LARGE_INTS, MPI_INT, check_rank ^ 1, 2, MPI_COMM_WORLD, &left);
    check_report("ends", 0);
    is_last = strcmp(how, "last") == 0;
    if (strcmp(how, "unmatched") == 0) {
        MPI_Isend(&flag, 1, MPI_INT, check_rank, 3, MPI_COMM_WORLD, &requests[0]);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        MPI_Request_free(&left); /* it would keep the communicator */
    }
    if (is_late || is_last)
        leave_nothing_unread();
    else
        end();
    return 0;
}
