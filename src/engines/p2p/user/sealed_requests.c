/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/p2p/user/sealed_requests.h"

#include "engines/p2p/user/generalized.h"
#include "engines/p2p/user/given_up.h"
#include "engines/p2p/user/own.h"
#include "engines/p2p/user/turns.h"
#include "ghost/channel.h"
#include "objects/datatype/hold.h"
#include "objects/request.h"
#include "progress/inside.h"
#include "real/constants.h"
#include "real/type_size.h"

#include <stdlib.h>

struct sealed_request {
    struct hw_p2p_halves halves;
    MPI_Comm comm;
    MPI_Comm hearer;   /* of errors: comm, or in the place of one that was freed another (hearers.h) */
    MPI_Status status; /* of the MPI's half */
    int error;         /* of the MPI's half, or of a start; raised */
    bool is_told;      /* MPI_Grequest_complete was called */
    bool is_amended;   /* an error of ours was raised */
    MPI_Request handle;
    struct sealed_request *next; /* of those that the program has given up */
    struct hw_p2p_seal *seal;    /* NULL: it is not persistent */
    struct hw_p2p_part part;
    enum hw_p2p_mode mode;
    bool is_type_ours;
};

static struct sealed_request *abandoned; /* in turns */
static struct hw_p2p_given_up given_up;  /* of these */

/* ---- the end of one --------------------------------------------------------------------------------------
 */

static bool is_real_over(struct sealed_request *request, bool waits)
{
    struct hw_p2p_halves *halves = &request->halves;
    int flag = 1;
    if (halves->real == HW_REQUEST_NULL)
        return true;
    int rc = waits ? hw_bottom.Wait(&halves->real, &request->status)
                   : hw_bottom.Test(&halves->real, &flag, &request->status);
    if (rc == MPI_SUCCESS && !flag)
        return false;
    halves->real = HW_REQUEST_NULL;
    request->error = rc;
    return true;
}

static bool is_over(struct sealed_request *request)
{
    const struct hw_p2p_halves *halves = &request->halves;
    bool is_sent = halves->sent == NULL || hw_p2p_operation_is_over(halves->sent);
    bool is_received = halves->received == NULL || hw_p2p_operation_is_over(halves->received);
    return is_real_over(request, false) && is_sent && is_received;
}

static void wait_for(struct sealed_request *request)
{
    const struct hw_p2p_halves *halves = &request->halves;
    if (halves->sent)
        hw_p2p_operation_wait(halves->sent);
    if (halves->received)
        hw_p2p_operation_wait(halves->received);
    is_real_over(request, true);
}

/* What the program gets: the receiving half is what it is told of. */
static int tell_status(struct sealed_request *request, MPI_Status *status)
{
    const struct hw_p2p_halves *halves = &request->halves;
    int error = request->error;
    int sent_error = halves->sent ? hw_p2p_operation_finish(halves->sent, HW_STATUS_IGNORE) : MPI_SUCCESS;
    int received_error = MPI_SUCCESS;
    if (halves->received)
        received_error = hw_p2p_operation_finish(halves->received, status);
    else if (status != HW_STATUS_IGNORE && halves->is_real_received)
        *status = request->status;
    else if (status != HW_STATUS_IGNORE && halves->sent)
        hw_p2p_operation_fill(halves->sent, status);
    if (error != MPI_SUCCESS)
        return error;
    error = received_error != MPI_SUCCESS ? received_error : sent_error;
    if (error != MPI_SUCCESS && !request->is_amended)
        hw_p2p_sealed_raise(request->hearer, error);
    request->is_amended = true;
    return error;
}

static void tell(struct sealed_request *request, MPI_Request handle)
{
    if (!request->is_told && request->seal == NULL)
        hw_bottom.Grequest_complete(handle);
    request->is_told = true;
}

