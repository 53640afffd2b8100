/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: synchronous sends that are cancelled, more than a receiver has entries for, then others. Rank
 * 0 prints what was wrong. Compiled with SHIM it is what stands in for an MPI that cancels sends: none of
 * ours does. It goes below Headway, and keeps sends with one tag to itself until they are cancelled. */
#ifdef SHIM
#include <mpi.h>
#include <stddef.h>

enum { CANCELLED_TAG = 77 };

int cancels_sends = 1; /* the program looks for it */
static MPI_Request kept;

static int query(void *extra, MPI_Status *status)
{
    (void)extra;
    MPI_Status_set_elements(status, MPI_BYTE, 0);
    MPI_Status_set_cancelled(status, 1);
    status->MPI_SOURCE = status->MPI_TAG = MPI_UNDEFINED;
    return MPI_SUCCESS;
}

static int forget(void *extra)
{
    (void)extra;
    return MPI_SUCCESS;
}

static int cancel(void *extra, int complete)
{
    (void)extra;
    return complete ? MPI_SUCCESS : MPI_Grequest_complete(kept);
}

int MPI_Issend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
               MPI_Request *request)
{
    if (tag != CANCELLED_TAG)
        return PMPI_Issend(buf, count, datatype, dest, tag, comm, request);
    int rc = MPI_Grequest_start(query, forget, cancel, NULL, request);
    kept = *request;
    return rc;
}
#else
#include "check.h"

#include <dlfcn.h>
#include <unistd.h>

enum { BYTES = 4000, CANCELS = 100, OTHERS = 10, CANCELLED_TAG = 77, PAUSE_US = 1000 };

static unsigned char sent[BYTES], received[BYTES];

/* The receiver is told whether it was cancelled: never, unless the shim is there. */
static void send_all(int to)
{
    bool cancels = dlsym(RTLD_DEFAULT, "cancels_sends") != NULL;
    for (int i = 0; i < CANCELS + OTHERS; i++) {
        int flag = 0;
        MPI_Request request;
        MPI_Status status;
        memset(sent, i, BYTES);
        MPI_Issend(sent, BYTES, MPI_BYTE, to, i < CANCELS ? CANCELLED_TAG : 2, MPI_COMM_WORLD, &request);
        if (i < CANCELS && cancels) {
            MPI_Cancel(&request);
            MPI_Wait(&request, &status);
            MPI_Test_cancelled(&status, &flag);
            CHECK(flag);
        }
        MPI_Send(&flag, 1, MPI_INT, to, 1, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        usleep(PAUSE_US);
    }
}

static int receive_all(void)
{
    int wrong = 0;
    for (int i = 0; i < CANCELS + OTHERS; i++) {
        int flag;
        MPI_Recv(&flag, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (flag)
            continue;
        MPI_Recv(received, BYTES, MPI_BYTE, 0, i < CANCELS ? CANCELLED_TAG : 2, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        for (int j = 0; j < BYTES; j++)
            wrong += received[j] != (unsigned char)i;
    }
    return wrong;
}

int main(int argc, char **argv)
{
    int wrong = 0;
    MPI_Init(&argc, &argv);
    check_begin();
    if (check_rank == 0)
        send_all(check_size - 1);
    else if (check_rank == check_size - 1)
        wrong = receive_all();
    CHECK(wrong == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank == 0)
        printf("all is right\n");
    MPI_Finalize();
    return 0;
}
#endif
