/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Abort (MPI-4.1 section 9.4): the last moment for a record. MPI_COMM_WORLD is left to the MPI as it is:
 * MPICH has its launcher end a job for that communicator alone. The processes of any other one get a message
 * of it, and the launcher's status may then be that of a process that it killed. */
#include "mpi/abort.h"

#include "base/log.h"
#include "hooks.h"
#include "profile/recorder.h"
#include "world/world.h"

static void note_end(int errorcode)
{
    hw_recorder_end(HW_RECORD_ABORTED, errorcode);
    if (!hw_world_has_ghosts() || hw_world.rank == hw_world.user_rank)
        return;
    hw_log_warn("MPI_Abort with code %d; the MPI counts ghosts, too: this process is its rank %d", errorcode,
                hw_world.rank);
    hw_log_await_reader();
}

int hw_abort(MPI_Comm comm, int errorcode)
{
    note_end(errorcode);
    return hw_real.Abort(comm, errorcode);
}

bool hw_abort_nested(int errorcode)
{
    note_end(errorcode);
    return false;
}