static enum hw_request_readiness look(void *attachment, MPI_Request handle)
{
    struct sealed_request *request = attachment;
    if (!is_over(request)) {
        hw_ghost_channel_progress_sometimes(); /* its peer may wait for another operation of this process */
        return request->halves.real == HW_REQUEST_NULL ? HW_REQUEST_MOVING : HW_REQUEST_OPEN;
    }
    tell(request, handle);
    return request->seal ? HW_REQUEST_ITSELF : HW_REQUEST_READY;
}

static void settle(void *attachment, MPI_Request handle)
{
    wait_for(attachment);
    tell(attachment, handle);
}

static int amend(void *attachment, MPI_Status *status, int error)
{
    struct sealed_request *request = attachment;
    if (error != MPI_SUCCESS)
        return error;
    wait_for(request);
    if (status == NULL)
        return tell_status(request, HW_STATUS_IGNORE);
    int kept = status->MPI_ERROR;
    error = tell_status(request, status);
    status->MPI_ERROR = kept;
    return error;
}

static void pause_one(void *attachment)
{
    (void)attachment;
    hw_p2p_own_pause();
    hw_ghost_channel_progress();
}

static bool is_cancellable(void *attachment)
{
    const struct sealed_request *request = attachment;
    if (request->halves.sent)
        hw_p2p_operation_cancel(request->halves.sent);
    if (request->halves.received)
        hw_p2p_operation_cancel(request->halves.received);
    return false;
}

static void drop_halves(struct sealed_request *request)
{
    if (request->halves.sent)
        hw_p2p_operation_drop(request->halves.sent);
    if (request->halves.received)
        hw_p2p_operation_drop(request->halves.received);
    request->halves.sent = request->halves.received = NULL;
}

static void freed(void *attachment)
{
    struct sealed_request *request = attachment;
    drop_halves(request);
    if (request->hearer != request->comm)
        hw_p2p_hearers_drop(request->hearer);
    free(request->halves.memory);
    if (request->is_type_ours)
        hw_bottom.Type_free(&request->part.type);
    if (request->seal)
        hw_p2p_seal_release(request->seal);
    free(request);
}

static void on_abandoned(void *attachment, MPI_Request handle)
{
    struct sealed_request *request = attachment;
    request->handle = handle;
    bool has_turn = hw_p2p_turn_begin();
    request->next = abandoned;
    abandoned = request;
    bool is_time = hw_p2p_given_up_one(&given_up);
    hw_p2p_turn_end(has_turn);
    hw_inside_want(HW_INSIDE_GOES_MOVED, true);
    if (is_time)
        hw_p2p_sealed_requests_look_after();
}

/* A start of a persistent one. To the MPI it stays inactive. */
static int start(void *attachment, MPI_Request *handle)
{
    struct sealed_request *request = attachment;
    struct hw_p2p_operation *made;
    (void)handle;
    drop_halves(request);
    request->is_amended = false;
    int rc = hw_p2p_operation_make(request->seal, request->comm, &request->part, request->mode, &made);
    if (rc != MPI_SUCCESS)
        return rc;
    *(request->mode == HW_P2P_TAKEN ? &request->halves.received : &request->halves.sent) = made;
    hw_p2p_operation_post(made);
    return MPI_SUCCESS;
}

static const struct hw_request_guard guard = {
    .look = look, .settle = settle, .amend = amend, .pause = pause_one, .is_cancellable = is_cancellable};
static const struct hw_request_calls calls = {.abandoned = on_abandoned, .freed = freed, .guard = &guard};
static const struct hw_request_guard persistent_guard = {.look = look,
                                                         .settle = settle,
                                                         .amend = amend,
                                                         .pause = pause_one,
                                                         .is_cancellable = is_cancellable,
                                                         .start = start};
static const struct hw_request_calls persistent_calls = {
    .abandoned = on_abandoned, .freed = freed, .guard = &persistent_guard};

static void finish(struct sealed_request *request)
{
    tell_status(request, HW_STATUS_IGNORE);
    tell(request, request->handle);
    hw_bottom.Request_free(&request->handle);
    freed(request);
}

