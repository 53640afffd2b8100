/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/p2p/user/send.h"

#include "engines/p2p/user/dense.h"
#include "engines/p2p/user/own.h"
#include "engines/p2p/user/readable.h"
#include "engines/p2p/user/ticket.h"
#include "engines/p2p/user/turns.h"
#include "ghost/bell.h"
#include "profile/record.h"
#include "progress/inside.h"
#include "real/constants.h"
#include "world/members.h"
#include "world/world.h"

#include <stdlib.h>
#include <string.h>

/* Of one receiver, by its rank in the program's world. */
struct lane {
    uint64_t number; /* of the next message */
    uint64_t head;   /* end of the last one in the lane */
    uint64_t base;   /* where messages began anew when the lane was empty: nothing before it is in use */
};

struct send {
    struct hw_queue_cell *cell; /* NULL: the buffer is the program's again */
    /* Null: the MPI is done with the ticket. Whoever looks or waits writes it; who cancels reads it. */
    _Atomic(MPI_Request) ticket_request;
    atomic_bool is_busy; /* turns.h */
    MPI_Request handle;  /* the program's, once it has given it up */
    struct send *next;   /* of those */
    MPI_Comm comm;
    int error; /* the buffer could not be read */
    bool is_told, is_cancelled;
    struct hw_p2p_ticket ticket;
};

static struct lane *lanes;
static uint64_t min_bytes;
static struct hw_queue_producer producer;
static struct send *abandoned; /* in turns, as the lanes and the producer */

bool hw_p2p_sends_open(uint64_t least_bytes)
{
    min_bytes = least_bytes;
    lanes = calloc((size_t)hw_world.user_count, sizeof *lanes);
    return lanes && hw_queue_produce(&producer, hw_p2p_queue_of(hw_p2p_opened.block), false);
}

/* ---- what can be moved ---- */

/* Where the message goes in its lane. False: there is no room. */
static bool find_room(int to, uint64_t bytes, struct hw_p2p_job *job)
{
    int rank = hw_world.processes[to].user_rank;
    struct lane *lane = &lanes[rank];
    struct hw_p2p_out *out = hw_p2p_out_of(hw_p2p_opened.block, rank);
    uint64_t room = hw_p2p_lane_bytes(to), begin = lane->head;
    uint64_t length =
        (bytes + HW_P2P_MESSAGE_ALIGNMENT - 1) / HW_P2P_MESSAGE_ALIGNMENT * HW_P2P_MESSAGE_ALIGNMENT;
    if (room == 0 || length > room)
        return false;
    uint64_t freed_count = hw_atomic_load_acquire(&out->freed_count);
    uint64_t freed_end = hw_atomic_load_acquire(&out->freed_end);
    bool is_empty = lane->number == freed_count;
    if (is_empty) /* in pages that have been used */
        begin = lane->base = (begin + room - 1) / room * room;
    else if (begin % room + length > room)
        begin += room - begin % room;
    *job = (struct hw_p2p_job){
        .number = lane->number, .bytes = bytes, .begin = begin, .end = begin + length, .to = to};
    uint64_t used_from = freed_end > lane->base ? freed_end : lane->base;
    return is_empty || (lane->number - freed_count < HW_P2P_ENTRIES && job->end - used_from <= room);
}

/* NULL: ghosts move it. Else why not, for the record; empty: that is no news. */
static const char *judge(const struct hw_p2p_sent *sent, struct hw_p2p_job *job, MPI_Datatype *element)
{
    uint64_t size, bytes = hw_engines_bytes(sent->count, sent->datatype);
    if (bytes < min_bytes || sent->dest == HW_PROC_NULL)
        return "";
    *element = hw_p2p_element_of(sent->datatype, &size);
    if (*element == HW_DATATYPE_NULL || *element == HW_PACKED || HW_P2P_TICKET_BYTES % size != 0)
        return "p2p: of a datatype with gaps, or of several";
    if (sent->buf == NULL || sent->tag < 0 || bytes > INT32_MAX || sent->comm == HW_COMM_NULL)
        return "p2p: not a message that ghosts move";
    const struct hw_world_members *members = hw_world_members_of(sent->comm);
    if (members == NULL || sent->dest < 0 || sent->dest >= members->size)
        return "p2p: on an intercommunicator, or to a process outside of the world";
    int to = members->processes[sent->dest];
    if (hw_world.processes[to].node == hw_world_own_node())
        return "p2p: within the node";
    if (!hw_p2p_is_readable(sent->buf, bytes))
        return "p2p: in memory that ghosts cannot read";
    if (!find_room(to, bytes, job))
        return "p2p: no room on the receiver's node";
    job->address = (uint64_t)(uintptr_t)sent->buf;
    return NULL;
}

