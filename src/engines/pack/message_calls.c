/* SPDX-License-Identifier: BSD-3-Clause */
/* Point-to-point messages of datatypes with gaps (MPI-4.1 chapter 3): packed into a buffer of ours, sent or
 * received there with the dense twin of the datatype. Whatever is wrong with a call is left to the MPI, so
 * that its error is the MPI's; so is the first call with a datatype, which shows that the MPI accepts it. */
#include "engines/pack/message_calls.h"

#include "engines/pack/learnt.h"
#include "engines/pack/message.h"
#include "engines/pack/worth.h"
#include "objects/request.h"
#include "real/constants.h"
#include "real/type_size.h"

enum way { SEND, SSEND, RSEND, ISEND, ISSEND, IRSEND, SEND_INIT, SSEND_INIT, RSEND_INIT };
enum { RECV, MRECV, IRECV, IMRECV, RECV_INIT };

/* A call with one buffer. */
struct call {
    int way;
    struct hw_pack_given given;
    int peer, tag;
    MPI_Comm comm;
    MPI_Message *matched;
    MPI_Status *status;
    MPI_Request *request; /* NULL: blocking */
};

static int real_send(const struct call *c, const void *buf, MPI_Count count, MPI_Datatype type)
{
    switch (c->way) {
    case SEND:
        return hw_real_send(buf, count, type, c->peer, c->tag, c->comm);
    case SSEND:
        return hw_real_ssend(buf, count, type, c->peer, c->tag, c->comm);
    case RSEND:
        return hw_real_rsend(buf, count, type, c->peer, c->tag, c->comm);
    case ISEND:
        return hw_real_isend(buf, count, type, c->peer, c->tag, c->comm, c->request);
    case ISSEND:
        return hw_real_issend(buf, count, type, c->peer, c->tag, c->comm, c->request);
    case IRSEND:
        return hw_real_irsend(buf, count, type, c->peer, c->tag, c->comm, c->request);
    case SEND_INIT:
        return hw_real_send_init(buf, count, type, c->peer, c->tag, c->comm, c->request);
    case SSEND_INIT:
        return hw_real_ssend_init(buf, count, type, c->peer, c->tag, c->comm, c->request);
    default:
        return hw_real_rsend_init(buf, count, type, c->peer, c->tag, c->comm, c->request);
    }
}

static int real_receive(const struct call *c, void *buf, MPI_Count count, MPI_Datatype type,
                        MPI_Status *status)
{
    switch (c->way) {
    case RECV:
        return hw_real_recv(buf, count, type, c->peer, c->tag, c->comm, status);
    case MRECV:
        return hw_real_mrecv(buf, count, type, c->matched, status);
    case IRECV:
        return hw_real_irecv(buf, count, type, c->peer, c->tag, c->comm, c->request);
    case IMRECV:
        return hw_real_imrecv(buf, count, type, c->matched, c->request);
    default:
        return hw_real_recv_init(buf, count, type, c->peer, c->tag, c->comm, c->request);
    }
}

static bool is_persistent(const struct call *c)
{
    return c->given.direction == HW_SHAPE_PACK ? c->way >= SEND_INIT : c->way == RECV_INIT;
}

/* What the hook does after the real call. */
static void track(const struct call *c)
{
    const struct hw_pack_given *given = &c->given;
    if (c->request == NULL || !hw_engines_want(given->count, given->datatype))
        return;
    uint64_t bytes = hw_engines_bytes(given->count, given->datatype);
    if (is_persistent(c)) {
        HW_COUNT(tracked_persistent);
        hw_request_define(*c->request, HW_REQUEST_P2P, bytes);
        return;
    }
    HW_COUNT(tracked_p2p);
    hw_engines_post(HW_REQUEST_P2P, bytes, given->direction == HW_SHAPE_UNPACK, *c->request);
}

/* By the MPI's way, the first time. */
static __attribute__((noinline)) int call_first(const struct call *c)
{
    const struct hw_pack_given *given = &c->given;
    int rc = given->direction == HW_SHAPE_PACK
                 ? real_send(c, (const void *)given->memory, given->count, given->datatype)
                 : real_receive(c, (void *)given->memory, given->count, given->datatype, c->status);
    if (rc != MPI_SUCCESS)
        return rc;
    track(c);
    hw_pack_message_accepted(given, given->direction == HW_SHAPE_PACK || c->request == NULL);
    return rc;
}