void hw_p2p_sealed_requests_look_after(void)
{
    uint32_t left = 0;
    bool has_turn = hw_p2p_turn_begin();
    hw_p2p_given_up_look(&given_up);
    for (struct sealed_request **link = &abandoned, *request; (request = *link) != NULL;) {
        if (is_over(request)) {
            *link = request->next;
            finish(request);
        } else {
            link = &request->next;
            left++;
        }
    }
    hw_p2p_given_up_looked(&given_up, left);
    hw_p2p_turn_end(has_turn);
}

/* A receive that nobody sends to would never end. */
void hw_p2p_sealed_requests_close(void)
{
    for (struct sealed_request *request; (request = abandoned) != NULL;) {
        abandoned = request->next;
        if (request->halves.received)
            hw_p2p_operation_cancel(request->halves.received);
        wait_for(request);
        finish(request);
    }
}

static void leave(void *attachment, void *freed)
{
    hw_p2p_hearers_leave(freed, &((struct sealed_request *)attachment)->hearer);
}

void hw_p2p_sealed_requests_leave(struct hw_p2p_freed *freed)
{
    hw_request_visit(&calls, leave, freed);
    hw_request_visit(&persistent_calls, leave, freed);
    for (struct sealed_request *one = abandoned; one; one = one->next)
        leave(one, freed);
}

/* ---- its begin -------------------------------------------------------------------------------------------
 */

static int query(void *extra, MPI_Status *status)
{
    const struct sealed_request *request = extra;
    hw_p2p_generalized_tell_sent(status, false);
    if (request->halves.received)
        hw_p2p_operation_fill(request->halves.received, status);
    else if (request->halves.sent)
        hw_p2p_operation_fill(request->halves.sent, status);
    return MPI_SUCCESS;
}

static struct sealed_request *make(MPI_Comm comm)
{
    bool is_reserved = hw_request_reserve();
    struct sealed_request *request = is_reserved ? calloc(1, sizeof *request) : NULL;
    if (request == NULL) {
        if (is_reserved)
            hw_request_give_back();
        hw_p2p_sealed_raise(comm, MPI_ERR_NO_MEM);
        return NULL;
    }
    request->comm = request->hearer = comm;
    request->halves.real = request->handle = HW_REQUEST_NULL;
    return request;
}

int hw_p2p_sealed_request(MPI_Comm comm, const struct hw_p2p_halves *halves, MPI_Request *handle)
{
    struct sealed_request *request = make(comm);
    if (request == NULL)
        return MPI_ERR_NO_MEM;
    request->halves = *halves;
    int rc = hw_p2p_generalized_start(query, request, handle);
    if (rc != MPI_SUCCESS) {
        hw_request_give_back();
        wait_for(request);
        freed(request);
        return rc;
    }
    const struct hw_p2p_operation *one = halves->received ? halves->received : halves->sent;
    hw_request_attach(*handle, &(struct hw_request_attachment){
                                   .calls = &calls, .attachment = request, .bytes = one->command.bytes});
    return MPI_SUCCESS;
}

int hw_p2p_sealed_end(MPI_Comm comm, const struct hw_p2p_halves *halves, MPI_Status *status)
{
    struct sealed_request request = {.halves = *halves, .comm = comm, .hearer = comm};
    int kept = status == HW_STATUS_IGNORE ? MPI_SUCCESS : status->MPI_ERROR;
    wait_for(&request);
    int rc = tell_status(&request, status);
    if (status != HW_STATUS_IGNORE)
        status->MPI_ERROR = kept;
    drop_halves(&request);
    free(halves->memory);
    return rc;
}

