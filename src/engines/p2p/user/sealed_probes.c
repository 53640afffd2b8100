/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/p2p/user/sealed_probes.h"

#include "engines/engine.h"
#include "engines/p2p/shared/opened.h"
#include "engines/p2p/user/own.h"
#include "engines/p2p/user/turns.h"
#include "real/constants.h"

#include <sched.h>
#include <stdlib.h>

/* A large message that the program has from a matched probe: its handle is that of an empty message of this
 * process to itself. */
struct given {
    struct given *next;
    MPI_Message message;
    MPI_Request request;
    MPI_Comm comm;
    struct hw_p2p_seal *seal;
    int source, tag;
    uint64_t name; /* what the ghost knows it by */
};
static struct given *given;

enum found { NOTHING, SMALL, LARGE };

static void check(MPI_Comm comm, int source, int tag)
{
    if (source == HW_ANY_SOURCE)
        hw_p2p_seal_broken(comm, "probes for MPI_ANY_SOURCE");
    if (tag == HW_ANY_TAG)
        hw_p2p_seal_broken(comm, "probes for MPI_ANY_TAG");
}

static bool has_unclaimed(void)
{
    return hw_atomic_load_relaxed(&hw_p2p_sealed_of(hw_p2p_opened.block)->unclaimed) > 0;
}

static void tell(MPI_Status *status, int source, int tag, uint64_t bytes)
{
    status->MPI_SOURCE = source;
    status->MPI_TAG = tag;
    hw_bottom.Status_set_elements_x(status, HW_BYTE, (MPI_Count)bytes);
    hw_bottom.Status_set_cancelled(status, 0);
}

/* Which message is the next of a sender and a tag that no receive was posted for. Where the MPI has a small
 * one, all is asked for that its sender has posted for ghosts: a large one may have been sent before it. */
static int find(struct hw_p2p_seal *seal, int source, int tag, MPI_Comm comm, MPI_Status *status,
                enum found *found)
{
    int flag = 0, error = status->MPI_ERROR; /* the program's (probes.c) */
    *found = NOTHING;
    int rc = hw_real.Iprobe(source, tag, comm, &flag, status);
    status->MPI_ERROR = error;
    if (rc != MPI_SUCCESS || (!flag && !has_unclaimed()))
        return rc;
    const struct hw_p2p_smalls *smalls = hw_p2p_seal_smalls(seal, source, tag);
    uint64_t received = smalls ? smalls->received : 0;
    struct hw_p2p_end end = hw_p2p_sealed_ask(seal, HW_P2P_LOOK, source, tag, flag != 0);
    bool is_large = (end.flags & HW_P2P_END_FOUND) && end.before <= received;
    if (is_large) {
        *found = LARGE;
        tell(status, source, tag, end.bytes);
    } else if (flag) {
        *found = SMALL;
    }
    return rc;
}

int hw_p2p_sealed_iprobe(struct hw_p2p_seal *seal, int source, int tag, MPI_Comm comm, int *flag,
                         MPI_Status *status)
{
    MPI_Status own = {0};
    enum found found;
    check(comm, source, tag);
    if (!hw_p2p_sealed_is_far(seal, source) || flag == NULL)
        return HW_DECLINES;
    int rc = find(seal, source, tag, comm, status == HW_STATUS_IGNORE ? &own : status, &found);
    if (rc == MPI_SUCCESS)
        *flag = found != NOTHING;
    return rc;
}

static int wait_for(struct hw_p2p_seal *seal, int source, int tag, MPI_Comm comm, MPI_Status *status,
                    enum found *found)
{
    for (;;) {
        int rc = find(seal, source, tag, comm, status, found);
        if (rc != MPI_SUCCESS || *found != NOTHING)
            return rc;
        sched_yield(); /* the ghost may share the core, and the MPI tells nobody who sleeps */
    }
}

int hw_p2p_sealed_probe(struct hw_p2p_seal *seal, int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    MPI_Status own = {0};
    enum found found;
    check(comm, source, tag);
    if (!hw_p2p_sealed_is_far(seal, source))
        return HW_DECLINES;
    return wait_for(seal, source, tag, comm, status == HW_STATUS_IGNORE ? &own : status, &found);
}

/* ---- matched ones ----------------------------------------------------------------------------------------
 */

static int take_small(struct hw_p2p_seal *seal, MPI_Comm comm, MPI_Message *message, MPI_Status *status)
{
    int flag = 0, rc = MPI_SUCCESS, source = status->MPI_SOURCE, tag = status->MPI_TAG;
    int error = status->MPI_ERROR;
    while (rc == MPI_SUCCESS && !flag)
        rc = hw_real.Improbe(source, tag, comm, &flag, message, status);
    status->MPI_ERROR = error;
    struct hw_p2p_smalls *smalls = rc == MPI_SUCCESS ? hw_p2p_seal_smalls(seal, source, tag) : NULL;
    if (smalls)
        smalls->received++;
    return rc;
}

