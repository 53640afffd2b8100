/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/p2p/user/receiving.h"

#include "base/clock.h"
#include "engines/p2p/user/given_up.h"
#include "engines/p2p/user/own.h"
#include "engines/p2p/user/turns.h"
#include "ghost/channel.h"
#include "objects/request.h"
#include "progress/inside.h"
#include "progress/poll.h"
#include "real/constants.h"
#include "real/quirks.h"

#include <stdlib.h>

#define POLL_GAP_NS HW_NS_PER_US

struct hw_p2p_receiving {
    struct hw_p2p_receive receive;
    atomic_bool is_busy; /* turns.h */
    bool is_persistent;
    int source, tag;      /* of a persistent one */
    uint64_t number;      /* likewise: of its communicator, which it may outlive (held.h) */
    MPI_Request in_place; /* of a start that got a held message: what the MPI really does; else null */
    bool is_in_place;
    bool was_started;
    bool has_lost;     /* is_spent, and the MPI had no status any more */
    bool is_told;      /* the program has had its status, and asks again: as the MPI does it */
    bool is_spent;     /* a persistent one, which the MPI takes for inactive since it was asked */
    MPI_Request other; /* null: none */
    void *memory;      /* is freed with it */
    MPI_Request handle;
    struct hw_p2p_receiving *next;          /* of those that the program has given up */
    struct hw_p2p_receiving *after, **link; /* of those that are served; NULL: it is not */
};

static struct hw_p2p_receiving *abandoned; /* in turns */
static struct hw_p2p_given_up given_up;    /* of these */
static struct hw_p2p_receiving *served;

struct hw_p2p_receiving *hw_p2p_receiving_make(void)
{
    if (!hw_request_reserve())
        return NULL;
    struct hw_p2p_receiving *made = calloc(1, sizeof *made);
    if (made == NULL) {
        hw_request_give_back();
        return NULL;
    }
    made->in_place = made->other = made->handle = HW_REQUEST_NULL;
    return made;
}

/* Where threads take turns there is no list, nor where the node has no such messages. A persistent one is not
 * looked at behind the doors. */
static void enlist(struct hw_p2p_receiving *receiving, MPI_Request request)
{
    if (hw_p2p_takes_turns() || hw_p2p_opened.neighbours == NULL || receiving->is_persistent)
        return;
    receiving->handle = request;
    receiving->after = served;
    receiving->link = &served;
    if (served)
        served->link = &receiving->after;
    served = receiving;
}

static void delist(struct hw_p2p_receiving *receiving)
{
    if (receiving->link == NULL)
        return;
    *receiving->link = receiving->after;
    if (receiving->after)
        receiving->after->link = receiving->link;
    receiving->link = NULL;
}

static void freed(void *attachment)
{
    struct hw_p2p_receiving *receiving = attachment;
    delist(receiving);
    if (receiving->receive.hearer != receiving->receive.comm)
        hw_p2p_hearers_drop(receiving->receive.hearer);
    hw_p2p_receive_end(&receiving->receive);
    free(receiving->memory);
    free(receiving);
}

void hw_p2p_receiving_drop(struct hw_p2p_receiving *receiving)
{
    hw_request_give_back();
    if (receiving->other != HW_REQUEST_NULL) {
        hw_bottom.Request_free(&receiving->other);
        receiving->memory = NULL; /* is still sent from */
    }
    freed(receiving);
}

struct hw_p2p_receive *hw_p2p_receiving_receive(struct hw_p2p_receiving *receiving)
{
    return &receiving->receive;
}

void hw_p2p_receiving_persists(struct hw_p2p_receiving *receiving, int source, int tag)
{
    receiving->is_persistent = true;
    receiving->source = source;
    receiving->tag = tag;
    receiving->number = hw_p2p_held_number_of(receiving->receive.comm);
}

void hw_p2p_receiving_add(struct hw_p2p_receiving *receiving, MPI_Request request, void *memory)
{
    receiving->other = request;
    receiving->memory = memory;
}

/* ---- what doors ask ---- */

