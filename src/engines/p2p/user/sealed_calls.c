/* SPDX-License-Identifier: BSD-3-Clause */
/* Each call knows by the communicator, the size and the other process whether ghosts move its message. So the
 * other side knows the same. What is smaller is counted and left to the MPI: no tickets travel here. */
#include "engines/p2p/user/sealed_calls.h"

#include "engines/p2p/user/calls.h"
#include "engines/p2p/user/own.h"
#include "engines/p2p/user/replaced.h"
#include "engines/p2p/user/sealed.h"
#include "engines/p2p/user/sealed_probes.h"
#include "engines/p2p/user/sealed_requests.h"
#include "objects/datatype/packed.h"
#include "objects/request.h"
#include "real/constants.h"

#include <stdlib.h>

static inline struct hw_p2p_seal *seal_for(MPI_Comm comm)
{
    return __builtin_expect(hw_p2p_seals_are_open, 1) ? hw_p2p_seal_for(comm) : NULL;
}

/* What is not about a sealed communicator. */
#define ELSEWHERE(function, ...)                                                                             \
    do {                                                                                                     \
        if (__builtin_expect(seal == NULL, 1))                                                               \
            return hw_p2p_calls.function ? hw_p2p_calls.function(__VA_ARGS__) : HW_DECLINES;                 \
    } while (0)

/* ---- one message -----------------------------------------------------------------------------------------
 */

/* Hands a message over. An MPI error code, raised. */
static int post(struct hw_p2p_seal *seal, MPI_Comm comm, const struct hw_p2p_part *part,
                enum hw_p2p_mode mode, struct hw_p2p_operation **operation)
{
    int rc = hw_p2p_operation_make(seal, comm, part, mode, operation);
    if (rc == MPI_SUCCESS)
        hw_p2p_operation_post(*operation);
    return rc;
}

/* The end of a call that blocks. */
static int end(struct hw_p2p_operation *operation, MPI_Status *status)
{
    MPI_Comm comm = operation->comm;
    hw_p2p_operation_wait(operation);
    int rc = hw_p2p_operation_finish(operation, status);
    hw_p2p_operation_drop(operation);
    return hw_p2p_sealed_raise(comm, rc);
}

static int request_for(MPI_Comm comm, struct hw_p2p_operation *sent, struct hw_p2p_operation *received,
                       MPI_Request *request)
{
    struct hw_p2p_halves halves = {.sent = sent, .received = received, .real = HW_REQUEST_NULL};
    return hw_p2p_sealed_request(comm, &halves, request);
}

/* The rest of a call about small messages, which were counted. `rc`: what it returned. A message that is too
 * long for its receive was received. */
static bool is_refused(int rc)
{
    int class = MPI_SUCCESS;
    return rc != MPI_SUCCESS && rc != HW_DECLINES && hw_bottom.Error_class(rc, &class) == MPI_SUCCESS &&
           class != MPI_ERR_TRUNCATE;
}

static int after_small(struct hw_p2p_seal *seal, const struct hw_p2p_part *part, bool is_receive, int rc)
{
    if (__builtin_expect(is_refused(rc), 0))
        hw_p2p_sealed_refused(seal, part, is_receive);
    return rc;
}

/* Such a call, which is made here unless another engine takes it. */
#define CALL(name, ...)                                                                                      \
    ({                                                                                                       \
        int answer = HW_ENGINES_ASK_BEHIND(&hw_p2p_sealed_calls, p2p, name, __VA_ARGS__);                    \
        answer != HW_DECLINES ? answer : hw_real_##name(__VA_ARGS__);                                        \
    })

#define SEND(name, how, small)                                                                               \
    static int name(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,              \
                    MPI_Comm comm)                                                                           \
    {                                                                                                        \
        struct hw_p2p_operation *operation;                                                                  \
        struct hw_p2p_seal *seal = seal_for(comm);                                                           \
        ELSEWHERE(name, buf, count, datatype, dest, tag, comm);                                              \
        struct hw_p2p_part part = {buf, count, datatype, dest, tag};                                         \
        if (!hw_p2p_sealed_concerns(seal, comm, &part, false))                                               \
            return small;                                                                                    \
        int rc = post(seal, comm, &part, how, &operation);                                                   \
        return rc == MPI_SUCCESS ? end(operation, HW_STATUS_IGNORE) : rc;                                    \
    }