/* Its sender may have cancelled it since it was found: *found is NOTHING then. */
static int take_large(struct hw_p2p_seal *seal, MPI_Comm comm, MPI_Message *message, MPI_Status *status,
                      enum found *found)
{
    int flag = 0, own_tag = hw_p2p_own_tag();
    struct given *one = malloc(sizeof *one);
    if (one == NULL)
        return hw_p2p_sealed_raise(comm, MPI_ERR_NO_MEM);
    const struct hw_p2p_smalls *smalls = hw_p2p_seal_smalls(seal, status->MPI_SOURCE, status->MPI_TAG);
    struct hw_p2p_end end = hw_p2p_sealed_ask(seal, HW_P2P_CLAIM, status->MPI_SOURCE, status->MPI_TAG,
                                              smalls ? smalls->received : 0);
    if (!(end.flags & HW_P2P_END_FOUND)) {
        *found = NOTHING;
        free(one);
        return MPI_SUCCESS;
    }
    tell(status, status->MPI_SOURCE, status->MPI_TAG, end.bytes); /* the next one's, after a cancelled one */
    *one = (struct given){.comm = comm,
                          .seal = seal,
                          .source = status->MPI_SOURCE,
                          .tag = status->MPI_TAG,
                          .name = end.before,
                          .request = HW_REQUEST_NULL};
    int rc = hw_bottom.Isend(NULL, 0, HW_BYTE, 0, own_tag, hw_p2p_own_comm(), &one->request);
    while (rc == MPI_SUCCESS && !flag)
        rc = hw_bottom.Improbe(0, own_tag, hw_p2p_own_comm(), &flag, &one->message, HW_STATUS_IGNORE);
    if (rc != MPI_SUCCESS) {
        free(one);
        return hw_p2p_sealed_raise(comm, rc);
    }
    hw_p2p_seal_hold(seal);
    *message = one->message;
    bool has_turn = hw_p2p_turn_begin();
    one->next = given;
    given = one;
    hw_p2p_turn_end(has_turn);
    return MPI_SUCCESS;
}

static int take(struct hw_p2p_seal *seal, enum found *found, MPI_Comm comm, MPI_Message *message,
                MPI_Status *status)
{
    return *found == LARGE ? take_large(seal, comm, message, status, found)
                           : take_small(seal, comm, message, status);
}

int hw_p2p_sealed_improbe(struct hw_p2p_seal *seal, int source, int tag, MPI_Comm comm, int *flag,
                          MPI_Message *message, MPI_Status *status)
{
    MPI_Status own = {0};
    enum found found;
    check(comm, source, tag);
    if (!hw_p2p_sealed_is_far(seal, source) || flag == NULL || message == NULL)
        return HW_DECLINES;
    status = status == HW_STATUS_IGNORE ? &own : status;
    int rc = find(seal, source, tag, comm, status, &found);
    if (rc == MPI_SUCCESS && found != NOTHING)
        rc = take(seal, &found, comm, message, status);
    if (rc == MPI_SUCCESS)
        *flag = found != NOTHING;
    return rc;
}

int hw_p2p_sealed_mprobe(struct hw_p2p_seal *seal, int source, int tag, MPI_Comm comm, MPI_Message *message,
                         MPI_Status *status)
{
    MPI_Status own = {0};
    enum found found;
    check(comm, source, tag);
    if (!hw_p2p_sealed_is_far(seal, source) || message == NULL)
        return HW_DECLINES;
    status = status == HW_STATUS_IGNORE ? &own : status;
    int rc;
    do {
        rc = wait_for(seal, source, tag, comm, status, &found);
        if (rc == MPI_SUCCESS)
            rc = take(seal, &found, comm, message, status);
    } while (rc == MPI_SUCCESS && found == NOTHING);
    return rc;
}

static struct given *given_as(const MPI_Message *message)
{
    if (message == NULL || *message == HW_MESSAGE_NULL || *message == HW_MESSAGE_NO_PROC)
        return NULL;
    bool has_turn = hw_p2p_turn_begin();
    struct given **link = &given, *one;
    while ((one = *link) != NULL && one->message != *message)
        link = &one->next;
    if (one)
        *link = one->next;
    hw_p2p_turn_end(has_turn);
    return one;
}

int hw_p2p_sealed_matched(void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Message *message,
                          struct hw_p2p_operation **operation)
{
    struct given *one = given_as(message);
    if (one == NULL)
        return HW_DECLINES;
    hw_bottom.Mrecv(NULL, 0, HW_BYTE, message, HW_STATUS_IGNORE);
    hw_bottom.Wait(&one->request, HW_STATUS_IGNORE);
    const struct hw_p2p_part part = {buf, count, datatype, one->source, one->tag};
    int rc = hw_p2p_operation_make(one->seal, one->comm, &part, HW_P2P_TAKEN, operation);
    if (rc == MPI_SUCCESS) {
        (*operation)->command.kind = HW_P2P_CLAIMED;
        (*operation)->command.before = one->name;
        hw_p2p_operation_post(*operation);
    }
    hw_p2p_seal_release(one->seal);
    free(one);
    return rc;
}
