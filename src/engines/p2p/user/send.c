/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/p2p/user/send.h"

#include "engines/p2p/user/generalized.h"
#include "engines/p2p/user/turns.h"
#include "real/constants.h"

/* ---- its end ---- */

static void tell(struct hw_p2p_transfer *transfer, MPI_Request handle)
{
    if (!transfer->is_told)
        hw_bottom.Grequest_complete(handle);
    transfer->is_told = true;
}

static enum hw_request_readiness look(void *attachment, MPI_Request request)
{
    struct hw_p2p_transfer *transfer = attachment;
    enum hw_request_readiness is = HW_REQUEST_OPEN;
    if (!hw_p2p_turn_try(&transfer->is_busy)) /* another thread asks */
        return is;
    if (hw_p2p_transfer_is_over(transfer)) {
        tell(transfer, request);
        is = HW_REQUEST_READY;
    } else if (transfer->cell) {
        is = HW_REQUEST_MOVING;
    }
    hw_p2p_turn_leave(&transfer->is_busy);
    return is;
}

static void settle(void *attachment, MPI_Request request)
{
    struct hw_p2p_transfer *transfer = attachment;
    hw_p2p_turn_wait(&transfer->is_busy);
    hw_p2p_transfer_wait(transfer);
    tell(transfer, request);
    hw_p2p_turn_leave(&transfer->is_busy);
}

static int amend(void *attachment, MPI_Status *status, int error)
{
    const struct hw_p2p_transfer *transfer = attachment;
    (void)status;
    return error != MPI_SUCCESS ? error : hw_p2p_transfer_error(transfer);
}

static void pause_one(void *attachment) { hw_p2p_transfer_pause(attachment); }

static bool is_cancellable(void *attachment)
{
    hw_p2p_transfer_cancel(attachment);
    return false;
}

static void freed(void *attachment) { hw_p2p_transfer_end(attachment); }

/* A generalized request that was told of is not told again. */
static void on_abandoned(void *attachment, MPI_Request request)
{
    struct hw_p2p_transfer *transfer = attachment;
    if (transfer->is_told)
        hw_bottom.Request_free(&request);
    hw_p2p_transfer_abandon(transfer, request);
}

static const struct hw_request_guard guard = {
    .look = look, .settle = settle, .amend = amend, .pause = pause_one, .is_cancellable = is_cancellable};
static const struct hw_request_calls calls = {.abandoned = on_abandoned, .freed = freed, .guard = &guard};

/* ---- its begin ---- */

static int query(void *extra, MPI_Status *status)
{
    const struct hw_p2p_transfer *transfer = extra;
    hw_p2p_generalized_tell_sent(status, transfer->is_cancelled);
    return MPI_SUCCESS;
}

int hw_p2p_send(const struct hw_p2p_sent *sent, MPI_Request *request)
{
    if (request == NULL || hw_p2p_transfer_is_small(sent))
        return HW_DECLINES;
    struct hw_p2p_transfer *transfer = hw_p2p_transfer_begin(sent, true);
    if (transfer == NULL)
        return HW_DECLINES;
    uint64_t bytes = transfer->ticket.bytes;
    int rc = hw_p2p_transfer_tell(transfer, sent);
    if (rc == MPI_SUCCESS && (rc = hw_p2p_generalized_start(query, transfer, request)) != MPI_SUCCESS)
        hw_p2p_transfer_abandon(transfer, HW_REQUEST_NULL);
    if (rc != MPI_SUCCESS) {
        hw_request_give_back();
        return rc == HW_P2P_UNTOLD ? MPI_SUCCESS : rc;
    }
    hw_request_attach(
        *request, &(struct hw_request_attachment){.calls = &calls, .attachment = transfer, .bytes = bytes});
    return MPI_SUCCESS;
}
