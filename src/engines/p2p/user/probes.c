/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/p2p/user/probes.h"

#include "engines/engine.h"
#include "engines/p2p/user/held.h"
#include "engines/p2p/user/turns.h"
#include "real/constants.h"
#include "world/members.h"

#include <sched.h>

/* On other communicators nobody sends tickets. */
static bool is_concerned(int source, MPI_Comm comm)
{
    return source != HW_PROC_NULL && comm != HW_COMM_NULL && hw_world_members_of(comm) != NULL;
}

/* Of what the MPI found: the held message that it has become, where its length may not be the true one. */
static struct hw_p2p_held *held_of(MPI_Comm comm, const MPI_Status *found)
{
    if (!hw_p2p_held_is_due(found) || !hw_p2p_held_take(comm, found))
        return NULL;
    return hw_p2p_held_find(comm, found->MPI_SOURCE, found->MPI_TAG);
}

/* Finds one as MPI_Iprobe does, in a turn. */
static int find(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
    *flag = 1;
    struct hw_p2p_held *held = hw_p2p_held_find(comm, source, tag);
    int rc = held ? MPI_SUCCESS : hw_real.Iprobe(source, tag, comm, flag, status);
    if (rc != MPI_SUCCESS || !*flag)
        return rc;
    if (held == NULL)
        held = held_of(comm, status);
    if (held)
        hw_p2p_held_tell(held, status);
    return rc;
}

/* The message that was found in the same turn, whose envelope is known. */
static int match(MPI_Comm comm, MPI_Message *message, MPI_Status *status)
{
    int flag = 0, source = status->MPI_SOURCE, tag = status->MPI_TAG, rc = MPI_SUCCESS;
    struct hw_p2p_held *held = hw_p2p_held_find(comm, source, tag);
    if (held)
        return hw_p2p_held_match(held, message);
    while (rc == MPI_SUCCESS && !flag)
        rc = hw_real.Improbe(source, tag, comm, &flag, message, status);
    return rc;
}

/* MESSAGE: NULL, or the message found is matched. */
static int look_once(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status)
{
    bool has_turn = hw_p2p_turn_begin();
    int rc = find(source, tag, comm, flag, status);
    if (rc == MPI_SUCCESS && *flag && message)
        rc = match(comm, message, status);
    hw_p2p_turn_end(has_turn);
    return rc;
}

/* What blocks is no part of a turn, and another thread's probe may take what the MPI's own would find. */
static int look_again(int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status)
{
    int flag = 0, rc;
    while ((rc = look_once(source, tag, comm, &flag, message, status)) == MPI_SUCCESS && !flag)
        sched_yield();
    return rc;
}

static int look_alone(int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status)
{
    struct hw_p2p_held *held = hw_p2p_held_find(comm, source, tag);
    int rc = held ? MPI_SUCCESS : hw_real.Probe(source, tag, comm, status);
    if (rc != MPI_SUCCESS)
        return rc;
    if (held == NULL)
        held = held_of(comm, status);
    if (held)
        hw_p2p_held_tell(held, status);
    return message ? match(comm, message, status) : rc;
}

/* FLAG: NULL, or it does not wait. Whatever the MPI's calls do with it that this makes of one, the status's
 * error is the program's: it is set by calls that return several statuses (MPI-4.1 section 3.2.5). */
static int look(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status)
{
    MPI_Status own = {0};
    if (status == HW_STATUS_IGNORE)
        status = &own;
    int rc, error = status->MPI_ERROR;
    if (flag)
        rc = look_once(source, tag, comm, flag, message, status);
    else if (hw_p2p_takes_turns())
        rc = look_again(source, tag, comm, message, status);
    else
        rc = look_alone(source, tag, comm, message, status);
    status->MPI_ERROR = error;
    return rc;
}

int hw_p2p_iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
    return is_concerned(source, comm) && flag ? look(source, tag, comm, flag, NULL, status) : HW_DECLINES;
}

int hw_p2p_improbe(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status)
{
    if (!is_concerned(source, comm) || flag == NULL || message == NULL)
        return HW_DECLINES;
    return look(source, tag, comm, flag, message, status);
}

int hw_p2p_probe(int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    return is_concerned(source, comm) ? look(source, tag, comm, NULL, NULL, status) : HW_DECLINES;
}

int hw_p2p_mprobe(int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status)
{
    if (!is_concerned(source, comm) || message == NULL)
        return HW_DECLINES;
    return look(source, tag, comm, NULL, message, status);
}