#define SENT(name) after_small(seal, &part, false, CALL(name, buf, count, datatype, dest, tag, comm))

SEND(send, HW_P2P_STANDARD, SENT(send))
SEND(rsend, HW_P2P_STANDARD, SENT(rsend))
SEND(ssend, HW_P2P_SYNCHRONOUS, SENT(ssend))
SEND(bsend, HW_P2P_BUFFERED, SENT(bsend))

#define ISEND(name, how)                                                                                     \
    static int name(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,              \
                    MPI_Comm comm, MPI_Request *request)                                                     \
    {                                                                                                        \
        struct hw_p2p_operation *operation;                                                                  \
        struct hw_p2p_seal *seal = seal_for(comm);                                                           \
        ELSEWHERE(name, buf, count, datatype, dest, tag, comm, request);                                     \
        struct hw_p2p_part part = {buf, count, datatype, dest, tag};                                         \
        if (request == NULL)                                                                                 \
            return HW_DECLINES;                                                                              \
        if (!hw_p2p_sealed_concerns(seal, comm, &part, false))                                               \
            return after_small(seal, &part, false,                                                           \
                               HW_ENGINES_ASK_BEHIND(&hw_p2p_sealed_calls, p2p, name, buf, count, datatype,  \
                                                     dest, tag, comm, request));                             \
        int rc = post(seal, comm, &part, how, &operation);                                                   \
        return rc == MPI_SUCCESS ? request_for(comm, operation, NULL, request) : rc;                         \
    }

ISEND(isend, HW_P2P_STANDARD)
ISEND(irsend, HW_P2P_STANDARD)
ISEND(issend, HW_P2P_SYNCHRONOUS)
ISEND(ibsend, HW_P2P_BUFFERED)

static int receive(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                   MPI_Status *status)
{
    struct hw_p2p_operation *operation;
    struct hw_p2p_seal *seal = seal_for(comm);
    ELSEWHERE(recv, buf, count, datatype, source, tag, comm, status);
    struct hw_p2p_part part = {buf, count, datatype, source, tag};
    if (!hw_p2p_sealed_concerns(seal, comm, &part, true))
        return after_small(seal, &part, true, CALL(recv, buf, count, datatype, source, tag, comm, status));
    int rc = post(seal, comm, &part, HW_P2P_TAKEN, &operation);
    return rc == MPI_SUCCESS ? end(operation, status) : rc;
}

static int irecv(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                 MPI_Request *request)
{
    struct hw_p2p_operation *operation;
    struct hw_p2p_seal *seal = seal_for(comm);
    ELSEWHERE(irecv, buf, count, datatype, source, tag, comm, request);
    struct hw_p2p_part part = {buf, count, datatype, source, tag};
    if (request == NULL)
        return HW_DECLINES;
    int rc;
    if (hw_p2p_sealed_concerns(seal, comm, &part, true)) {
        rc = post(seal, comm, &part, HW_P2P_TAKEN, &operation);
        return rc == MPI_SUCCESS ? request_for(comm, NULL, operation, request) : rc;
    }
    if (!hw_p2p_sealed_is_far(seal, source))
        return HW_DECLINES;
    rc = hw_real_irecv(buf, count, datatype, source, tag, comm, request);
    if (hw_real_is_made(rc, request))
        hw_p2p_sealed_count(seal, &part, true, false, *request);
    else
        hw_p2p_sealed_refused(seal, &part, true);
    return rc;
}

/* ---- persistent ones -------------------------------------------------------------------------------------
 */

/* HW_DECLINES: the real call makes it. */
static int make_persistent(struct hw_p2p_seal *seal, MPI_Comm comm, const struct hw_p2p_part *part,
                           enum hw_p2p_mode mode, MPI_Request *request)
{
    if (request == NULL || !hw_p2p_sealed_is_large(seal, comm, part, mode == HW_P2P_TAKEN))
        return HW_DECLINES;
    return hw_p2p_sealed_persistent(seal, comm, part, mode, request);
}

