/* SPDX-License-Identifier: BSD-3-Clause */
/* Each receive whose buffer has room for a ticket is looked at when the MPI has completed it; each looks
 * first whether a held message is its own. What is wrong with a call is left to the MPI. */
#include "engines/p2p/user/calls.h"

#include "engines/p2p/user/held.h"
#include "engines/p2p/user/own.h"
#include "engines/p2p/user/persistent.h"
#include "engines/p2p/user/probes.h"
#include "engines/p2p/user/receiving.h"
#include "engines/p2p/user/replaced.h"
#include "engines/p2p/user/send.h"
#include "engines/p2p/user/turns.h"
#include "objects/request.h"
#include "real/constants.h"
#include "real/quirks.h"
#include "real/type_size.h"

#include <stdlib.h>

#define SENDS(name)                                                                                          \
    static int name(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,              \
                    MPI_Comm comm, MPI_Request *request)                                                     \
    {                                                                                                        \
        return hw_p2p_send(&(struct hw_p2p_sent){buf, count, datatype, dest, tag, comm, hw_real_##name},     \
                           request);                                                                         \
    }

SENDS(isend)
SENDS(issend)
SENDS(irsend)

/* By nonblocking sends of the same mode. */
#define PERSISTS(name, mode)                                                                                 \
    static int name(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,              \
                    MPI_Comm comm, MPI_Request *request)                                                     \
    {                                                                                                        \
        return hw_p2p_send_init(                                                                             \
            &(struct hw_p2p_sent){buf, count, datatype, dest, tag, comm, hw_real_##mode}, hw_real_##name,    \
            request);                                                                                        \
    }

PERSISTS(send_init, isend)
PERSISTS(ssend_init, issend)
PERSISTS(rsend_init, irsend)

/* ---- receives ---- */

/* Whether what is received may be a ticket. */
static bool has_room(MPI_Count count, MPI_Datatype datatype, int source)
{
    return count > 0 && source != HW_PROC_NULL && datatype != HW_DATATYPE_NULL &&
           (uint64_t)count * hw_real_type_size(datatype) >= HW_P2P_TICKET_BYTES;
}

/* The held message that a receive gets; NULL in nearly all cases. */
static struct hw_p2p_held *held_for(MPI_Comm comm, int source, int tag)
{
    return __builtin_expect(hw_p2p_held_are_any(), 0) ? hw_p2p_held_find(comm, source, tag) : NULL;
}

/* What follows the MPI's part of a receive without a request. */
static int received(struct hw_p2p_receive *receive, MPI_Status *status, int rc)
{
    if (rc != MPI_SUCCESS)
        return rc;
    hw_p2p_receive_land(receive, status);
    return hw_p2p_receive_finish(receive, status);
}

/* What the MPI says of a message that came from this process itself the program's handler has not heard. */
static int raised(const struct hw_p2p_receive *receive, int rc)
{
    if (rc != MPI_SUCCESS && receive->envelope.is_there)
        hw_bottom.Comm_call_errhandler(receive->comm, rc);
    return rc;
}

/* The rest of a receive that was posted; the status is no null pointer. */
static int receive_posted(struct hw_p2p_receive *receive, MPI_Request *request, MPI_Status *status)
{
    return received(receive, status, raised(receive, hw_bottom.Wait(request, status)));
}

/* Receives a held message. */
static int receive_held(struct hw_p2p_held *held, struct hw_p2p_receive *receive, MPI_Status *status)
{
    MPI_Request request;
    int rc = hw_p2p_held_receive(held, (void *)receive->memory, receive->count, receive->type, &request,
                                 &receive->envelope);
    return rc == MPI_SUCCESS ? receive_posted(receive, &request, status) : raised(receive, rc);
}

/* Whether a receive is one that a held message could be for. */
static bool may_receive(MPI_Datatype datatype, int source, MPI_Comm comm)
{
    return source != HW_PROC_NULL && datatype != HW_DATATYPE_NULL && comm != HW_COMM_NULL;
}

static int post_by_turns(struct hw_p2p_receive *receive, int source, int tag, MPI_Request *request)
{
    void *buf = (void *)receive->memory;
    *request = HW_REQUEST_NULL;
    bool has_turn = hw_p2p_turn_begin();
    struct hw_p2p_held *held = held_for(receive->comm, source, tag);
    int rc = held ? hw_p2p_held_receive(held, buf, receive->count, receive->type, request, &receive->envelope)
                  : hw_real_irecv(buf, receive->count, receive->type, source, tag, receive->comm, request);
    hw_p2p_turn_end(has_turn);
    return raised(receive, rc);
}

/* At MPI_THREAD_MULTIPLE: in one turn the receive gets a held message or is posted, and then it waits. */
static int receive_by_turns(struct hw_p2p_receive *receive, int source, int tag, MPI_Status *status)
{
    MPI_Request request;
    int rc = post_by_turns(receive, source, tag, &request);
    return rc == MPI_SUCCESS ? receive_posted(receive, &request, status) : rc;
}

static int receive(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                   MPI_Status *status)
{
    struct hw_p2p_receive one;
    MPI_Status own;
    if (hw_p2p_takes_turns() && may_receive(datatype, source, comm)) {
        hw_p2p_receive_begin(&one, (uintptr_t)buf, count, datatype, comm, false);
        return receive_by_turns(&one, source, tag, status == HW_STATUS_IGNORE ? &own : status);
    }
    struct hw_p2p_held *held = held_for(comm, source, tag);
    if (held == NULL && !has_room(count, datatype, source))
        return HW_DECLINES;
    status = status == HW_STATUS_IGNORE ? &own : status;
    hw_p2p_receive_begin(&one, (uintptr_t)buf, count, datatype, comm, false);
    if (held)
        return receive_held(held, &one, status);
    return received(&one, status, hw_real_recv(buf, count, datatype, source, tag, comm, status));
}

/* Of a receive with a request, after its real call, which may leave none (hw_real_hides_refusals). */
static int posted(struct hw_p2p_receiving *receiving, MPI_Request *request, int rc)
{
    if (hw_real_is_made(rc, request))
        hw_p2p_receiving_attach(receiving, *request);
    else
        hw_p2p_receiving_drop(receiving);
    return rc;
}

static struct hw_p2p_receiving *prepare(void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Comm comm)
{
    struct hw_p2p_receiving *receiving = hw_p2p_receiving_make();
    if (receiving)
        hw_p2p_receive_begin(hw_p2p_receiving_receive(receiving), (uintptr_t)buf, count, datatype, comm,
                             true);
    else
        hw_bottom.Comm_call_errhandler(HW_COMM_WORLD, MPI_ERR_NO_MEM);
    return receiving;
}

static int irecv_in_turn(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                         MPI_Comm comm, MPI_Request *request)
{
    if (request == NULL)
        return HW_DECLINES;
    struct hw_p2p_held *held = held_for(comm, source, tag);
    if (held == NULL && !has_room(count, datatype, source))
        return HW_DECLINES;
    struct hw_p2p_receiving *receiving = prepare(buf, count, datatype, comm);
    if (receiving == NULL)
        return MPI_ERR_NO_MEM;
    struct hw_p2p_receive *one = hw_p2p_receiving_receive(receiving);
    int rc = held ? hw_p2p_held_receive(held, buf, count, datatype, request, &one->envelope)
                  : hw_real_irecv(buf, count, datatype, source, tag, comm, request);
    return posted(receiving, request, rc);
}

/* Of a real call that was made in a turn, which nobody follows. */
static int left_out(int rc, const MPI_Request *request)
{
    if (rc == MPI_SUCCESS && request)
        hw_request_leave_out(*request);
    return rc;
}

/* In a turn the real call is part of it. */
static int irecv(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                 MPI_Request *request)
{
    bool has_turn = hw_p2p_turn_begin();
    int rc = irecv_in_turn(buf, count, datatype, source, tag, comm, request);
    if (rc == HW_DECLINES && has_turn)
        rc = left_out(hw_real_irecv(buf, count, datatype, source, tag, comm, request), request);
    hw_p2p_turn_end(has_turn);
    return rc;
}

static int recv_init(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                     MPI_Request *request)
{
    if (request == NULL || source == HW_PROC_NULL || datatype == HW_DATATYPE_NULL)
        return HW_DECLINES;
    struct hw_p2p_receiving *receiving = prepare(buf, count, datatype, comm);
    if (receiving == NULL)
        return MPI_ERR_NO_MEM;
    int rc = hw_real_recv_init(buf, count, datatype, source, tag, comm, request);
    if (hw_real_is_made(rc, request))
        hw_p2p_receiving_persists(receiving, source, tag);
    return posted(receiving, request, rc);
}

/* ---- matched receives ---- */

static bool is_matched(const MPI_Message *message)
{
    return message && *message != HW_MESSAGE_NULL && *message != HW_MESSAGE_NO_PROC;
}

static int mrecv(void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Message *message, MPI_Status *status)
{
    struct hw_p2p_receive one;
    struct hw_p2p_matched matched;
    MPI_Status own;
    if (!is_matched(message))
        return HW_DECLINES;
    bool is_held = hw_p2p_held_matched(*message, &matched);
    if (!is_held && !has_room(count, datatype, HW_ANY_SOURCE))
        return HW_DECLINES;
    status = status == HW_STATUS_IGNORE ? &own : status;
    hw_p2p_receive_begin(&one, (uintptr_t)buf, count, datatype, HW_COMM_NULL, false);
    int rc = hw_real_mrecv(buf, count, datatype, message, status);
    if (is_held) {
        one.envelope = matched.envelope;
        hw_bottom.Wait(&matched.request, HW_STATUS_IGNORE);
        free(matched.memory);
        if (rc != MPI_SUCCESS)
            hw_bottom.Comm_call_errhandler(HW_COMM_WORLD, rc);
    }
    return received(&one, status, rc);
}

static int imrecv(void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Message *message,
                  MPI_Request *request)
{
    struct hw_p2p_matched matched;
    if (!is_matched(message) || request == NULL)
        return HW_DECLINES;
    bool is_held = hw_p2p_held_matched(*message, &matched);
    if (!is_held && !has_room(count, datatype, HW_ANY_SOURCE))
        return HW_DECLINES;
    struct hw_p2p_receiving *receiving = prepare(buf, count, datatype, HW_COMM_NULL);
    if (receiving == NULL)
        return MPI_ERR_NO_MEM;
    if (is_held) {
        hw_p2p_receiving_receive(receiving)->envelope = matched.envelope;
        hw_p2p_receiving_add(receiving, matched.request, matched.memory);
    }
    return posted(receiving, request, hw_real_imrecv(buf, count, datatype, message, request));
}

/* ---- both ways ---- */

static bool has_peer(MPI_Comm comm, int peer, bool is_receive)
{
    int is_inter = 0, size = 0;
    if (peer == HW_PROC_NULL || (is_receive && peer == HW_ANY_SOURCE))
        return true;
    if (hw_bottom.Comm_test_inter(comm, &is_inter) != MPI_SUCCESS)
        return false;
    int rc = is_inter ? hw_bottom.Comm_remote_size(comm, &size) : hw_bottom.Comm_size(comm, &size);
    return rc == MPI_SUCCESS && peer >= 0 && peer < size;
}

/* A half of a call that does both. */
struct half {
    const void *buf;
    MPI_Count count;
    MPI_Datatype datatype;
    int peer, tag;
};

static bool is_taken(const struct half *half, MPI_Comm comm, bool is_receive)
{
    return has_peer(comm, half->peer, is_receive) &&
           hw_p2p_own_accepts(half->buf, half->count, half->datatype,
                              is_receive && half->tag == HW_ANY_TAG ? 0 : half->tag);
}

/* Whether the MPI takes both halves. Where it does not the call is left to it, which says so and does
 * nothing: what was posted of the other half could have got, or sent, a message. */
static bool are_taken(struct half sent, struct half received, MPI_Comm comm)
{
    return is_taken(&sent, comm, false) && is_taken(&received, comm, true);
}

/* Of a send beside a receive that was posted: the end of both. `sent_rc`: what its post returned. If the MPI
 * has refused it after all nothing comes. */
static int end_both(struct hw_p2p_receive *receive, MPI_Request *request, MPI_Status *status, int sent_rc,
                    MPI_Request *sent)
{
    if (!hw_real_is_made(sent_rc, sent)) {
        hw_bottom.Cancel(request);
        hw_bottom.Wait(request, HW_STATUS_IGNORE);
        return sent_rc;
    }
    int rc = receive_posted(receive, request, status);
    sent_rc = hw_bottom.Wait(sent, HW_STATUS_IGNORE);
    return rc != MPI_SUCCESS ? rc : sent_rc;
}

static int sendrecv(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest, int sendtag,
                    void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int source, int recvtag,
                    MPI_Comm comm, MPI_Status *status)
{
    struct hw_p2p_receive one;
    MPI_Status own;
    MPI_Request sent = HW_REQUEST_NULL;
    bool has_turns = hw_p2p_takes_turns() && may_receive(recvtype, source, comm);
    struct hw_p2p_held *held = has_turns ? NULL : held_for(comm, source, recvtag);
    if ((has_turns || held) && !are_taken((struct half){sendbuf, sendcount, sendtype, dest, sendtag},
                                          (struct half){recvbuf, recvcount, recvtype, source, recvtag}, comm))
        return HW_DECLINES;
    if (has_turns) {
        MPI_Request request;
        hw_p2p_receive_begin(&one, (uintptr_t)recvbuf, recvcount, recvtype, comm, false);
        int posted_rc = post_by_turns(&one, source, recvtag, &request);
        if (!hw_real_is_made(posted_rc, &request))
            return posted_rc;
        posted_rc = hw_real_isend(sendbuf, sendcount, sendtype, dest, sendtag, comm, &sent);
        return end_both(&one, &request, status == HW_STATUS_IGNORE ? &own : status, posted_rc, &sent);
    }
    if (held == NULL && !has_room(recvcount, recvtype, source))
        return HW_DECLINES;
    status = status == HW_STATUS_IGNORE ? &own : status;
    hw_p2p_receive_begin(&one, (uintptr_t)recvbuf, recvcount, recvtype, comm, false);
    if (held == NULL)
        return received(&one, status,
                        hw_real_sendrecv(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount,
                                         recvtype, source, recvtag, comm, status));
    int sent_rc = hw_real_isend(sendbuf, sendcount, sendtype, dest, sendtag, comm, &sent);
    if (!hw_real_is_made(sent_rc, &sent)) /* the held message is the next receive's */
        return sent_rc;
    int rc = receive_held(held, &one, status);
    sent_rc = hw_bottom.Wait(&sent, HW_STATUS_IGNORE);
    return rc != MPI_SUCCESS ? rc : sent_rc;
}

/* *copy is what it sends from, to be freed. */
static int isend_copy(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                      MPI_Comm comm, void **copy, MPI_Request *request)
{
    const void *elements;
    int rc = hw_p2p_replaced_copy(buf, count, datatype, comm, copy, &elements);
    return rc == MPI_SUCCESS ? hw_real_isend(elements, count, datatype, dest, tag, comm, request) : rc;
}

/* Of more than so many bytes there is no copy. */
static bool is_copied(MPI_Count count, MPI_Datatype datatype)
{
    return count >= 0 && count <= INT32_MAX && hw_engines_bytes(count, datatype) <= INT32_MAX / 2;
}

static int replace_by_turns(struct hw_p2p_receive *one, int dest, int sendtag, int source, int recvtag,
                            MPI_Status *status)
{
    MPI_Request request, sent = HW_REQUEST_NULL;
    void *copy = NULL;
    const void *elements;
    int rc = hw_p2p_replaced_copy((void *)one->memory, one->count, one->type, one->comm, &copy, &elements);
    if (rc == MPI_SUCCESS) {
        rc = post_by_turns(one, source, recvtag, &request);
        if (hw_real_is_made(rc, &request)) {
            rc = hw_real_isend(elements, one->count, one->type, dest, sendtag, one->comm, &sent);
            rc = end_both(one, &request, status, rc, &sent);
        }
    }
    free(copy);
    return rc;
}

/* The held message's sender may wait for this receive before it receives what is sent here. */
static int replace_held(struct hw_p2p_held *held, struct hw_p2p_receive *one, int dest, int sendtag,
                        MPI_Status *status)
{
    MPI_Request sent = HW_REQUEST_NULL;
    void *copy = NULL;
    int rc = isend_copy((void *)one->memory, one->count, one->type, dest, sendtag, one->comm, &copy, &sent);
    if (hw_real_is_made(rc, &sent)) {
        rc = receive_held(held, one, status);
        int sent_rc = hw_bottom.Wait(&sent, HW_STATUS_IGNORE);
        rc = rc != MPI_SUCCESS ? rc : sent_rc;
    }
    free(copy);
    return rc;
}

static int sendrecv_replace(void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int sendtag,
                            int source, int recvtag, MPI_Comm comm, MPI_Status *status)
{
    struct hw_p2p_receive one;
    MPI_Status own;
    bool has_turns =
        hw_p2p_takes_turns() && may_receive(datatype, source, comm) && is_copied(count, datatype);
    struct hw_p2p_held *held = has_turns ? NULL : held_for(comm, source, recvtag);
    if ((has_turns || held) && !are_taken((struct half){buf, count, datatype, dest, sendtag},
                                          (struct half){buf, count, datatype, source, recvtag}, comm))
        return HW_DECLINES;
    if (!has_turns && held == NULL && !has_room(count, datatype, source))
        return HW_DECLINES;
    status = status == HW_STATUS_IGNORE ? &own : status;
    hw_p2p_receive_begin(&one, (uintptr_t)buf, count, datatype, comm, false);
    if (has_turns)
        return replace_by_turns(&one, dest, sendtag, source, recvtag, status);
    if (held == NULL)
        return received(
            &one, status,
            hw_real_sendrecv_replace(buf, count, datatype, dest, sendtag, source, recvtag, comm, status));
    return replace_held(held, &one, dest, sendtag, status);
}

/* With a held message: a receive of its own, whose request waits for the send as well. `sent_rc`: what the
 * send's post returned; `copy`: what it sends from, if not the program's memory. */
static int isendrecv_held(struct hw_p2p_held *held, struct hw_p2p_receiving *receiving, int sent_rc,
                          MPI_Request sent, void *copy, MPI_Request *request)
{
    struct hw_p2p_receive *one = hw_p2p_receiving_receive(receiving);
    if (!hw_real_is_made(sent_rc, &sent)) {
        free(copy);
        hw_p2p_receiving_drop(receiving);
        if (sent_rc == MPI_SUCCESS) /* and there is no request */
            *request = HW_REQUEST_NULL;
        return sent_rc;
    }
    hw_p2p_receiving_add(receiving, sent, copy);
    return posted(
        receiving, request,
        hw_p2p_held_receive(held, (void *)one->memory, one->count, one->type, request, &one->envelope));
}

/* A held message comes by a receive of its own. */
static struct hw_p2p_receiving *prepare_both(void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Comm comm,
                                             const struct hw_p2p_held *held)
{
    struct hw_p2p_receiving *receiving = prepare(buf, count, datatype, comm);
    if (receiving && held == NULL)
        hw_p2p_receiving_receive(receiving)->is_mute = HW_REAL_IS_ISENDRECV_MUTE;
    return receiving;
}

static int isendrecv_in_turn(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest,
                             int sendtag, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                             int source, int recvtag, MPI_Comm comm, MPI_Request *request)
{
    if (request == NULL)
        return HW_DECLINES;
    struct hw_p2p_held *held = held_for(comm, source, recvtag);
    if (held ? !are_taken((struct half){sendbuf, sendcount, sendtype, dest, sendtag},
                          (struct half){recvbuf, recvcount, recvtype, source, recvtag}, comm)
             : !has_room(recvcount, recvtype, source))
        return HW_DECLINES;
    struct hw_p2p_receiving *receiving = prepare_both(recvbuf, recvcount, recvtype, comm, held);
    if (receiving == NULL)
        return MPI_ERR_NO_MEM;
    if (held == NULL)
        return posted(receiving, request,
                      hw_real_isendrecv(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount,
                                        recvtype, source, recvtag, comm, request));
    MPI_Request sent = HW_REQUEST_NULL;
    int sent_rc = hw_real_isend(sendbuf, sendcount, sendtype, dest, sendtag, comm, &sent);
    return isendrecv_held(held, receiving, sent_rc, sent, NULL, request);
}

static int isendrecv(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest, int sendtag,
                     void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int source, int recvtag,
                     MPI_Comm comm, MPI_Request *request)
{
    bool has_turn = hw_p2p_turn_begin();
    int rc = isendrecv_in_turn(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype,
                               source, recvtag, comm, request);
    if (rc == HW_DECLINES && has_turn)
        rc = left_out(hw_real_isendrecv(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount,
                                        recvtype, source, recvtag, comm, request),
                      request);
    hw_p2p_turn_end(has_turn);
    return rc;
}

/* The buffer is received into before the send is over, so that has a copy. */
static int isendrecv_replace_in_turn(void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int sendtag,
                                     int source, int recvtag, MPI_Comm comm, MPI_Request *request)
{
    if (request == NULL)
        return HW_DECLINES;
    struct hw_p2p_held *held = held_for(comm, source, recvtag);
    if (held ? !are_taken((struct half){buf, count, datatype, dest, sendtag},
                          (struct half){buf, count, datatype, source, recvtag}, comm)
             : !has_room(count, datatype, source))
        return HW_DECLINES;
    struct hw_p2p_receiving *receiving = prepare_both(buf, count, datatype, comm, held);
    if (receiving == NULL)
        return MPI_ERR_NO_MEM;
    if (held == NULL)
        return posted(
            receiving, request,
            hw_real_isendrecv_replace(buf, count, datatype, dest, sendtag, source, recvtag, comm, request));
    MPI_Request sent = HW_REQUEST_NULL;
    void *copy = NULL;
    int sent_rc = isend_copy(buf, count, datatype, dest, sendtag, comm, &copy, &sent);
    return isendrecv_held(held, receiving, sent_rc, sent, copy, request);
}

static int isendrecv_replace(void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int sendtag,
                             int source, int recvtag, MPI_Comm comm, MPI_Request *request)
{
    bool has_turn = hw_p2p_turn_begin();
    int rc = isendrecv_replace_in_turn(buf, count, datatype, dest, sendtag, source, recvtag, comm, request);
    if (rc == HW_DECLINES && has_turn)
        rc = left_out(
            hw_real_isendrecv_replace(buf, count, datatype, dest, sendtag, source, recvtag, comm, request),
            request);
    hw_p2p_turn_end(has_turn);
    return rc;
}

const struct hw_engine_p2p hw_p2p_calls = {
    .isend = isend,
    .issend = issend,
    .irsend = irsend,
    .send_init = send_init,
    .ssend_init = ssend_init,
    .rsend_init = rsend_init,
    .recv = receive,
    .irecv = irecv,
    .recv_init = recv_init,
    .mrecv = mrecv,
    .imrecv = imrecv,
    .sendrecv = sendrecv,
    .sendrecv_replace = sendrecv_replace,
    .isendrecv = isendrecv,
    .isendrecv_replace = isendrecv_replace,
    .probe = hw_p2p_probe,
    .iprobe = hw_p2p_iprobe,
    .mprobe = hw_p2p_mprobe,
    .improbe = hw_p2p_improbe,
};
