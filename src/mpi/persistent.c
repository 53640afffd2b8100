/* SPDX-License-Identifier: BSD-3-Clause */
/* Persistent and partitioned operations (MPI-4.1 sections 3.9 and 6.13, chapter 4): known from their
 * definition, pending from each start. */
#include "hooks.h"
#include "mpi/track.h"

#include <stdlib.h>

void hw_persistent_posted(MPI_Count count, MPI_Datatype datatype, MPI_Request *request)
{
    if (!hw_engines_want(count, datatype))
        return;
    HW_COUNT(tracked_persistent);
    hw_request_define(*request, HW_REQUEST_P2P, hw_engines_bytes(count, datatype));
}

void hw_persistent_collective_posted(MPI_Count count, MPI_Datatype datatype, MPI_Comm comm,
                                     MPI_Request *request)
{
    (void)comm;
    if (!hw_engine_is_on())
        return;
    HW_COUNT(tracked_persistent);
    hw_request_define(*request, HW_REQUEST_COLLECTIVE, hw_engines_bytes(count, datatype));
}

void hw_persistent_reduction_posted(MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                                    MPI_Request *request)
{
    if (hw_track_is_callback(op))
        hw_request_define(*request, HW_REQUEST_CALLBACK, hw_engines_bytes(count, datatype));
    else
        hw_persistent_collective_posted(count, datatype, comm, request);
}

void hw_partitioned_posted(int partitions, MPI_Count count, MPI_Datatype datatype, MPI_Request *request)
{
    if (!hw_engine_is_on())
        return;
    HW_COUNT(tracked_partitioned);
    if (!HW_REAL_IS_PARTITIONED_SAFE)
        hw_engines_retire("partitioned operations are not safe against a second thread on Open MPI");
    hw_request_define(*request, HW_REQUEST_PARTITIONED,
                      (uint64_t)partitions * hw_engines_bytes(count, datatype));
}

static void started(int count, const MPI_Request *requests)
{
    uint64_t bytes;
    int started_count = hw_request_start(count, requests, &bytes);
    if (started_count == 0)
        return;
    HW_COUNT_ADD(started, started_count);
    hw_engines_posted(HW_REQUEST_P2P, bytes, false);
}

int hw_start(MPI_Request *request)
{
    int rc = request && hw_request_starting(*request) ? MPI_SUCCESS : hw_real.Start(request);
    if (rc == MPI_SUCCESS)
        started(1, request);
    return rc;
}

/* Those of them that the MPI is to start, where others have started by themselves. A start leaves handles as
 * they are. */
static int start_some(int count, MPI_Request requests[], const bool *are_started)
{
    int rc = MPI_SUCCESS;
    for (int i = 0; i < count && rc == MPI_SUCCESS; i++)
        if (!are_started[i])
            rc = hw_real.Start(&requests[i]);
    return rc;
}

int hw_startall(int count, MPI_Request requests[])
{
    bool is_asked = requests && count > 0 && hw_atomic_load_relaxed(&hw_request_attached) > 0;
    bool *are_started = is_asked ? calloc((size_t)count, sizeof *are_started) : NULL;
    if (is_asked && are_started == NULL) { /* nothing has been started */
        hw_bottom.Comm_call_errhandler(HW_COMM_WORLD, MPI_ERR_NO_MEM);
        return MPI_ERR_NO_MEM;
    }
    bool has_started = false;
    for (int i = 0; is_asked && i < count; i++)
        has_started |= are_started[i] = hw_request_starting(requests[i]);
    int rc = has_started ? start_some(count, requests, are_started) : hw_real.Startall(count, requests);
    free(are_started);
    if (rc == MPI_SUCCESS)
        started(count, requests);
    return rc;
}