/* A small one, which the MPI has made. */
static int counted(struct hw_p2p_seal *seal, const struct hw_p2p_part *part, bool is_receive, int rc,
                   MPI_Request *request)
{
    if (!hw_real_is_made(rc, request))
        return rc;
    if (hw_p2p_sealed_is_far(seal, part->peer))
        hw_p2p_sealed_count(seal, part, is_receive, true, *request);
    else
        hw_request_leave_out(*request);
    return rc;
}

#define SEND_INIT(name, how)                                                                                 \
    static int name(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,              \
                    MPI_Comm comm, MPI_Request *request)                                                     \
    {                                                                                                        \
        struct hw_p2p_seal *seal = seal_for(comm);                                                           \
        ELSEWHERE(name, buf, count, datatype, dest, tag, comm, request);                                     \
        struct hw_p2p_part part = {buf, count, datatype, dest, tag};                                         \
        int rc = make_persistent(seal, comm, &part, how, request);                                           \
        if (rc != HW_DECLINES)                                                                               \
            return rc;                                                                                       \
        return counted(seal, &part, false, hw_real_##name(buf, count, datatype, dest, tag, comm, request),   \
                       request);                                                                             \
    }

SEND_INIT(send_init, HW_P2P_STANDARD)
SEND_INIT(rsend_init, HW_P2P_STANDARD)
SEND_INIT(ssend_init, HW_P2P_SYNCHRONOUS)
SEND_INIT(bsend_init, HW_P2P_BUFFERED)

static int recv_init(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                     MPI_Request *request)
{
    struct hw_p2p_seal *seal = seal_for(comm);
    ELSEWHERE(recv_init, buf, count, datatype, source, tag, comm, request);
    struct hw_p2p_part part = {buf, count, datatype, source, tag};
    int rc = make_persistent(seal, comm, &part, HW_P2P_TAKEN, request);
    if (rc != HW_DECLINES)
        return rc;
    return counted(seal, &part, true, hw_real_recv_init(buf, count, datatype, source, tag, comm, request),
                   request);
}

/* ---- both ways -------------------------------------------------------------------------------------------
 */

/* Posts both halves: what is not large, by the MPI. `copy`: where the send's buffer is also the receive's,
 * what is sent; it is freed with the halves. An MPI error code, raised. */
static int post_both(struct hw_p2p_seal *seal, MPI_Comm comm, const struct hw_p2p_part *out,
                     const struct hw_p2p_part *in, const bool is_large[2], struct hw_p2p_halves *halves)
{
    int rc;
    if (is_large[0])
        rc = post(seal, comm, out, HW_P2P_STANDARD, &halves->sent);
    else
        rc = after_small(
            seal, out, false,
            hw_real_isend(out->memory, out->count, out->type, out->peer, out->tag, comm, &halves->real));
    if (rc != MPI_SUCCESS)
        return rc;
    halves->is_real_received = !is_large[1];
    if (is_large[1])
        return post(seal, comm, in, HW_P2P_TAKEN, &halves->received);
    return after_small(seal, in, true,
                       hw_real_irecv((void *)(uintptr_t)in->memory, in->count, in->type, in->peer, in->tag,
                                     comm, &halves->real));
}

/* What is sent of a buffer that is received into: a copy, for ghosts as packed data. *memory is to be freed.
 */
static int copy_out(MPI_Comm comm, struct hw_p2p_part *out, bool is_large, void **memory)
{
    uint64_t bytes = hw_engines_bytes(out->count, out->type);
    if (!is_large)
        return hw_p2p_replaced_copy(out->memory, out->count, out->type, comm, memory, &out->memory);
    *memory = malloc(bytes + 1);
    if (*memory == NULL)
        return hw_p2p_sealed_raise(comm, MPI_ERR_NO_MEM);
    hw_datatype_pack(out->memory, out->count, out->type, *memory);
    out->memory = *memory;
    out->count = (MPI_Count)bytes;
    out->type = HW_PACKED;
    return MPI_SUCCESS;
}

/* Whether the MPI takes a half that ghosts do not move. */
static bool is_taken(const struct hw_p2p_seal *seal, const struct hw_p2p_part *part, bool is_receive)
{
    bool is_there = part->peer == HW_PROC_NULL || (part->peer >= 0 && part->peer < seal->size);
    int tag = is_receive && part->tag == HW_ANY_TAG ? 0 : part->tag;
    return is_there && hw_p2p_own_accepts(part->memory, part->count, part->type, tag);
}