static bool is_other_over(struct hw_p2p_receiving *receiving)
{
    int flag = 1;
    if (receiving->other == HW_REQUEST_NULL)
        return true;
    return hw_bottom.Test(&receiving->other, &flag, HW_STATUS_IGNORE) != MPI_SUCCESS || flag;
}

static void note_error(struct hw_p2p_receiving *receiving, int error)
{
    receiving->receive.phase = HW_P2P_PLAIN;
    receiving->receive.error = error;
}

static void look_in_place(struct hw_p2p_receiving *receiving)
{
    MPI_Status status;
    int flag = 0;
    int rc = hw_bottom.Test(&receiving->in_place, &flag, &status);
    if (rc != MPI_SUCCESS)
        note_error(receiving, rc);
    else if (flag)
        hw_p2p_receive_land(&receiving->receive, &status);
}

/* A door may ask about many receives at once, and one poll is for all of them. */
static bool is_poll_due(void)
{
    static _Atomic uint64_t last_ns; /* relaxed; threads that poll at once do no harm */
    uint64_t now_ns = hw_clock_now_ns();
    if (now_ns - hw_atomic_load_relaxed(&last_ns) < POLL_GAP_NS)
        return false;
    hw_atomic_store_relaxed(&last_ns, now_ns);
    return true;
}

/* Makes progress, and tells whether the MPI has completed it, without asking for its status. */
static bool is_complete(MPI_Request request)
{
    if (hw_real_request_is_complete(request))
        return true;
    if (!is_poll_due())
        return false;
    if (hw_poll_is_open())
        hw_poll();
    else
        hw_ghost_channel_progress();
    return hw_real_request_is_complete(request);
}

/* Asking for the status raises the error of a request that failed on some MPIs, at a handler that is not its
 * own, and they then take a persistent one for inactive. What can be told without is told so: nothing but a
 * ticket begins like one. True: it is to be asked for. */
static bool must_ask(struct hw_p2p_receiving *receiving, MPI_Request request)
{
    struct hw_p2p_receive *receive = &receiving->receive;
    if (hw_real_request_is_complete == NULL)
        return true;
    if (!is_complete(request))
        return false;
    if (!hw_p2p_receive_looks_like_ticket(receive)) {
        receive->phase = HW_P2P_PLAIN; /* what it was the real call tells */
        return false;
    }
    if (receiving->is_persistent)
        receive->phase = HW_P2P_TICKET; /* likewise */
    return !receiving->is_persistent;
}

/* Where there is no way to ask but by a call that may end it: ends it. */
static void end_persistent(struct hw_p2p_receiving *receiving, MPI_Request request)
{
    MPI_Status status, after;
    int flag = 0;
    int rc = hw_bottom.Request_get_status(request, &flag, &status);
    receiving->is_spent = rc != MPI_SUCCESS || flag;
    if (!receiving->is_spent)
        return;
    if (rc == MPI_SUCCESS)
        hw_p2p_receive_land(&receiving->receive, &status);
    int ended = hw_bottom.Test(&request, &flag, &after);
    receiving->has_lost = ended == MPI_SUCCESS && after.MPI_SOURCE == HW_ANY_SOURCE;
    if (rc != MPI_SUCCESS)
        note_error(receiving, rc);
}

static void look_at_mpi(struct hw_p2p_receiving *receiving, MPI_Request request)
{
    MPI_Status status;
    int flag = 0;
    if (receiving->is_persistent && HW_REAL_ASKING_ENDS && hw_real_request_is_complete == NULL) {
        end_persistent(receiving, request);
        return;
    }
    if (!must_ask(receiving, request))
        return;
    if (hw_bottom.Request_get_status(request, &flag, &status) != MPI_SUCCESS)
        receiving->receive.phase = HW_P2P_PLAIN; /* the real call has the error */
    else if (flag)
        hw_p2p_receive_land(&receiving->receive, &status);
}

