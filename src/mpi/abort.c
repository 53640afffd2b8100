/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Abort (MPI-4.1 section 9.4): the last moment for a record. */
#include "mpi/abort.h"

#include "hooks.h"
#include "profile/recorder.h"

int hw_abort(MPI_Comm comm, int errorcode)
{
    hw_recorder_end(HW_RECORD_ABORTED, errorcode);
    return hw_real.Abort(comm, errorcode);
}

bool hw_abort_nested(int errorcode)
{
    hw_recorder_end(HW_RECORD_ABORTED, errorcode);
    return false;
}
