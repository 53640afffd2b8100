/* SPDX-License-Identifier: BSD-3-Clause */
/* Nonblocking collectives (MPI-4.1 section 6.12): every step of the schedule needs somebody to call MPI, so
 * they are tracked at any size. */
#include "hooks.h"
#include "mpi/track.h"

void hw_icollective_posted(MPI_Count count, MPI_Datatype datatype, MPI_Comm comm, MPI_Request *request)
{
    (void)comm;
    if (!hw_engine_is_on())
        return;
    HW_COUNT(tracked_collective);
    hw_engines_post(HW_REQUEST_COLLECTIVE, hw_engines_bytes(count, datatype), false, *request);
}

void hw_ireduction_posted(MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                          MPI_Request *request)
{
    if (hw_track_is_callback(op))
        hw_request_post(*request, HW_REQUEST_CALLBACK, hw_engines_bytes(count, datatype));
    else
        hw_icollective_posted(count, datatype, comm, request);
}

void hw_duplication_posted(MPI_Comm comm, MPI_Request *request)
{
    if (HW_REAL_IS_DUPLICATION_SAFE)
        hw_icollective_posted(0, HW_DATATYPE_NULL, comm, request);
    else if (hw_engine_is_on())
        hw_request_post(*request, HW_REQUEST_CALLBACK, 0);
}