static int finish_send(const struct call *c, struct hw_pack_message *message, int rc)
{
    int is_over = c->request == NULL || rc != MPI_SUCCESS;
    /* Those that are complete share a handle, and there is nothing to follow. */
    if (!is_over && !is_persistent(c) &&
        hw_bottom.Request_get_status(*c->request, &is_over, HW_STATUS_IGNORE) != MPI_SUCCESS)
        is_over = 0;
    if (c->request != NULL && is_over)
        hw_request_give_back();
    if (is_over)
        hw_pack_message_free(message);
    else
        hw_pack_message_attach(message, *c->request, is_persistent(c));
    return rc;
}

static int packed_send(const struct call *c, struct hw_pack_message *message)
{
    if (!is_persistent(c))
        hw_pack_message_fill(message);
    int rc = real_send(c, message->data, message->count, message->type);
    return finish_send(c, message, rc);
}

static int packed_receive(const struct call *c, struct hw_pack_message *message)
{
    MPI_Status own = {0}, *status = c->status == HW_STATUS_IGNORE ? &own : c->status;
    int rc = real_receive(c, message->data, message->count, message->type, status);
    if (c->request != NULL && rc == MPI_SUCCESS) {
        hw_pack_message_attach(message, *c->request, is_persistent(c));
        return rc;
    }
    if (c->request != NULL)
        hw_request_give_back();
    else
        hw_pack_message_empty(message, status, rc);
    hw_pack_message_free(message);
    return rc;
}

static __attribute__((noinline)) int call_derived(const struct call *c, struct hw_plan *plan)
{
    int64_t bytes;
    hw_pack_message_look_after();
    plan = hw_pack_message_plan(&c->given, plan, &bytes);
    struct hw_pack_message *message = plan ? hw_pack_message_make(&c->given, plan, bytes) : NULL;
    if (message == NULL)
        return HW_DECLINES;
    if (c->request != NULL && !hw_request_reserve()) {
        hw_pack_message_free(message);
        return HW_DECLINES;
    }
    return c->given.direction == HW_SHAPE_PACK ? packed_send(c, message) : packed_receive(c, message);
}

static int answer(const struct call *c)
{
    uint64_t size;
    if (hw_real_type_is_basic(c->given.datatype, &size) || c->peer == HW_PROC_NULL || c->given.count <= 0)
        return HW_DECLINES;
    struct hw_plan *plan = hw_plan_find(c->given.datatype);
    if (plan == NULL)
        return call_first(c);
    /* Small ones must cost nothing. */
    enum hw_plan_state state = hw_plan_state(plan);
    if (state == HW_PLAN_NONE || state == HW_PLAN_MADE ||
        (state == HW_PLAN_USABLE &&
         (uint64_t)c->given.count * (uint64_t)plan->shape.size < HW_PACK_BYTES_MIN))
        return HW_DECLINES;
    return call_derived(c, plan);
}

#define GIVEN_SENT                                                                                           \
    .given = {HW_SHAPE_PACK, (uintptr_t)buf, count, datatype}, .peer = dest, .tag = tag, .comm = comm
#define GIVEN_RECEIVED .given = {HW_SHAPE_UNPACK, (uintptr_t)buf, count, datatype}

#define SENDS(name, which)                                                                                   \
    static int name(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,              \
                    MPI_Comm comm)                                                                           \
    {                                                                                                        \
        const struct call c = {.way = (which), GIVEN_SENT};                                                  \
        return answer(&c);                                                                                   \
    }
#define POSTS(name, which)                                                                                   \
    static int name(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,              \
                    MPI_Comm comm, MPI_Request *request)                                                     \
    {                                                                                                        \
        const struct call c = {.way = (which), GIVEN_SENT, .request = request};                              \
        return request ? answer(&c) : HW_DECLINES;                                                           \
    }

SENDS(send, SEND)
SENDS(ssend, SSEND)
SENDS(rsend, RSEND)
POSTS(isend, ISEND)
POSTS(issend, ISSEND)
POSTS(irsend, IRSEND)
POSTS(send_init, SEND_INIT)
POSTS(ssend_init, SSEND_INIT)
POSTS(rsend_init, RSEND_INIT)