static enum hw_request_readiness look_at(struct hw_p2p_receiving *receiving, MPI_Request request)
{
    if (receiving->receive.phase == HW_P2P_OPEN && receiving->is_in_place)
        look_in_place(receiving);
    else if (receiving->receive.phase == HW_P2P_OPEN)
        look_at_mpi(receiving, request);
    if (receiving->receive.phase == HW_P2P_OPEN || !is_other_over(receiving))
        return HW_REQUEST_OPEN;
    if (!hw_p2p_receive_has_arrived(&receiving->receive))
        return HW_REQUEST_MOVING;
    return receiving->is_in_place || receiving->is_spent ? HW_REQUEST_ITSELF : HW_REQUEST_READY;
}

/* While another thread asks it is not complete yet, as far as this one can tell. */
static enum hw_request_readiness look(void *attachment, MPI_Request request)
{
    struct hw_p2p_receiving *receiving = attachment;
    if (!hw_p2p_turn_try(&receiving->is_busy))
        return HW_REQUEST_OPEN;
    enum hw_request_readiness is = look_at(receiving, request);
    hw_p2p_turn_leave(&receiving->is_busy);
    return is;
}

/* The MPI's own wait is as good as any, and what follows it ends by itself. */
static void settle(void *attachment, MPI_Request request) { (void)attachment, (void)request; }

static void wait_in_place(struct hw_p2p_receiving *receiving)
{
    MPI_Status status;
    int rc = hw_bottom.Wait(&receiving->in_place, &status);
    if (rc == MPI_SUCCESS)
        hw_p2p_receive_land(&receiving->receive, &status);
    else
        note_error(receiving, rc);
}

static int amend_one(struct hw_p2p_receiving *receiving, MPI_Status *status, int error)
{
    struct hw_p2p_receive *receive = &receiving->receive;
    MPI_Status own;
    if (receiving->other != HW_REQUEST_NULL)
        hw_bottom.Wait(&receiving->other, HW_STATUS_IGNORE);
    if (error != MPI_SUCCESS) {
        if (receive->envelope.is_there && receive->comm != HW_COMM_NULL)
            hw_bottom.Comm_call_errhandler(receive->hearer, error);
        return error;
    }
    if (status == NULL)
        return hw_p2p_receive_finish(receive, HW_STATUS_IGNORE);
    if (receive->phase == HW_P2P_OPEN && receiving->is_in_place)
        wait_in_place(receiving);
    if (receive->phase != HW_P2P_DONE && !receive->has_status) {
        own = *status;
        hw_p2p_receive_land(receive, &own);
    }
    bool is_lost = receiving->is_told && receiving->is_persistent && HW_REAL_ASKING_ENDS &&
                   status->MPI_SOURCE == HW_ANY_SOURCE &&
                   (hw_real_request_is_complete != NULL || receiving->has_lost);
    receiving->is_told = true;
    return hw_p2p_receive_finish(receive, is_lost ? HW_STATUS_IGNORE : status);
}

static int amend(void *attachment, MPI_Status *status, int error)
{
    struct hw_p2p_receiving *receiving = attachment;
    hw_p2p_turn_wait(&receiving->is_busy);
    int rc = amend_one(receiving, status, error);
    hw_p2p_turn_leave(&receiving->is_busy);
    return rc;
}

static void pause_one(void *attachment)
{
    (void)attachment;
    hw_p2p_own_pause();
}

static bool is_cancellable(void *attachment)
{
    struct hw_p2p_receiving *receiving = attachment;
    hw_p2p_turn_wait(&receiving->is_busy);
    bool is_open = !receiving->is_in_place && receiving->receive.phase < HW_P2P_TICKET;
    hw_p2p_turn_leave(&receiving->is_busy);
    return is_open;
}

/* ---- what doors tell ---- */

static void starting(void *attachment)
{
    struct hw_p2p_receiving *receiving = attachment;
    struct hw_p2p_receive *receive = &receiving->receive;
    receive->phase = HW_P2P_OPEN;
    receive->has_status = false;
    receive->error = MPI_SUCCESS;
    receive->envelope.is_there = receiving->is_in_place = false;
    receiving->is_spent = receiving->is_told = receiving->has_lost = false;
    /* With gaps a look costs as much as the datatype is long, and what was received has overwritten it. */
    if (receive->is_basic || !receiving->was_started)
        hw_p2p_receive_spoil(receive);
    receiving->was_started = true;
}

