/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/coll/user/comms.h"

#include "base/log.h"
#include "engines/coll/shared/opened.h"
#include "engines/engine.h"
#include "objects/comm_state.h"
#include "real/constants.h"
#include "real/end_job.h"
#include "world/comm.h"
#include "world/world.h"

#include <stdlib.h>

enum { EXIT_NO_MEMORY = 1 };

static struct hw_comm_state state = HW_COMM_STATE_CLOSED;
static uint32_t next_number;

static void *make(MPI_Comm comm)
{
    (void)comm;
    return calloc(1, sizeof(struct hw_coll_comm));
}

/* False: there is no memory. */
static bool give_number(MPI_Comm comm)
{
    struct hw_coll_comm *known = hw_comm_state_of(&state, comm, make);
    uint32_t number = next_number;
    if (known == NULL)
        return false;
    if (number >= hw_coll_opened.comm_count)
        return true; /* at all alike */
    next_number++;
    known->is_known = true;
    known->number = number;
    return true;
}

bool hw_coll_comms_open(void)
{
    next_number = 0;
    return give_number(hw_world_translation.to);
}

void hw_coll_comms_close(void) { hw_comm_state_close(&state); }

struct hw_coll_comm *hw_coll_comm_of(MPI_Comm comm)
{
    struct hw_coll_comm *known = comm == HW_COMM_NULL ? NULL : hw_comm_state_of(&state, comm, make);
    return known && known->is_known ? known : NULL;
}

/* The others have it: a process that has not would leave them waiting. MPICH 5 returns MPI_SUCCESS after an
 * error handler of the program, too: then there is none. */
static int number_it(int rc, MPI_Comm made, MPI_Comm *newcomm)
{
    if (rc == MPI_SUCCESS)
        *newcomm = made;
    if (rc != MPI_SUCCESS || !hw_world_is_duplicate(made) || give_number(made))
        return rc;
    hw_log_error("no memory for a communicator whose collectives ghosts make; run without HEADWAY_COLL. The "
                 "job ends");
    hw_real_end_job(EXIT_NO_MEMORY);
}

int hw_coll_comm_dup(MPI_Comm comm, MPI_Comm *newcomm)
{
    MPI_Comm made = HW_COMM_NULL;
    if (newcomm == NULL)
        return HW_DECLINES;
    int rc = hw_real.Comm_dup(comm, &made);
    return number_it(rc, made, newcomm);
}

int hw_coll_comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm)
{
    MPI_Comm made = HW_COMM_NULL;
    if (newcomm == NULL)
        return HW_DECLINES;
    int rc = hw_real.Comm_dup_with_info(comm, info, &made);
    return number_it(rc, made, newcomm);
}