/* The MPI says what is wrong with one half, and does nothing about the other. */
static int refuse(MPI_Comm comm, const struct hw_p2p_part *out, const struct hw_p2p_part *in,
                  bool is_replaced, MPI_Request *request, MPI_Status *status)
{
    void *buf = (void *)(uintptr_t)in->memory;
    if (is_replaced)
        return request ? hw_real_isendrecv_replace(buf, in->count, in->type, out->peer, out->tag, in->peer,
                                                   in->tag, comm, request)
                       : hw_real_sendrecv_replace(buf, in->count, in->type, out->peer, out->tag, in->peer,
                                                  in->tag, comm, status);
    return request ? hw_real_isendrecv(out->memory, out->count, out->type, out->peer, out->tag, buf,
                                       in->count, in->type, in->peer, in->tag, comm, request)
                   : hw_real_sendrecv(out->memory, out->count, out->type, out->peer, out->tag, buf, in->count,
                                      in->type, in->peer, in->tag, comm, status);
}

/* Declines where neither half is large. `request` is NULL in calls that block. */
static int both(struct hw_p2p_seal *seal, MPI_Comm comm, struct hw_p2p_part out, struct hw_p2p_part in,
                bool is_replaced, MPI_Request *request, MPI_Status *status)
{
    struct hw_p2p_halves halves = {.real = HW_REQUEST_NULL};
    const bool is_large[2] = {hw_p2p_sealed_is_large(seal, comm, &out, false),
                              hw_p2p_sealed_is_large(seal, comm, &in, true)};
    if (is_large[0] != is_large[1] &&
        !(is_large[0] ? is_taken(seal, &in, true) : is_taken(seal, &out, false)))
        return refuse(comm, &out, &in, is_replaced, request, status);
    if (!is_large[0])
        (void)hw_p2p_sealed_concerns(seal, comm, &out, false); /* counts it */
    if (!is_large[1])
        (void)hw_p2p_sealed_concerns(seal, comm, &in, true);
    if (!is_large[0] && !is_large[1])
        return HW_DECLINES;
    if (is_replaced) {
        int copied_rc = copy_out(comm, &out, is_large[0], &halves.memory);
        if (copied_rc != MPI_SUCCESS) {
            free(halves.memory);
            return copied_rc;
        }
    }
    int rc = post_both(seal, comm, &out, &in, is_large, &halves);
    if (rc != MPI_SUCCESS)
        return rc; /* half of it may be under way, with its memory */
    return request ? hw_p2p_sealed_request(comm, &halves, request) : hw_p2p_sealed_end(comm, &halves, status);
}

static int sendrecv(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest, int sendtag,
                    void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int source, int recvtag,
                    MPI_Comm comm, MPI_Status *status)
{
    struct hw_p2p_seal *seal = seal_for(comm);
    ELSEWHERE(sendrecv, sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source,
              recvtag, comm, status);
    struct hw_p2p_part out = {sendbuf, sendcount, sendtype, dest, sendtag};
    struct hw_p2p_part in = {recvbuf, recvcount, recvtype, source, recvtag};
    int rc = both(seal, comm, out, in, false, NULL, status);
    if (rc != HW_DECLINES)
        return rc;
    rc = CALL(sendrecv, sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source,
              recvtag, comm, status);
    after_small(seal, &out, false, rc);
    return after_small(seal, &in, true, rc);
}

static int sendrecv_replace(void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int sendtag,
                            int source, int recvtag, MPI_Comm comm, MPI_Status *status)
{
    struct hw_p2p_seal *seal = seal_for(comm);
    ELSEWHERE(sendrecv_replace, buf, count, datatype, dest, sendtag, source, recvtag, comm, status);
    struct hw_p2p_part out = {buf, count, datatype, dest, sendtag};
    struct hw_p2p_part in = {buf, count, datatype, source, recvtag};
    int rc = both(seal, comm, out, in, true, NULL, status);
    if (rc != HW_DECLINES)
        return rc;
    rc = CALL(sendrecv_replace, buf, count, datatype, dest, sendtag, source, recvtag, comm, status);
    after_small(seal, &out, false, rc);
    return after_small(seal, &in, true, rc);
}

