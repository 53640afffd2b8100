/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/p2p/user/persistent.h"

#include "engines/p2p/user/turns.h"
#include "objects/comm_state.h"
#include "objects/datatype/hold.h"
#include "real/constants.h"
#include "real/type_size.h"

#include <stdlib.h>

/* Of a communicator: requests outlive MPI_Comm_free, and its handle does not on every MPI. */
struct life {
    atomic_uint holders; /* the communicator is one */
    atomic_bool is_over;
};

struct persistent {
    struct hw_p2p_sent sent;
    bool is_type_ours;
    struct life *life;
    struct hw_p2p_transfer *transfer; /* of the last start; NULL: that was the MPI's */
    atomic_bool is_busy;              /* turns.h */
};

/* ---- communicators ---- */

static void release(struct life *life)
{
    if (hw_atomic_sub_acq_rel(&life->holders, 1) == 1)
        free(life);
}

static void end_life(void *state)
{
    struct life *life = state;
    hw_atomic_store_release(&life->is_over, true);
    release(life);
}

static void *make_life(MPI_Comm comm)
{
    (void)comm;
    struct life *life = calloc(1, sizeof *life);
    if (life)
        hw_atomic_store_relaxed(&life->holders, 1);
    return life;
}

static struct hw_comm_state lives = {.mutex = PTHREAD_MUTEX_INITIALIZER, .ended = end_life};

void hw_p2p_persistent_close(void) { hw_comm_state_close(&lives); }

/* ---- what doors ask ---- */

static enum hw_request_readiness look(void *attachment, MPI_Request request)
{
    struct persistent *persistent = attachment;
    struct hw_p2p_transfer *transfer = persistent->transfer;
    (void)request;
    enum hw_request_readiness is = HW_REQUEST_OPEN;
    if (transfer == NULL)
        return HW_REQUEST_READY;
    if (!hw_p2p_turn_try(&persistent->is_busy)) /* another thread asks */
        return is;
    if (hw_p2p_transfer_is_over(transfer))
        is = HW_REQUEST_ITSELF;
    else if (transfer->cell)
        is = HW_REQUEST_MOVING;
    hw_p2p_turn_leave(&persistent->is_busy);
    return is;
}

static void settle(void *attachment, MPI_Request request)
{
    struct persistent *persistent = attachment;
    (void)request;
    if (persistent->transfer == NULL)
        return;
    hw_p2p_turn_wait(&persistent->is_busy);
    hw_p2p_transfer_wait(persistent->transfer);
    hw_p2p_turn_leave(&persistent->is_busy);
}

/* To the MPI the request is inactive, so its status says nothing. */
static int amend(void *attachment, MPI_Status *status, int error)
{
    const struct persistent *persistent = attachment;
    if (persistent->transfer == NULL || error != MPI_SUCCESS)
        return error;
    if (status) {
        hw_bottom.Status_set_elements(status, HW_BYTE, 0);
        hw_bottom.Status_set_cancelled(status, persistent->transfer->is_cancelled);
        status->MPI_SOURCE = HW_UNDEFINED;
        status->MPI_TAG = HW_UNDEFINED;
    }
    return hw_p2p_transfer_error(persistent->transfer);
}

static void pause_one(void *attachment)
{
    const struct persistent *persistent = attachment;
    hw_p2p_transfer_pause(persistent->transfer); /* which is MOVING, so it is there */
}

static bool is_cancellable(void *attachment)
{
    struct persistent *persistent = attachment;
    if (persistent->transfer == NULL)
        return true;
    hw_p2p_transfer_cancel(persistent->transfer);
    return false;
}

static void forget_transfer(struct persistent *persistent)
{
    if (persistent->transfer)
        hw_p2p_transfer_end(persistent->transfer);
    persistent->transfer = NULL;
}

static int start(void *attachment, MPI_Request *request)
{
    struct persistent *persistent = attachment;
    (void)request;
    forget_transfer(persistent);
    if (hw_atomic_load_acquire(&persistent->life->is_over))
        return HW_REQUEST_PLAINLY;
    struct hw_p2p_transfer *transfer = hw_p2p_transfer_begin(&persistent->sent, false);
    if (transfer == NULL)
        return HW_REQUEST_PLAINLY;
    int rc = hw_p2p_transfer_tell(transfer, &persistent->sent);
    persistent->transfer = rc == MPI_SUCCESS ? transfer : NULL;
    return rc == HW_P2P_UNTOLD ? MPI_SUCCESS : rc;
}

static void end(struct persistent *persistent)
{
    if (persistent->is_type_ours)
        hw_bottom.Type_free(&persistent->sent.datatype);
    release(persistent->life);
    free(persistent);
}

static void freed(void *attachment)
{
    forget_transfer(attachment);
    end(attachment);
}

static void on_abandoned(void *attachment, MPI_Request request)
{
    struct persistent *persistent = attachment;
    if (persistent->transfer)
        hw_p2p_transfer_abandon(persistent->transfer, HW_REQUEST_NULL);
    hw_bottom.Request_free(&request);
    end(persistent);
}

static const struct hw_request_guard guard = {.look = look,
                                              .settle = settle,
                                              .amend = amend,
                                              .pause = pause_one,
                                              .is_cancellable = is_cancellable,
                                              .start = start};
static const struct hw_request_calls calls = {.abandoned = on_abandoned, .freed = freed, .guard = &guard};

/* ---- its definition ---- */

/* NULL: there is no memory, or the MPI tells nothing of the communicator. */
static struct persistent *make(const struct hw_p2p_sent *sent)
{
    uint64_t size;
    struct life *life = hw_comm_state_of(&lives, sent->comm, make_life);
    if (life == NULL || !hw_request_reserve())
        return NULL;
    struct persistent *made = calloc(1, sizeof *made);
    if (made == NULL) {
        hw_request_give_back();
        return NULL;
    }
    hw_atomic_add_relaxed(&life->holders, 1);
    made->life = life;
    made->sent = *sent;
    made->is_type_ours = !hw_real_type_is_basic(sent->datatype, &size);
    if (made->is_type_ours)
        made->sent.datatype = hw_datatype_hold(sent->datatype);
    return made;
}

/* What is not attached to is the MPI's as any other. */
int hw_p2p_send_init(const struct hw_p2p_sent *sent, hw_p2p_real_send *real_init, MPI_Request *request)
{
    if (request == NULL || hw_p2p_transfer_is_small(sent) || hw_p2p_transfer_refuses(sent))
        return HW_DECLINES;
    int rc = real_init(sent->buf, sent->count, sent->datatype, sent->dest, sent->tag, sent->comm, request);
    if (!hw_real_is_made(rc, request))
        return rc;
    struct persistent *persistent = make(sent);
    if (persistent == NULL) {
        hw_request_leave_out(*request);
        return MPI_SUCCESS;
    }
    hw_request_attach(*request, &(struct hw_request_attachment){
                                    .calls = &calls,
                                    .attachment = persistent,
                                    .bytes = hw_engines_bytes(sent->count, sent->datatype),
                                    .is_persistent = true,
                                    .is_followed = hw_engines_want(sent->count, sent->datatype)});
    return rc;
}
