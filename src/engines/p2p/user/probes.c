/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/p2p/user/probes.h"

#include "engines/engine.h"
#include "engines/p2p/user/held.h"
#include "real/constants.h"
#include "world/members.h"

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

/* Finds one as MPI_Iprobe does. *held: NULL, it is the MPI's. */
static int find(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status, struct hw_p2p_held **held)
{
    *flag = 1;
    *held = hw_p2p_held_find(comm, source, tag);
    int rc = *held ? MPI_SUCCESS : hw_real.Iprobe(source, tag, comm, flag, status);
    if (rc != MPI_SUCCESS || !*flag)
        return rc;
    if (*held == NULL)
        *held = held_of(comm, status);
    if (*held)
        hw_p2p_held_tell(*held, status);
    return rc;
}

int hw_p2p_iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
    struct hw_p2p_held *held;
    MPI_Status own;
    if (!is_concerned(source, comm) || flag == NULL)
        return HW_DECLINES;
    return find(source, tag, comm, flag, status == HW_STATUS_IGNORE ? &own : status, &held);
}

int hw_p2p_probe(int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    MPI_Status own;
    if (!is_concerned(source, comm))
        return HW_DECLINES;
    status = status == HW_STATUS_IGNORE ? &own : status;
    struct hw_p2p_held *held = hw_p2p_held_find(comm, source, tag);
    int rc = held ? MPI_SUCCESS : hw_real.Probe(source, tag, comm, status);
    if (rc == MPI_SUCCESS && held == NULL)
        held = held_of(comm, status);
    if (held)
        hw_p2p_held_tell(held, status);
    return rc;
}

/* The message that `find` found, whose envelope is known. */
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

int hw_p2p_improbe(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status)
{
    struct hw_p2p_held *held;
    MPI_Status own;
    if (!is_concerned(source, comm) || flag == NULL || message == NULL)
        return HW_DECLINES;
    status = status == HW_STATUS_IGNORE ? &own : status;
    int rc = find(source, tag, comm, flag, status, &held);
    return rc == MPI_SUCCESS && *flag ? match(comm, message, status) : rc;
}

int hw_p2p_mprobe(int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status)
{
    MPI_Status own;
    if (!is_concerned(source, comm) || message == NULL)
        return HW_DECLINES;
    status = status == HW_STATUS_IGNORE ? &own : status;
    int rc = hw_p2p_probe(source, tag, comm, status);
    return rc == MPI_SUCCESS ? match(comm, message, status) : rc;
}
