/* SPDX-License-Identifier: BSD-3-Clause */
/* Point-to-point messages of datatypes with gaps (MPI-4.1 chapter 3): packed into a buffer of ours, sent or
 * received there with the dense twin of the datatype. Whatever is wrong with a call is left to the MPI, so
 * that its error is the MPI's; so is the first call with a datatype, which shows that the MPI accepts it. */
#include "engines/pack/message_calls.h"

#include "engines/pack/learnt.h"
#include "engines/pack/message.h"
#include "engines/pack/twin.h"
#include "engines/pack/worth.h"
#include "objects/request.h"
#include "real/constants.h"
#include "real/parts.h"
#include "real/quirks.h"
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

/* MPICH 5 returns MPI_SUCCESS once a handler of the program's has heard of an error, and makes no request. */
static bool is_accepted(const struct call *c, int rc)
{
    return c->request ? hw_real_is_made(rc, c->request) : rc == MPI_SUCCESS;
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
        if (given->direction == HW_SHAPE_UNPACK)
            hw_request_define_receive(*c->request, bytes);
        else
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
    unsigned frees = hw_atomic_load_acquire(&hw_real_type_frees);
    int rc = given->direction == HW_SHAPE_PACK
                 ? real_send(c, (const void *)given->memory, given->count, given->datatype)
                 : real_receive(c, (void *)given->memory, given->count, given->datatype, c->status);
    if (!is_accepted(c, rc))
        return rc;
    track(c);
    if (!hw_real_type_hold(frees))
        return rc;
    if ((uint64_t)given->count * hw_real_type_size_keep(given->datatype) >= HW_PACK_BYTES_MIN)
        hw_pack_message_accepted(given);
    hw_real_type_let_go();
    return rc;
}

static int finish_send(const struct call *c, struct hw_pack_message *message, int rc)
{
    bool is_refused = !is_accepted(c, rc);
    int is_over = c->request == NULL || is_refused;
    /* Those that are complete share a handle, and there is nothing to follow. */
    if (!is_over && !is_persistent(c) &&
        hw_bottom.Request_get_status(*c->request, &is_over, HW_STATUS_IGNORE) != MPI_SUCCESS)
        is_over = 0;
    if (c->request != NULL && is_over)
        hw_request_give_back();
    if (is_over) {
        hw_pack_message_learn(message, HW_STATUS_IGNORE, is_refused ? MPI_ERR_OTHER : MPI_SUCCESS);
        hw_pack_message_free(message);
    } else {
        hw_pack_message_attach(message, *c->request, is_persistent(c));
    }
    return rc;
}

static int send_one(const struct call *c, struct hw_pack_message *message)
{
    const struct hw_pack_given *given = &c->given;
    if (!message->is_packed)
        return finish_send(c, message,
                           real_send(c, (const void *)given->memory, given->count, given->datatype));
    if (!is_persistent(c))
        hw_pack_message_fill(message);
    return finish_send(c, message, real_send(c, message->data, message->count, message->type));
}

/* A status of ours for a call that blocks: the program's may be of an earlier message, and a call that is
 * refused, which MPICH 5 need not tell, leaves it so. */
static MPI_Status begin_status(const MPI_Status *program)
{
    MPI_Status status = {0};
    if (program != HW_STATUS_IGNORE && program != NULL)
        status = *program;
    status.MPI_SOURCE = HW_UNDEFINED;
    return status;
}

/* Whether the MPI has written it, which the program then gets. */
static bool end_status(const MPI_Status *status, MPI_Status *program)
{
    bool is_written = status->MPI_SOURCE != HW_UNDEFINED;
    if (is_written && program != HW_STATUS_IGNORE && program != NULL)
        *program = *status;
    return is_written;
}

/* Of what came by a call that blocks; NULL: nothing did. */
static void end_received(struct hw_pack_message *message, const MPI_Status *status, int rc)
{
    if (message->is_packed)
        hw_pack_message_empty(message, status, rc);
    hw_pack_message_learn(message, status, status ? rc : MPI_ERR_OTHER);
}

