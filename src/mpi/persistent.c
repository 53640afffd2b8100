/* SPDX-License-Identifier: BSD-3-Clause */
/* Persistent and partitioned operations (MPI-4.1 sections 3.9 and 6.13, chapter 4): known from their
 * definition, pending from each start. */
#include "hooks.h"
#include "mpi/track.h"

void hw_persistent_posted(MPI_Count count, MPI_Datatype datatype, int peer, MPI_Request *request)
{
    uint64_t bytes;
    if (!hw_track_wants_p2p(count, datatype, peer, request, &bytes))
        return;
    HW_COUNT(tracked_persistent);
    hw_request_define(*request, HW_REQUEST_P2P, bytes);
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
    HW_COUNT_ADD(tracked_bytes, bytes);
    hw_engines_posted(HW_REQUEST_P2P, bytes, false);
}

int hw_start(MPI_Request *request)
{
    int rc = hw_request_starting(request);
    if (rc == HW_REQUEST_PLAINLY)
        rc = hw_real.Start(request);
    if (rc == MPI_SUCCESS)
        started(1, request);
    return rc;
}

/* In the order of the array, which that of messages follows. A start leaves handles as they are. */
static int start_in_order(int count, MPI_Request requests[])
{
    int rc = MPI_SUCCESS, first = 0; /* from here on they are still to be started */
    for (int i = 0; i < count && rc == MPI_SUCCESS; i++) {
        if (hw_request_has_start(requests[i]) && first < i) {
            rc = hw_real.Startall(i - first, &requests[first]);
            first = i;
        }
        int started_rc = rc == MPI_SUCCESS ? hw_request_starting(&requests[i]) : HW_REQUEST_PLAINLY;
        if (started_rc != HW_REQUEST_PLAINLY) {
            rc = started_rc;
            first = i + 1;
        }
    }
    return rc == MPI_SUCCESS && first < count ? hw_real.Startall(count - first, &requests[first]) : rc;
}

int hw_startall(int count, MPI_Request requests[])
{
    bool is_asked = requests && count > 0 && hw_atomic_load_relaxed(&hw_request_attached) > 0;
    int rc = is_asked ? start_in_order(count, requests) : hw_real.Startall(count, requests);
    if (rc == MPI_SUCCESS)
        started(count, requests);
    return rc;
}
