/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/p2p/user/held.h"

#include "engines/p2p/user/own.h"
#include "engines/p2p/user/turns.h"
#include "profile/record/counters.h"
#include "real/constants.h"
#include "world/members.h"

#include <stdlib.h>
#include <string.h>

/* Either the MPI's message, not received yet, or the bytes of one. */
struct hw_p2p_held {
    struct hw_p2p_held *next;
    uint64_t comm;
    MPI_Message message; /* null: the bytes */
    MPI_Status status;   /* the true length */
    struct hw_p2p_ticket bytes;
};

/* What the program has of mprobes, from here. */
struct given {
    struct given *next;
    MPI_Message message;
    struct hw_p2p_matched matched;
};

atomic_uint hw_p2p_held_count;
static struct hw_p2p_held *first;
static struct given *given;

uint64_t hw_p2p_held_number_of(MPI_Comm comm)
{
    const struct hw_world_members *members = hw_world_members_of(comm);
    return members ? members->number : 0;
}

struct hw_p2p_held *hw_p2p_held_find(MPI_Comm comm, int source, int tag)
{
    return hw_p2p_held_are_any() ? hw_p2p_held_find_by(hw_p2p_held_number_of(comm), source, tag) : NULL;
}

struct hw_p2p_held *hw_p2p_held_find_by(uint64_t number, int source, int tag)
{
    for (struct hw_p2p_held *held = first; number != 0 && held != NULL; held = held->next)
        if (held->comm == number && (source == HW_ANY_SOURCE || held->status.MPI_SOURCE == source) &&
            (tag == HW_ANY_TAG || held->status.MPI_TAG == tag))
            return held;
    return NULL;
}

void hw_p2p_held_tell(const struct hw_p2p_held *held, MPI_Status *status)
{
    if (status == HW_STATUS_IGNORE)
        return;
    int kept = status->MPI_ERROR;
    *status = held->status;
    status->MPI_ERROR = kept;
}

bool hw_p2p_held_is_due(const MPI_Status *status)
{
    int bytes = 0;
    return hw_bottom.Get_count(status, HW_BYTE, &bytes) == MPI_SUCCESS && bytes == HW_P2P_TICKET_BYTES;
}

static void append(struct hw_p2p_held *held)
{
    struct hw_p2p_held **link = &first;
    while (*link)
        link = &(*link)->next;
    *link = held;
    hw_atomic_add_relaxed(&hw_p2p_held_count, 1);
    HW_COUNT(p2p_held);
}

/* A message of a ticket's length is looked into. */
static void look_into(struct hw_p2p_held *held)
{
    if (!hw_p2p_held_is_due(&held->status))
        return;
    hw_bottom.Mrecv(&held->bytes, sizeof held->bytes, HW_BYTE, &held->message, HW_STATUS_IGNORE);
    held->message = HW_MESSAGE_NULL;
    if (hw_p2p_is_ticket(&held->bytes))
        hw_bottom.Status_set_elements(&held->status, HW_BYTE, (int)held->bytes.bytes);
}

bool hw_p2p_held_take(MPI_Comm comm, const MPI_Status *status)
{
    int source = status->MPI_SOURCE, tag = status->MPI_TAG;
    uint64_t number = hw_p2p_held_number_of(comm);
    for (bool is_last = false; !is_last;) {
        int flag = 0;
        struct hw_p2p_held *held = calloc(1, sizeof *held);
        if (held == NULL)
            return false;
        held->comm = number;
        while (!flag)
            if (hw_bottom.Improbe(source, HW_ANY_TAG, comm, &flag, &held->message, &held->status) !=
                MPI_SUCCESS) {
                free(held);
                return false;
            }
        is_last = held->status.MPI_TAG == tag;
        look_into(held);
        append(held);
    }
    return true;
}

static void let_go(struct hw_p2p_held *held)
{
    struct hw_p2p_held **link = &first;
    while (*link != held)
        link = &(*link)->next;
    *link = held->next;
    hw_atomic_sub_relaxed(&hw_p2p_held_count, 1);
}

static void end(struct hw_p2p_held *held)
{
    let_go(held);
    memset(&held->bytes, 0, sizeof held->bytes);
    free(held);
}

int hw_p2p_held_receive(struct hw_p2p_held *held, void *buf, MPI_Count count, MPI_Datatype datatype,
                        MPI_Request *request, struct hw_p2p_envelope *envelope)
{
    *envelope = (struct hw_p2p_envelope){0};
    int rc;
    bool is_refused = false; /* it is the next receive's */
    if (held->message != HW_MESSAGE_NULL) {
        rc = hw_real_imrecv(buf, count, datatype, &held->message, request);
        is_refused = rc != MPI_SUCCESS && held->message != HW_MESSAGE_NULL;
    } else {
        int tag = hw_p2p_own_tag();
        *envelope = (struct hw_p2p_envelope){true, held->status.MPI_SOURCE, held->status.MPI_TAG};
        rc = hw_real_irecv(buf, count, datatype, 0, tag, hw_p2p_own_comm(), request);
        is_refused = rc != MPI_SUCCESS;
        if (rc == MPI_SUCCESS)
            hw_bottom.Send(&held->bytes, sizeof held->bytes, HW_BYTE, 0, tag, hw_p2p_own_comm());
    }
    if (!is_refused)
        end(held);
    return rc;
}

/* The bytes travel to this process itself once more, so that the program has a message of the MPI's. */
static int match_bytes(struct hw_p2p_held *held, struct given *one, MPI_Message *message)
{
    int tag = hw_p2p_own_tag(), flag = 0;
    one->matched.envelope = (struct hw_p2p_envelope){true, held->status.MPI_SOURCE, held->status.MPI_TAG};
    one->matched.memory = held;
    int rc = hw_bottom.Isend(&held->bytes, sizeof held->bytes, HW_BYTE, 0, tag, hw_p2p_own_comm(),
                             &one->matched.request);
    while (rc == MPI_SUCCESS && !flag)
        rc = hw_bottom.Improbe(0, tag, hw_p2p_own_comm(), &flag, message, HW_STATUS_IGNORE);
    return rc;
}

int hw_p2p_held_match(struct hw_p2p_held *held, MPI_Message *message)
{
    if (held->message != HW_MESSAGE_NULL) {
        *message = held->message;
        end(held);
        return MPI_SUCCESS;
    }
    struct given *one = calloc(1, sizeof *one);
    int rc = one ? match_bytes(held, one, message) : MPI_ERR_NO_MEM;
    if (rc != MPI_SUCCESS) {
        free(one);
        return rc;
    }
    let_go(held); /* its memory stays until the message was received */
    one->message = *message;
    one->next = given;
    given = one;
    return MPI_SUCCESS;
}

static bool find_given(MPI_Message message, struct hw_p2p_matched *matched)
{
    for (struct given **link = &given, *one; (one = *link) != NULL; link = &one->next) {
        if (one->message != message)
            continue;
        *matched = one->matched;
        *link = one->next;
        free(one);
        return true;
    }
    return false;
}

bool hw_p2p_held_matched(MPI_Message message, struct hw_p2p_matched *matched)
{
    bool has_turn = hw_p2p_turn_begin();
    bool is_given = find_given(message, matched);
    hw_p2p_turn_end(has_turn);
    return is_given;
}