static int receive_one(const struct call *c, struct hw_pack_message *message)
{
    const struct hw_pack_given *given = &c->given;
    MPI_Status status = begin_status(c->request ? HW_STATUS_IGNORE : c->status);
    int rc = message->is_packed
                 ? real_receive(c, message->data, message->count, message->type, &status)
                 : real_receive(c, (void *)given->memory, given->count, given->datatype, &status);
    if (c->request != NULL && is_accepted(c, rc)) {
        hw_pack_message_attach(message, *c->request, is_persistent(c));
        return rc;
    }
    if (c->request != NULL)
        hw_request_give_back();
    else
        end_received(message, end_status(&status, c->status) ? &status : NULL, rc);
    hw_pack_message_free(message);
    return rc;
}

/* Whether what is sent packed can be received, by whom the sender knows nothing of. */
static bool is_taken(const struct hw_pack_given *given, struct hw_plan *plan, int64_t bytes, int peer,
                     MPI_Comm comm)
{
    return given->direction == HW_SHAPE_UNPACK || hw_real_comes_whole(comm, peer, (uint64_t)bytes) ||
           hw_pack_is_whole_in_parts(plan, given->datatype);
}

/* Whether it may be packed for all that the program has freed before. */
static bool has_few_before(const struct hw_pack_given *given, int64_t bytes, enum hw_pack_use use)
{
    return given->direction == HW_SHAPE_PACK || use == HW_PACK_AT_ONCE || !hw_pack_message_frees_many() ||
           hw_pack_message_needs_room(given, bytes);
}

/* NULL: the MPI's way, and nothing is to be learnt of it. */
static struct hw_pack_message *judged(const struct hw_pack_given *given, struct hw_plan *plan, int peer,
                                      MPI_Comm comm, enum hw_pack_use use)
{
    struct hw_pack_verdict verdict;
    if (!hw_pack_message_judge(given, plan, use, &verdict))
        return NULL;
    struct hw_pack_message *message = NULL;
    if (has_few_before(given, verdict.bytes, use) &&
        (!verdict.is_packed || is_taken(given, plan, verdict.bytes, peer, comm)))
        message = hw_pack_message_make(given, plan, &verdict);
    if (message == NULL)
        hw_pack_look_drop(&verdict.look);
    return message;
}

static __attribute__((noinline)) int call_derived(const struct call *c, struct hw_plan *plan,
                                                  enum hw_pack_use use)
{
    hw_pack_message_give_back();
    struct hw_pack_message *message = judged(&c->given, plan, c->peer, c->comm, use);
    if (message == NULL)
        return HW_DECLINES;
    if (c->request != NULL && !hw_request_reserve()) {
        hw_pack_message_free(message);
        return HW_DECLINES;
    }
    return c->given.direction == HW_SHAPE_PACK ? send_one(c, message) : receive_one(c, message);
}

/* Whether it is a large message of a datatype that has a plan, or may get one. Others must cost nothing. */
static inline bool is_ours(MPI_Count count, struct hw_plan *plan)
{
    if ((uint64_t)count * (uint64_t)hw_plan_size(plan) < HW_PACK_BYTES_MIN)
        return false;
    enum hw_plan_state state = hw_plan_state(plan);
    return state == HW_PLAN_SEEN || state == HW_PLAN_USABLE;
}

static __attribute__((noinline)) int answer(const struct call *c)
{
    if (c->peer == HW_PROC_NULL || c->given.count <= 0)
        return HW_DECLINES;
    struct hw_plan *plan = hw_plan_take(c->given.datatype);
    if (plan == NULL)
        return call_first(c);
    int rc = call_derived(c, plan, is_persistent(c) ? HW_PACK_AGAIN : HW_PACK_ONCE);
    hw_plan_release(plan);
    return rc;
}