int hw_p2p_sealed_persistent(struct hw_p2p_seal *seal, MPI_Comm comm, const struct hw_p2p_part *part,
                             enum hw_p2p_mode mode, MPI_Request *handle)
{
    uint64_t size;
    struct sealed_request *request = make(comm);
    if (request == NULL)
        return MPI_ERR_NO_MEM;
    hw_p2p_seal_hold(seal);
    request->seal = seal;
    request->part = *part;
    request->mode = mode;
    if (!hw_real_type_is_basic(part->type, &size)) {
        request->part.type = hw_datatype_hold(part->type);
        request->is_type_ours = request->part.type != HW_DATATYPE_NULL;
    }
    int rc = request->part.type == HW_DATATYPE_NULL
                 ? hw_p2p_sealed_raise(comm, MPI_ERR_NO_MEM)
                 : hw_bottom.Recv_init(NULL, 0, HW_BYTE, 0, 0, hw_p2p_own_comm(), handle);
    if (rc != MPI_SUCCESS) {
        hw_request_give_back();
        freed(request);
        return rc;
    }
    hw_request_attach(*handle, &(struct hw_request_attachment){.calls = &persistent_calls,
                                                               .attachment = request,
                                                               .bytes = (uint64_t)part->count *
                                                                        hw_real_type_size(part->type),
                                                               .is_persistent = true});
    return MPI_SUCCESS;
}

/* ---- small ones ------------------------------------------------------------------------------------------
 */

struct counted {
    struct hw_p2p_seal *seal;
    int peer, tag;
    bool is_receive;
    bool is_withdrawn; /* MPI_Cancel was called */
};

static void count(const struct counted *counted, uint64_t change)
{
    struct hw_p2p_smalls *smalls = hw_p2p_seal_smalls(counted->seal, counted->peer, counted->tag);
    if (smalls)
        *(counted->is_receive ? &smalls->received : &smalls->sent) += change;
}

static void count_start(void *attachment) { count(attachment, 1); }

static void count_withdrawn(struct counted *counted, bool is_withdrawn)
{
    struct hw_p2p_smalls *smalls = NULL;
    if (counted->is_receive && counted->is_withdrawn != is_withdrawn)
        smalls = hw_p2p_seal_smalls(counted->seal, counted->peer, counted->tag);
    counted->is_withdrawn = is_withdrawn;
    if (smalls)
        smalls->withdrawn += is_withdrawn ? 1 : UINT64_MAX;
}

static void count_cancelling(void *attachment) { count_withdrawn(attachment, true); }

static void count_end(void *attachment, const MPI_Status *status, int error, bool is_cancelled)
{
    (void)status, (void)error;
    if (is_cancelled && ((struct counted *)attachment)->is_withdrawn) /* Intel MPI says it of others, too */
        count(attachment, UINT64_MAX);
    count_withdrawn(attachment, false);
}

static void count_freed(void *attachment)
{
    struct counted *counted = attachment;
    hw_p2p_seal_release(counted->seal);
    free(counted);
}

static void count_abandoned(void *attachment, MPI_Request handle)
{
    hw_bottom.Request_free(&handle);
    count_freed(attachment);
}

static const struct hw_request_calls count_calls = {.completed = count_end,
                                                    .cancelling = count_cancelling,
                                                    .abandoned = count_abandoned,
                                                    .freed = count_freed};
static const struct hw_request_calls persistent_count_calls = {.starting = count_start,
                                                               .completed = count_end,
                                                               .cancelling = count_cancelling,
                                                               .abandoned = count_abandoned,
                                                               .freed = count_freed};

void hw_p2p_sealed_count(struct hw_p2p_seal *seal, const struct hw_p2p_part *part, bool is_receive,
                         bool is_persistent, MPI_Request handle)
{
    bool is_reserved = hw_request_reserve();
    struct counted *counted = is_reserved ? malloc(sizeof *counted) : NULL;
    if (counted == NULL) {
        if (is_reserved)
            hw_request_give_back();
        hw_request_leave_out(handle);
        return;
    }
    hw_p2p_seal_hold(seal);
    *counted = (struct counted){.seal = seal, .peer = part->peer, .tag = part->tag, .is_receive = is_receive};
    hw_request_attach(handle, &(struct hw_request_attachment){.calls = is_persistent ? &persistent_count_calls
                                                                                     : &count_calls,
                                                              .attachment = counted,
                                                              .is_persistent = is_persistent});
}
