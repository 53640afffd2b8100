/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/coll/user/comms.h"

#include "base/log.h"
#include "engines/coll/shared/opened.h"
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

/* The others have it: a process that has not would leave them waiting. */
static int number_it(int rc, const MPI_Comm *newcomm)
{
    if (rc != MPI_SUCCESS || !hw_world_is_duplicate(*newcomm) || give_number(*newcomm))
        return rc;
    hw_log_error("no memory for a communicator whose collectives ghosts make; run without HEADWAY_COLL. The "
                 "job ends");
    hw_real_end_job(EXIT_NO_MEMORY);
}

int hw_coll_comm_dup(MPI_Comm comm, MPI_Comm *newcomm)
{
    return number_it(hw_real.Comm_dup(comm, newcomm), newcomm);
}

int hw_coll_comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm)
{
    return number_it(hw_real.Comm_dup_with_info(comm, info, newcomm), newcomm);
}
