/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: functions of no standard on MPI_COMM_WORLD: what processes that live agree on, a communicator
 * of those that do, who failed; of Open MPI 4 persistent collectives, of MPICH 5 a communicator of a stream
 * and an error handler with a state, of Intel MPI operations on windows. The first end plain MPICH with an
 * error. */
#include "check.h"

#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif

#if defined OPEN_MPI && OMPI_MAJOR_VERSION < 5
static void try_all(void)
{
    int own = check_rank + 1, sum = 0, first = check_rank;
    MPI_Request requests[3];
    MPIX_Allreduce_init(&own, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
    MPIX_Bcast_init(&first, 1, MPI_INT, check_size - 1, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
    PMPIX_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &requests[2]);
    for (int round = 0; round < 3; round++) {
        MPI_Startall(3, requests);
        MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    }
    for (int i = 0; i < 3; i++)
        MPI_Request_free(&requests[i]);
    check_report("sum", (uint64_t)sum);
    check_report("first", (uint64_t)first);
}
#elif defined OPEN_MPI

static void report_failed(const char *name, MPI_Group failed)
{
    int size = -1;
    MPI_Group_size(failed, &size);
    if (failed != MPI_GROUP_EMPTY)
        MPI_Group_free(&failed);
    check_report(name, (uint64_t)size);
}

static void try_all(void)
{
    int flag = ~(1 << check_rank), size, rank;
    MPI_Comm shrunk;
    MPI_Group failed;
    CHECK(MPIX_Comm_agree(MPI_COMM_WORLD, &flag) == MPI_SUCCESS);
    check_report("agreed", (uint64_t)(uint32_t)flag);
    CHECK(PMPIX_Comm_agree(MPI_COMM_WORLD, &flag) == MPI_SUCCESS);
    CHECK(MPIX_Comm_shrink(MPI_COMM_WORLD, &shrunk) == MPI_SUCCESS);
    MPI_Comm_size(shrunk, &size);
    MPI_Comm_rank(shrunk, &rank);
    check_report("size", (uint64_t)size);
    check_report("rank", (uint64_t)rank);
    MPI_Barrier(shrunk);
    MPI_Comm_free(&shrunk);
    CHECK(MPIX_Comm_failure_ack(MPI_COMM_WORLD) == MPI_SUCCESS);
    CHECK(MPIX_Comm_failure_get_acked(MPI_COMM_WORLD, &failed) == MPI_SUCCESS);
    report_failed("failed", failed);
    MPI_Request request;
    flag = check_rank;
    MPIX_Comm_iagree(MPI_COMM_WORLD, &flag, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check_report("agreed later", (uint64_t)flag);
    MPIX_Comm_is_revoked(MPI_COMM_WORLD, &flag);
    check_report("revoked", (uint64_t)flag);
}

#elif defined I_MPI_NUMVERSION

/* A Put to the right neighbour, which counts those that came. */
static void try_all(void)
{
    MPI_Win win;
    MPI_Count count = 0;
    int *place, flag;
    MPI_Win_allocate(sizeof *place, sizeof *place, MPI_INFO_NULL, MPI_COMM_WORLD, &place, &win);
    MPIX_Win_create_notify(win, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    MPIX_Put_notify(&check_rank, 1, MPI_INT, check_right, 0, 1, MPI_INT, 0, win);
    MPI_Win_flush_all(win);
    while (count == 0) {
        MPIX_Win_get_notify(win, 0, &count);
        MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    check_report("put", (uint64_t)*place);
    check_report("count", (uint64_t)count);
    MPI_Win_unlock_all(win);
    MPIX_Win_free_notify(win);
    MPI_Win_free(&win);
}

#else

static int known, heard, ended;

static void hear(MPI_Comm comm, int code, void *state)
{
    known += comm == MPI_COMM_WORLD;
    heard += code == MPI_ERR_OTHER && state == &heard;
}

static void end(void *state) { ended += state == &heard; }

static void try_handler(void)
{
    MPI_Errhandler handler;
    CHECK(MPIX_Comm_create_errhandler_x(hear, end, &heard, &handler) == MPI_SUCCESS);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Errhandler_free(&handler);
    MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_OTHER);
    check_report("known", (uint64_t)known);
    check_report("heard", (uint64_t)heard);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    check_report("ended", (uint64_t)ended);
}

static void try_all(void)
{
    int size;
    MPI_Comm made;
    try_handler();
    CHECK(MPIX_Stream_comm_create(MPI_COMM_WORLD, MPIX_STREAM_NULL, &made) == MPI_SUCCESS);
    MPI_Comm_size(made, &size);
    MPI_Barrier(made);
    check_report("size", (uint64_t)size);
    MPI_Comm_free(&made);
}

#endif

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    check_begin();
    try_all();
    MPI_Finalize();
    return 0;
}