/* ---- its end ---- */

static bool is_cell_done(const void *cell) { return hw_queue_is_done(cell); }

static void take_cell(struct send *send)
{
    send->error = send->cell->error;
    hw_queue_release(send->cell);
    send->cell = NULL;
}

static void tell(struct send *send, MPI_Request handle)
{
    if (!send->is_told)
        hw_bottom.Grequest_complete(handle);
    send->is_told = true;
}

static void note_cancelled(struct send *send, const MPI_Status *status)
{
    int flag = 0;
    hw_bottom.Test_cancelled(status, &flag);
    send->is_cancelled = flag != 0;
}

static bool is_over(struct send *send)
{
    int flag = 1;
    MPI_Status status;
    MPI_Request request = hw_atomic_load_relaxed(&send->ticket_request);
    if (send->cell && hw_queue_is_done(send->cell))
        take_cell(send);
    if (request == HW_REQUEST_NULL)
        return send->cell == NULL;
    if (hw_bottom.Test(&request, &flag, &status) != MPI_SUCCESS)
        flag = 1;
    else if (flag)
        note_cancelled(send, &status);
    hw_atomic_store_relaxed(&send->ticket_request, request);
    return send->cell == NULL && flag;
}

static void wait_for(struct send *send)
{
    if (send->cell) {
        hw_p2p_own_wait(is_cell_done, send->cell);
        take_cell(send);
    }
    MPI_Status status;
    MPI_Request request = hw_atomic_load_relaxed(&send->ticket_request);
    if (request != HW_REQUEST_NULL && hw_bottom.Wait(&request, &status) == MPI_SUCCESS)
        note_cancelled(send, &status);
    hw_atomic_store_relaxed(&send->ticket_request, request);
}

static enum hw_request_readiness look(void *attachment, MPI_Request request)
{
    struct send *send = attachment;
    enum hw_request_readiness is = HW_REQUEST_OPEN;
    if (!hw_p2p_turn_try(&send->is_busy)) /* another thread asks */
        return is;
    if (is_over(send)) {
        tell(send, request);
        is = HW_REQUEST_READY;
    } else if (send->cell) {
        is = HW_REQUEST_MOVING;
    }
    hw_p2p_turn_leave(&send->is_busy);
    return is;
}

static void settle(void *attachment, MPI_Request request)
{
    struct send *send = attachment;
    hw_p2p_turn_wait(&send->is_busy);
    wait_for(send);
    tell(send, request);
    hw_p2p_turn_leave(&send->is_busy);
}

static int amend(void *attachment, MPI_Status *status, int error)
{
    const struct send *send = attachment;
    (void)status;
    if (error != MPI_SUCCESS || send->error == 0)
        return error;
    hw_bottom.Comm_call_errhandler(send->comm, MPI_ERR_BUFFER);
    return MPI_ERR_BUFFER;
}

static void pause_one(void *attachment)
{
    (void)attachment;
    hw_p2p_own_pause();
}

/* The ticket, which the MPI may still have where it waits for a receive. What was handed over ends by itself,
 * and soon; its room on the other side stays taken if nobody gets the ticket. */
static bool is_cancellable(void *attachment)
{
    struct send *send = attachment;
    MPI_Request request = hw_atomic_load_relaxed(&send->ticket_request);
    if (request != HW_REQUEST_NULL)
        hw_bottom.Cancel(&request);
    return false;
}

static void freed(void *attachment)
{
    struct send *send = attachment;
    memset(&send->ticket, 0, sizeof send->ticket); /* nobody finds one in memory that is used again */
    free(send);
}

static void on_abandoned(void *attachment, MPI_Request request)
{
    struct send *send = attachment;
    bool has_turn = hw_p2p_turn_begin();
    send->handle = request;
    send->next = abandoned;
    abandoned = send;
    hw_p2p_turn_end(has_turn);
    hw_inside_want(HW_INSIDE_GOES, true);
}

static const struct hw_request_guard guard = {
    .look = look, .settle = settle, .amend = amend, .pause = pause_one, .is_cancellable = is_cancellable};
static const struct hw_request_calls calls = {.abandoned = on_abandoned, .freed = freed, .guard = &guard};

static void finish(struct send *send)
{
    tell(send, send->handle);
    hw_bottom.Request_free(&send->handle);
    freed(send);
}