static int receive(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                   MPI_Status *status)
{
    const struct call c = {
        .way = RECV, GIVEN_RECEIVED, .peer = source, .tag = tag, .comm = comm, .status = status};
    return answer(&c);
}

static int irecv(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                 MPI_Request *request)
{
    const struct call c = {
        .way = IRECV, GIVEN_RECEIVED, .peer = source, .tag = tag, .comm = comm, .request = request};
    return request ? answer(&c) : HW_DECLINES;
}

static int recv_init(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                     MPI_Request *request)
{
    const struct call c = {
        .way = RECV_INIT, GIVEN_RECEIVED, .peer = source, .tag = tag, .comm = comm, .request = request};
    return request ? answer(&c) : HW_DECLINES;
}

static bool is_matched(const MPI_Message *message)
{
    return message && *message != HW_MESSAGE_NULL && *message != HW_MESSAGE_NO_PROC;
}

static int mrecv(void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Message *message, MPI_Status *status)
{
    const struct call c = {
        .way = MRECV, GIVEN_RECEIVED, .peer = HW_ANY_SOURCE, .matched = message, .status = status};
    return is_matched(message) ? answer(&c) : HW_DECLINES;
}

static int imrecv(void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Message *message,
                  MPI_Request *request)
{
    const struct call c = {
        .way = IMRECV, GIVEN_RECEIVED, .peer = HW_ANY_SOURCE, .matched = message, .request = request};
    return request && is_matched(message) ? answer(&c) : HW_DECLINES;
}

/* A half of MPI_Sendrecv, packed where that is worth it. NULL: as the program passed it. */
static struct hw_pack_message *half(const struct hw_pack_given *given, int peer)
{
    uint64_t size;
    int64_t bytes;
    if (hw_real_type_is_basic(given->datatype, &size) || peer == HW_PROC_NULL || given->count <= 0)
        return NULL;
    struct hw_plan *plan = hw_plan_find(given->datatype);
    if (plan)
        plan = hw_pack_message_plan(given, plan, &bytes);
    return plan ? hw_pack_message_make(given, plan, bytes) : NULL;
}

static int sendrecv(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest, int sendtag,
                    void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int source, int recvtag,
                    MPI_Comm comm, MPI_Status *status)
{
    const struct hw_pack_given sent = {HW_SHAPE_PACK, (uintptr_t)sendbuf, sendcount, sendtype};
    const struct hw_pack_given received = {HW_SHAPE_UNPACK, (uintptr_t)recvbuf, recvcount, recvtype};
    uint64_t size;
    if (hw_real_type_is_basic(sendtype, &size) && hw_real_type_is_basic(recvtype, &size))
        return HW_DECLINES;
    hw_pack_message_look_after();
    struct hw_pack_message *out = half(&sent, dest), *in = half(&received, source);
    MPI_Status own = {0};
    if (in && status == HW_STATUS_IGNORE)
        status = &own;
    if (out)
        hw_pack_message_fill(out);
    int rc =
        hw_real_sendrecv(out ? out->data : sendbuf, out ? out->count : sendcount, out ? out->type : sendtype,
                         dest, sendtag, in ? in->data : recvbuf, in ? in->count : recvcount,
                         in ? in->type : recvtype, source, recvtag, comm, status);
    if (out)
        hw_pack_message_free(out);
    if (in) {
        hw_pack_message_empty(in, status, rc);
        hw_pack_message_free(in);
    }
    if (rc == MPI_SUCCESS && !out && dest != HW_PROC_NULL)
        hw_pack_message_accepted(&sent, true);
    if (rc == MPI_SUCCESS && !in && source != HW_PROC_NULL)
        hw_pack_message_accepted(&received, true);
    return rc;
}

const struct hw_engine_p2p hw_pack_message_calls = {
    .send = send,
    .ssend = ssend,
    .rsend = rsend,
    .isend = isend,
    .issend = issend,
    .irsend = irsend,
    .send_init = send_init,
    .ssend_init = ssend_init,
    .rsend_init = rsend_init,
    .recv = receive,
    .irecv = irecv,
    .mrecv = mrecv,
    .imrecv = imrecv,
    .recv_init = recv_init,
    .sendrecv = sendrecv,
};
