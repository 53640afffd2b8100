/* SPDX-License-Identifier: BSD-3-Clause */
/* Nonblocking file access (MPI-4.1 section 14.4). */
#include "mpi/io.h"

#include "hooks.h"
#include "mpi/track.h"

void hw_io_leave(void)
{
    if (hw_engine_is_on())
        hw_engines_retire("nonblocking file access is not safe against a second thread on Open MPI");
}

void hw_io_posted(MPI_Count count, MPI_Datatype datatype, MPI_Request *request)
{
    if (!hw_engine_is_on())
        return;
    HW_COUNT(tracked_io);
    if (!HW_REAL_IS_IO_SAFE)
        hw_io_leave();
    hw_engines_post(HW_REQUEST_IO, hw_engines_bytes(count, datatype), false, *request);
}