void hw_p2p_sends_look_after(void)
{
    bool has_turn = hw_p2p_turn_begin();
    for (struct send **link = &abandoned, *send; (send = *link) != NULL;) {
        if (is_over(send)) {
            *link = send->next;
            finish(send);
        } else {
            link = &send->next;
        }
    }
    hw_p2p_turn_end(has_turn);
}

void hw_p2p_sends_close(void)
{
    for (struct send *send; (send = abandoned) != NULL;) {
        abandoned = send->next;
        wait_for(send);
        finish(send);
    }
    free(lanes);
    lanes = NULL;
}

/* ---- its begin ---- */

static int query(void *extra, MPI_Status *status)
{
    const struct send *send = extra;
    hw_bottom.Status_set_elements(status, HW_BYTE, 0);
    hw_bottom.Status_set_cancelled(status, send->is_cancelled);
    status->MPI_SOURCE = HW_UNDEFINED;
    status->MPI_TAG = HW_UNDEFINED;
    return MPI_SUCCESS;
}

static int forget(void *extra)
{
    (void)extra;
    return MPI_SUCCESS;
}

static int cancel(void *extra, int is_complete)
{
    (void)extra, (void)is_complete;
    return MPI_SUCCESS;
}

/* The ticket goes where the message would, as the first elements of it. */
static int send_ticket(struct send *send, const struct hw_p2p_sent *sent, MPI_Datatype element)
{
    uint64_t size = hw_real_type_size(element);
    MPI_Count count =
        size ? (MPI_Count)(HW_P2P_TICKET_BYTES / size) : 0; /* judge has seen that it is not 0 */
    MPI_Request request = HW_REQUEST_NULL;
    int rc = sent->real(&send->ticket, count, element, sent->dest, sent->tag, sent->comm, &request);
    if (rc == MPI_SUCCESS)
        hw_atomic_store_relaxed(&send->ticket_request, request);
    return rc;
}

/* In the turn in which there was room. */
static struct send *hand_over(const struct hw_p2p_job *job, const struct hw_p2p_sent *sent)
{
    struct send *send = calloc(1, sizeof *send);
    if (send == NULL)
        return NULL;
    hw_atomic_store_relaxed(&send->ticket_request, HW_REQUEST_NULL);
    send->comm = sent->comm;
    send->ticket = (struct hw_p2p_ticket){.version = HW_P2P_TICKET_VERSION,
                                          .from = hw_world.user_rank,
                                          .number = job->number,
                                          .bytes = job->bytes,
                                          .begin = job->begin};
    memcpy(send->ticket.magic, hw_p2p_opened.magic, sizeof send->ticket.magic);
    send->cell = hw_queue_put(&producer, job, sizeof *job, HW_QUEUE_READY);
    if (send->cell == NULL) {
        freed(send);
        return NULL;
    }
    struct lane *lane = &lanes[hw_world.processes[job->to].user_rank];
    lane->number++;
    lane->head = job->end;
    hw_ghost_bell_ring(hw_ghost_bell_own());
    return send;
}

/* NULL: *reason why not, as of `judge`. */
static struct send *begin(const struct hw_p2p_sent *sent, struct hw_p2p_job *job, MPI_Datatype *element,
                          const char **reason)
{
    struct send *send = NULL;
    bool has_turn = hw_p2p_turn_begin();
    *reason = judge(sent, job, element);
    if (*reason == NULL && !hw_request_reserve()) {
        *reason = "p2p: no memory";
    } else if (*reason == NULL && (send = hand_over(job, sent)) == NULL) {
        hw_request_give_back();
        *reason = "p2p: too many sends under way";
    }
    hw_p2p_turn_end(has_turn);
    return send;
}

int hw_p2p_send(const struct hw_p2p_sent *sent, MPI_Request *request)
{
    struct hw_p2p_job job;
    MPI_Datatype element;
    const char *reason = "";
    struct send *send = request ? begin(sent, &job, &element, &reason) : NULL;
    if (send == NULL) {
        if (*reason)
            hw_record_declined(reason);
        return HW_DECLINES;
    }
    int rc = send_ticket(send, sent, element);
    if (rc == MPI_SUCCESS)
        rc = hw_bottom.Grequest_start(query, forget, cancel, send, request);
    if (rc != MPI_SUCCESS) { /* nobody will ask for what was handed over, and its room stays taken */
        hw_request_give_back();
        wait_for(send);
        freed(send);
        return rc;
    }
    hw_request_attach(
        *request, &(struct hw_request_attachment){.calls = &calls, .attachment = send, .bytes = job.bytes});
    HW_COUNT(p2p_offloaded);
    HW_COUNT_ADD(p2p_offloaded_bytes, job.bytes);
    return MPI_SUCCESS;
}