/* Most calls must cost next to nothing: those of little, and of datatypes that are not ours. */
static inline bool is_left(MPI_Count count, MPI_Datatype datatype)
{
    uint64_t size;
    if (hw_real_type_is_basic(datatype, &size))
        return true;
    struct hw_plan *plan = hw_plan_find(datatype);
    return plan && !is_ours(count, plan);
}

#define GIVEN_SENT                                                                                           \
    .given = {HW_SHAPE_PACK, (uintptr_t)buf, count, datatype}, .peer = dest, .tag = tag, .comm = comm
#define GIVEN_RECEIVED .given = {HW_SHAPE_UNPACK, (uintptr_t)buf, count, datatype}

#define SENDS(name, which)                                                                                   \
    static int name(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,              \
                    MPI_Comm comm)                                                                           \
    {                                                                                                        \
        if (is_left(count, datatype))                                                                        \
            return HW_DECLINES;                                                                              \
        const struct call c = {.way = (which), GIVEN_SENT};                                                  \
        return answer(&c);                                                                                   \
    }
#define POSTS(name, which)                                                                                   \
    static int name(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,              \
                    MPI_Comm comm, MPI_Request *request)                                                     \
    {                                                                                                        \
        if (is_left(count, datatype) || request == NULL)                                                     \
            return HW_DECLINES;                                                                              \
        const struct call c = {.way = (which), GIVEN_SENT, .request = request};                              \
        return answer(&c);                                                                                   \
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

/* A status that is NULL is the MPI's to refuse, where that is not MPI_STATUS_IGNORE. */
static bool lacks_status(const MPI_Status *status) { return status == NULL && status != HW_STATUS_IGNORE; }

static int receive(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                   MPI_Status *status)
{
    if (is_left(count, datatype) || lacks_status(status))
        return HW_DECLINES;
    const struct call c = {
        .way = RECV, GIVEN_RECEIVED, .peer = source, .tag = tag, .comm = comm, .status = status};
    return answer(&c);
}

static int irecv(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                 MPI_Request *request)
{
    if (is_left(count, datatype) || request == NULL)
        return HW_DECLINES;
    const struct call c = {
        .way = IRECV, GIVEN_RECEIVED, .peer = source, .tag = tag, .comm = comm, .request = request};
    return answer(&c);
}

static int recv_init(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                     MPI_Request *request)
{
    if (is_left(count, datatype) || request == NULL)
        return HW_DECLINES;
    const struct call c = {
        .way = RECV_INIT, GIVEN_RECEIVED, .peer = source, .tag = tag, .comm = comm, .request = request};
    return answer(&c);
}

static bool is_matched(const MPI_Message *message)
{
    return message && *message != HW_MESSAGE_NULL && *message != HW_MESSAGE_NO_PROC;
}

/* Senders may have packed what nobody here has learnt anything of. */
static int answer_matched(const struct call *c)
{
    const struct hw_pack_given *given = &c->given;
    uint64_t size;
    if (given->count <= 0 || given->datatype == HW_DATATYPE_NULL ||
        hw_real_type_is_basic(given->datatype, &size))
        return HW_DECLINES;
    struct hw_plan *plan = hw_plan_take(given->datatype);
    bool must = hw_pack_must_be_dense(plan, given->datatype, hw_engines_bytes(given->count, given->datatype));
    if (must && plan == NULL) {
        hw_plan_note(given->datatype);
        plan = hw_plan_take(given->datatype);
    }
    if (plan == NULL)
        return call_first(c);
    int rc = HW_DECLINES;
    if (is_ours(given->count, plan))
        rc = call_derived(c, plan, must ? HW_PACK_AT_ONCE : HW_PACK_ONCE);
    hw_plan_release(plan);
    return rc;
}

static int mrecv(void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Message *message, MPI_Status *status)
{
    if (!is_matched(message) || lacks_status(status))
        return HW_DECLINES;
    const struct call c = {
        .way = MRECV, GIVEN_RECEIVED, .peer = HW_ANY_SOURCE, .matched = message, .status = status};
    return answer_matched(&c);
}

static int imrecv(void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Message *message,
                  MPI_Request *request)
{
    if (request == NULL || !is_matched(message))
        return HW_DECLINES;
    const struct call c = {
        .way = IMRECV, GIVEN_RECEIVED, .peer = HW_ANY_SOURCE, .matched = message, .request = request};
    return answer_matched(&c);
}

/* A half of MPI_Sendrecv. NULL: as the program passed it. */
static struct hw_pack_message *half(const struct hw_pack_given *given, int peer, MPI_Comm comm)
{
    uint64_t size;
    if (hw_real_type_is_basic(given->datatype, &size) || peer == HW_PROC_NULL || given->count <= 0 ||
        (given->direction == HW_SHAPE_UNPACK && HW_REAL_TRUNCATION_OVERFLOWS))
        return NULL;
    struct hw_plan *plan = hw_plan_take(given->datatype);
    if (plan == NULL)
        return NULL;
    struct hw_pack_message *message = NULL;
    if (is_ours(given->count, plan))
        message = judged(given, plan, peer, comm, HW_PACK_ONCE);
    hw_plan_release(plan);
    return message;
}

/* A datatype that is new. Within hw_real_type_hold. */
static void accept_half(const struct hw_pack_given *given, int peer)
{
    uint64_t size;
    if (!hw_real_type_is_basic(given->datatype, &size) && peer != HW_PROC_NULL && given->count > 0 &&
        hw_plan_find(given->datatype) == NULL)
        hw_pack_message_accepted(given);
}

static int sendrecv(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest, int sendtag,
                    void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int source, int recvtag,
                    MPI_Comm comm, MPI_Status *status)
{
    const struct hw_pack_given sent = {HW_SHAPE_PACK, (uintptr_t)sendbuf, sendcount, sendtype};
    const struct hw_pack_given received = {HW_SHAPE_UNPACK, (uintptr_t)recvbuf, recvcount, recvtype};
    uint64_t size;
    if ((hw_real_type_is_basic(sendtype, &size) && hw_real_type_is_basic(recvtype, &size)) ||
        lacks_status(status))
        return HW_DECLINES;
    hw_pack_message_give_back();
    struct hw_pack_message *out = half(&sent, dest, comm), *in = half(&received, source, comm);
    struct hw_pack_message *packed = out && out->is_packed ? out : NULL;
    struct hw_pack_message *to_unpack = in && in->is_packed ? in : NULL;
    MPI_Status own = begin_status(status), *told = in ? &own : status;
    unsigned frees = hw_atomic_load_acquire(&hw_real_type_frees);
    if (packed)
        hw_pack_message_fill(packed);
    int rc = hw_real_sendrecv(packed ? packed->data : sendbuf, packed ? packed->count : sendcount,
                              packed ? packed->type : sendtype, dest, sendtag,
                              to_unpack ? to_unpack->data : recvbuf, to_unpack ? to_unpack->count : recvcount,
                              to_unpack ? to_unpack->type : recvtype, source, recvtag, comm, told);
    if (in) {
        end_received(in, end_status(&own, status) ? &own : NULL, rc);
        hw_pack_message_free(in);
    }
    if (out) {
        hw_pack_message_learn(out, HW_STATUS_IGNORE, rc);
        hw_pack_message_free(out);
    }
    if (rc == MPI_SUCCESS && hw_real_type_hold(frees)) {
        accept_half(&sent, dest);
        accept_half(&received, source);
        hw_real_type_let_go();
    }
    return rc;
}

/* Not where a message that is too long would be written beyond the end of our buffer. */
#define UNLESS_OVERFLOWS(receive) (HW_REAL_TRUNCATION_OVERFLOWS ? NULL : (receive))

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
    .recv = UNLESS_OVERFLOWS(receive),
    .irecv = UNLESS_OVERFLOWS(irecv),
    .mrecv = UNLESS_OVERFLOWS(mrecv),
    .imrecv = UNLESS_OVERFLOWS(imrecv),
    .recv_init = UNLESS_OVERFLOWS(recv_init),
    .sendrecv = sendrecv,
};