static int isendrecv(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest, int sendtag,
                     void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int source, int recvtag,
                     MPI_Comm comm, MPI_Request *request)
{
    struct hw_p2p_seal *seal = seal_for(comm);
    ELSEWHERE(isendrecv, sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source,
              recvtag, comm, request);
    if (request == NULL)
        return HW_DECLINES;
    return both(seal, comm, (struct hw_p2p_part){sendbuf, sendcount, sendtype, dest, sendtag},
                (struct hw_p2p_part){recvbuf, recvcount, recvtype, source, recvtag}, false, request, NULL);
}

static int isendrecv_replace(void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int sendtag,
                             int source, int recvtag, MPI_Comm comm, MPI_Request *request)
{
    struct hw_p2p_seal *seal = seal_for(comm);
    ELSEWHERE(isendrecv_replace, buf, count, datatype, dest, sendtag, source, recvtag, comm, request);
    if (request == NULL)
        return HW_DECLINES;
    return both(seal, comm, (struct hw_p2p_part){buf, count, datatype, dest, sendtag},
                (struct hw_p2p_part){buf, count, datatype, source, recvtag}, true, request, NULL);
}

/* ---- probes ----------------------------------------------------------------------------------------------
 */

static int probe(int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    struct hw_p2p_seal *seal = seal_for(comm);
    ELSEWHERE(probe, source, tag, comm, status);
    return hw_p2p_sealed_probe(seal, source, tag, comm, status);
}

static int iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
    struct hw_p2p_seal *seal = seal_for(comm);
    ELSEWHERE(iprobe, source, tag, comm, flag, status);
    return hw_p2p_sealed_iprobe(seal, source, tag, comm, flag, status);
}

static int mprobe(int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status)
{
    struct hw_p2p_seal *seal = seal_for(comm);
    ELSEWHERE(mprobe, source, tag, comm, message, status);
    return hw_p2p_sealed_mprobe(seal, source, tag, comm, message, status);
}

static int improbe(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status)
{
    struct hw_p2p_seal *seal = seal_for(comm);
    ELSEWHERE(improbe, source, tag, comm, flag, message, status);
    return hw_p2p_sealed_improbe(seal, source, tag, comm, flag, message, status);
}

static int mrecv(void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Message *message, MPI_Status *status)
{
    struct hw_p2p_operation *operation;
    int rc = hw_p2p_sealed_matched(buf, count, datatype, message, &operation);
    if (rc == HW_DECLINES)
        return hw_p2p_calls.mrecv(buf, count, datatype, message, status);
    return rc == MPI_SUCCESS ? end(operation, status) : rc;
}

static int imrecv(void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Message *message,
                  MPI_Request *request)
{
    struct hw_p2p_operation *operation;
    int rc = request == NULL ? HW_DECLINES : hw_p2p_sealed_matched(buf, count, datatype, message, &operation);
    if (rc == HW_DECLINES)
        return hw_p2p_calls.imrecv(buf, count, datatype, message, request);
    return rc == MPI_SUCCESS ? request_for(operation->comm, NULL, operation, request) : rc;
}

const struct hw_engine_p2p hw_p2p_sealed_calls = {
    .isend = isend,
    .issend = issend,
    .irsend = irsend,
    .ibsend = ibsend,
    .send = send,
    .ssend = ssend,
    .rsend = rsend,
    .bsend = bsend,
    .send_init = send_init,
    .ssend_init = ssend_init,
    .rsend_init = rsend_init,
    .bsend_init = bsend_init,
    .recv = receive,
    .irecv = irecv,
    .recv_init = recv_init,
    .mrecv = mrecv,
    .imrecv = imrecv,
    .sendrecv = sendrecv,
    .sendrecv_replace = sendrecv_replace,
    .isendrecv = isendrecv,
    .isendrecv_replace = isendrecv_replace,
    .probe = probe,
    .iprobe = iprobe,
    .mprobe = mprobe,
    .improbe = improbe,
};

const struct hw_engine_communicator hw_p2p_communicator_calls = {
    .comm_set_info = hw_p2p_seal_set_info,
    .comm_dup_with_info = hw_p2p_seal_dup_with_info,
    .comm_split_type = hw_p2p_seal_split_type,
};