/* A held message that matches is the start's: the MPI must not get it, since what it has is younger. */
static bool get_held(struct hw_p2p_receiving *receiving)
{
    struct hw_p2p_receive *receive = &receiving->receive;
    struct hw_p2p_held *held = hw_p2p_held_find_by(receiving->number, receiving->source, receiving->tag);
    if (held == NULL)
        return false;
    int rc = hw_p2p_held_receive(held, (void *)receive->memory, receive->count, receive->type,
                                 &receiving->in_place, &receive->envelope);
    receiving->is_in_place = true;
    if (rc != MPI_SUCCESS)
        note_error(receiving, rc);
    return true;
}

static int start(void *attachment, MPI_Request *request)
{
    int rc = MPI_SUCCESS;
    bool has_turn = hw_p2p_turn_begin();
    if (!get_held(attachment))
        rc = has_turn ? hw_real.Start(request) : HW_REQUEST_PLAINLY;
    hw_p2p_turn_end(has_turn);
    return rc;
}

static void on_abandoned(void *attachment, MPI_Request request)
{
    struct hw_p2p_receiving *receiving = attachment;
    delist(receiving);
    receiving->handle = request;
    bool has_turn = hw_p2p_turn_begin();
    receiving->next = abandoned;
    abandoned = receiving;
    bool is_time = hw_p2p_given_up_one(&given_up);
    hw_p2p_turn_end(has_turn);
    hw_inside_want(HW_INSIDE_GOES_MOVED, true);
    if (is_time)
        hw_p2p_receiving_look_after();
}

static const struct hw_request_guard guard = {.look = look,
                                              .settle = settle,
                                              .amend = amend,
                                              .pause = pause_one,
                                              .is_cancellable = is_cancellable,
                                              .start = start};
static const struct hw_request_calls calls = {
    .starting = starting, .abandoned = on_abandoned, .freed = freed, .guard = &guard};

void hw_p2p_receiving_attach(struct hw_p2p_receiving *receiving, MPI_Request request)
{
    const struct hw_p2p_receive *receive = &receiving->receive;
    hw_request_attach(request, &(struct hw_request_attachment){
                                   .calls = &calls,
                                   .attachment = receiving,
                                   .bytes = receive->count > 0 ? (uint64_t)receive->count * receive->size : 0,
                                   .is_persistent = receiving->is_persistent});
    enlist(receiving, request);
}

static void leave(void *attachment, void *freed)
{
    hw_p2p_hearers_leave(freed, &((struct hw_p2p_receiving *)attachment)->receive.hearer);
}

void hw_p2p_receiving_leave(struct hw_p2p_freed *freed)
{
    hw_request_visit(&calls, leave, freed);
    bool has_turn = hw_p2p_turn_begin();
    for (struct hw_p2p_receiving *one = abandoned; one; one = one->next)
        leave(one, freed);
    hw_p2p_turn_end(has_turn);
}

void hw_p2p_receiving_serve(void)
{
    for (struct hw_p2p_receiving *one = hw_p2p_takes_turns() ? NULL : served, *after; one; one = after) {
        after = one->after;
        if (one->receive.phase == HW_P2P_OPEN)
            look_at(one, one->handle);
        hw_p2p_receive_fetch(&one->receive);
    }
}

/* Whatever tells the program that such a receive is through tells it after its ticket came: the data must be
 * there before it goes on, in whatever thread. */
void hw_p2p_receiving_look_after(void)
{
    uint32_t left = 0;
    bool has_turn = hw_p2p_turn_begin();
    hw_p2p_given_up_look(&given_up);
    for (struct hw_p2p_receiving **link = &abandoned, *one; (one = *link) != NULL;) {
        if (look(one, one->handle) == HW_REQUEST_OPEN) {
            link = &one->next;
            left++;
            continue;
        }
        *link = one->next;
        hw_p2p_receive_finish(&one->receive, HW_STATUS_IGNORE);
        hw_bottom.Request_free(&one->handle);
        freed(one);
    }
    hw_p2p_given_up_looked(&given_up, left);
    hw_p2p_turn_end(has_turn);
}
