/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/p2p/user/transfer.h"

#include "base/clock.h"
#include "engines/p2p/shared/room.h"
#include "engines/p2p/user/given_up.h"
#include "engines/p2p/user/near.h"
#include "engines/p2p/user/own.h"
#include "engines/p2p/user/pieces.h"
#include "engines/p2p/user/readable.h"
#include "engines/p2p/user/turns.h"
#include "engines/p2p/user/withdrawn.h"
#include "engines/p2p/user/worth.h"
#include "ghost/bell.h"
#include "objects/datatype/dense.h"
#include "profile/record.h"
#include "progress/inside.h"
#include "real/constants.h"
#include "real/quirks.h"
#include "world/members.h"
#include "world/world.h"

#include <stdlib.h>
#include <string.h>

/* In turns. */
static uint64_t *numbers; /* of the next message to each receiver, by its rank in the program's world */
static struct hw_queue_producer producer;
static struct hw_p2p_transfer *abandoned;
static struct hw_p2p_given_up given_up; /* of these */

static struct hw_p2p_worth worths[HW_P2P_WORTH_CLASSES]; /* if is_auto */
static uint64_t min_bytes;
static bool is_auto;

bool hw_p2p_transfers_open(uint64_t least_bytes, bool is_auto_)
{
    min_bytes = least_bytes;
    is_auto = is_auto_;
    numbers = calloc((size_t)hw_world.user_count, sizeof *numbers);
    return numbers && hw_queue_produce(&producer, hw_p2p_queue_of(hw_p2p_opened.block), false);
}

/* ---- what can be moved ---- */

/* The ghost asks for more: the next message may find it. */
static void miss(struct hw_p2p_credit *credit, uint32_t units)
{
    if (hw_atomic_load_acquire(&credit->wanted) != 0)
        return;
    hw_atomic_store_release(&credit->wanted, units);
    hw_atomic_add_seq_cst(&hw_p2p_opened.block->misses, 1);
    hw_ghost_bell_ring_later(hw_ghost_bell_own());
}

static bool is_near(int process) { return hw_world.processes[process].node == hw_world_own_node(); }

/* Takes room for the message on the receiver's node. Else why there is none. */
static const char *find_room(int to, uint64_t bytes, struct hw_p2p_job *job)
{
    const char *no_room = "p2p: no room on the receiver's node";
    if (is_near(to)) {
        *job = (struct hw_p2p_job){.bytes = bytes, .to = to};
        return hw_p2p_near_take_room(bytes) ? NULL : no_room;
    }
    int rank = hw_world.processes[to].user_rank, place = hw_world_ghost_place(to);
    uint64_t units = hw_p2p_units_of(bytes);
    struct hw_p2p_out *out = hw_p2p_out_of(hw_p2p_opened.block, rank);
    struct hw_p2p_credit *credit = hw_p2p_credit_of(hw_p2p_opened.block, place);
    *job = (struct hw_p2p_job){.number = numbers[rank], .bytes = bytes, .to = to};
    if (job->number - hw_atomic_load_acquire(&out->freed_count) >= HW_P2P_ENTRIES)
        return "p2p: its receiver has not waited for the earlier ones";
    if (units > hw_p2p_room_units(place))
        return no_room;
    if (hw_p2p_credit_take(credit, (uint32_t)units))
        return NULL;
    miss(credit, (uint32_t)units);
    return no_room;
}

static void give_room_back(const struct hw_p2p_job *job)
{
    if (is_near(job->to))
        hw_p2p_near_give_room(job->bytes);
    else
        hw_p2p_credit_give(hw_p2p_credit_of(hw_p2p_opened.block, hw_world_ghost_place(job->to)),
                           (uint32_t)hw_p2p_units_of(job->bytes));
}

bool hw_p2p_transfer_is_small(const struct hw_p2p_sent *sent)
{
    return sent->dest == HW_PROC_NULL || sent->datatype == HW_DATATYPE_NULL ||
           hw_engines_bytes(sent->count, sent->datatype) < min_bytes;
}

/* NULL: ghosts can move it, to *to. Else why not, for the record. */
static const char *refuse(const struct hw_p2p_sent *sent, int *to)
{
    uint64_t size, bytes = hw_engines_bytes(sent->count, sent->datatype);
    MPI_Datatype element = hw_datatype_element_of(sent->datatype, &size);
    if (element == HW_DATATYPE_NULL) {
        const char *reason = hw_p2p_pieces_refuse(sent->count, sent->datatype);
        if (reason)
            return reason;
        element = hw_p2p_pieces_element(sent->datatype, &size); /* takes what the datatype is made of apart */
    }
    if (element == HW_DATATYPE_NULL || element == HW_PACKED || HW_P2P_TICKET_BYTES % size != 0)
        return "p2p: of several datatypes, or one that is no ticket's";
    if (sent->buf == NULL || sent->tag < 0 || bytes > INT32_MAX || sent->comm == HW_COMM_NULL)
        return "p2p: not a message that ghosts move";
    if (!hw_real_type_is_basic(sent->datatype, &size) && /* of the ticket it sees another datatype */
        !hw_p2p_own_accepts(sent->buf, sent->count, sent->datatype, sent->tag))
        return "p2p: not a message that ghosts move";
    const struct hw_world_members *members = hw_world_members_of(sent->comm);
    if (members == NULL || sent->dest < 0 || sent->dest >= members->size)
        return "p2p: on an intercommunicator, or to a process outside of the world";
    *to = members->processes[sent->dest];
    return is_near(*to) ? hw_p2p_near_refuse(*to) : NULL;
}

bool hw_p2p_transfer_refuses(const struct hw_p2p_sent *sent)
{
    int to;
    uint64_t size;
    const char *reason = refuse(sent, &to);
    if (reason == NULL && hw_datatype_element_of(sent->datatype, &size) == HW_DATATYPE_NULL)
        reason = "p2p: persistent, of a datatype with gaps";
    if (reason)
        hw_record_declined(reason);
    return reason != NULL;
}

/* Where its bytes lie. NULL: they are listed in job->address, or lie in a row there. */
static const char *find_bytes(const struct hw_p2p_sent *sent, struct hw_p2p_job *job)
{
    const char *unreadable = "p2p: in memory that ghosts cannot read", *reason;
    uint64_t size;
    job->address = (uint64_t)(uintptr_t)sent->buf;
    if (hw_datatype_element_of(sent->datatype, &size) != HW_DATATYPE_NULL)
        return hw_p2p_is_readable(sent->buf, job->bytes) ? NULL : unreadable;
    if (is_near(job->to))
        return "p2p: within the node, of a datatype with gaps";
    struct hw_p2p_piece *pieces =
        hw_p2p_pieces_make(sent->buf, sent->count, sent->datatype, &job->pieces, &reason);
    if (pieces == NULL)
        return reason;
    const struct hw_p2p_piece *last = &pieces[job->pieces - 1];
    job->address = (uint64_t)(uintptr_t)pieces;
    if (!hw_p2p_opened.is_arena_only &&
        hw_p2p_is_readable((const void *)pieces[0].address, pieces[0].bytes) &&
        hw_p2p_is_readable((const void *)last->address, last->bytes))
        return NULL;
    free(pieces);
    return unreadable;
}

/* In a turn. NULL: ghosts move it. */
static const char *judge(const struct hw_p2p_sent *sent, struct hw_p2p_job *job)
{
    int to;
    const char *reason = refuse(sent, &to);
    if (reason)
        return reason;
    uint64_t bytes = hw_engines_bytes(sent->count, sent->datatype);
    if (is_auto && !is_near(to) && !hw_p2p_worth_ask(&worths[hw_p2p_worth_class(bytes)]))
        return "p2p: not worth it, since its sender waits at once";
    if ((reason = find_room(to, bytes, job)) != NULL)
        return reason;
    reason = find_bytes(sent, job);
    if (reason)
        give_room_back(job);
    return reason;
}

/* ---- its end ---- */

static bool is_cell_done(const void *cell) { return hw_queue_is_done(cell); }

static void take_cell(struct hw_p2p_transfer *transfer)
{
    transfer->error = transfer->cell->error;
    hw_queue_release(transfer->cell);
    transfer->cell = NULL;
    if (transfer->ticket.is_near)
        hw_p2p_near_give_room(transfer->ticket.bytes);
}

/* Within the node: nobody will come for what was cancelled, and somebody may be late. */
static void look_near(struct hw_p2p_transfer *transfer)
{
    if (transfer->is_cancelled && hw_queue_withdraw(transfer->cell)) {
        hw_p2p_near_give_room(transfer->ticket.bytes);
        transfer->cell = NULL;
    } else if (hw_p2p_near_is_late(&transfer->asked) && hw_p2p_near_leave(transfer->cell)) {
        transfer->cell = NULL;
    }
}

static void wait_near(struct hw_p2p_transfer *transfer)
{
    uint64_t began_ns = hw_clock_now_ns();
    while (!hw_queue_is_done(transfer->cell)) {
        look_near(transfer);
        if (transfer->cell == NULL)
            break;
        hw_p2p_near_pause(transfer->cell);
    }
    HW_COUNT_ADD(p2p_waited_ns, hw_clock_now_ns() - began_ns);
    if (transfer->cell)
        take_cell(transfer);
}

void hw_p2p_transfer_pause(const struct hw_p2p_transfer *transfer)
{
    if (transfer->ticket.is_near && transfer->cell)
        hw_p2p_near_pause(transfer->cell);
    else
        hw_p2p_own_pause();
}

static bool look(struct hw_p2p_transfer *transfer)
{
    int flag = 1;
    MPI_Status status;
    MPI_Request request = hw_atomic_load_relaxed(&transfer->ticket_request);
    if (transfer->cell && hw_queue_is_done(transfer->cell))
        take_cell(transfer);
    else if (transfer->cell && transfer->ticket.is_near)
        look_near(transfer);
    if (request == HW_REQUEST_NULL)
        return transfer->cell == NULL;
    if (hw_bottom.Test(&request, &flag, &status) != MPI_SUCCESS)
        flag = 1;
    else if (flag)
        transfer->is_cancelled = hw_real_is_cancelled(&status);
    hw_atomic_store_relaxed(&transfer->ticket_request, request);
    return transfer->cell == NULL && flag;
}

static void wait_for(struct hw_p2p_transfer *transfer)
{
    if (transfer->cell && transfer->ticket.is_near) {
        wait_near(transfer);
    } else if (transfer->cell) {
        hw_p2p_own_wait(is_cell_done, transfer->cell);
        take_cell(transfer);
    }
    MPI_Status status;
    MPI_Request request = hw_atomic_load_relaxed(&transfer->ticket_request);
    if (request != HW_REQUEST_NULL && hw_bottom.Wait(&request, &status) == MPI_SUCCESS)
        transfer->is_cancelled = hw_real_is_cancelled(&status);
    hw_atomic_store_relaxed(&transfer->ticket_request, request);
}

/* What two looks so near to another have between them is a wait. */
#define LOOKS_NS (20 * HW_NS_PER_US)

/* It is over: once, whether it was worth it. */
static void learn(struct hw_p2p_transfer *transfer, uint64_t now_ns)
{
    bool has_turn = hw_p2p_turn_begin();
    hw_p2p_worth_learn(&worths[hw_p2p_worth_class(transfer->ticket.bytes)], now_ns - transfer->posted_ns,
                       transfer->waited_ns);
    hw_p2p_turn_end(has_turn);
    transfer->posted_ns = 0;
}

bool hw_p2p_transfer_is_over(struct hw_p2p_transfer *transfer)
{
    bool is_over = look(transfer);
    if (transfer->posted_ns == 0)
        return is_over;
    uint64_t now_ns = hw_clock_now_ns();
    uint64_t before_ns = transfer->looked_ns ? transfer->looked_ns : transfer->posted_ns;
    if (now_ns - before_ns < LOOKS_NS)
        transfer->waited_ns += now_ns - before_ns;
    transfer->looked_ns = now_ns;
    if (is_over)
        learn(transfer, now_ns);
    return is_over;
}

void hw_p2p_transfer_wait(struct hw_p2p_transfer *transfer)
{
    uint64_t began_ns = transfer->posted_ns ? hw_clock_now_ns() : 0;
    wait_for(transfer);
    if (began_ns == 0)
        return;
    uint64_t now_ns = hw_clock_now_ns();
    transfer->waited_ns += now_ns - began_ns;
    learn(transfer, now_ns);
}

void hw_p2p_transfer_cancel(struct hw_p2p_transfer *transfer)
{
    MPI_Request request = hw_atomic_load_relaxed(&transfer->ticket_request);
    if (request != HW_REQUEST_NULL)
        hw_bottom.Cancel(&request);
}

int hw_p2p_transfer_error(const struct hw_p2p_transfer *transfer)
{
    if (transfer->error == 0)
        return MPI_SUCCESS;
    hw_bottom.Comm_call_errhandler(transfer->comm, MPI_ERR_BUFFER);
    return MPI_ERR_BUFFER;
}

void hw_p2p_transfer_end(struct hw_p2p_transfer *transfer)
{
    if (transfer->is_cancelled && !transfer->ticket.is_near) {
        bool has_turn = hw_p2p_turn_begin();
        hw_p2p_withdrawn_add(&producer, transfer->to, transfer->ticket.number);
        hw_p2p_turn_end(has_turn);
    }
    free(transfer->pieces);
    memset(&transfer->ticket, 0, sizeof transfer->ticket); /* nobody finds one in memory that is used again */
    free(transfer);
}

/* ---- those that nobody asks for ---- */

void hw_p2p_transfer_abandon(struct hw_p2p_transfer *transfer, MPI_Request handle)
{
    bool has_turn = hw_p2p_turn_begin();
    transfer->handle = handle;
    transfer->next = abandoned;
    abandoned = transfer;
    bool is_time = hw_p2p_given_up_one(&given_up);
    hw_p2p_turn_end(has_turn);
    hw_inside_want(HW_INSIDE_GOES_MOVED, true);
    if (is_time)
        hw_p2p_transfers_look_after();
}

static void finish(struct hw_p2p_transfer *transfer)
{
    if (transfer->handle != HW_REQUEST_NULL) {
        hw_bottom.Grequest_complete(transfer->handle);
        hw_bottom.Request_free(&transfer->handle);
    }
    hw_p2p_transfer_end(transfer);
}

void hw_p2p_transfers_look_after(void)
{
    uint32_t left = 0;
    bool has_turn = hw_p2p_turn_begin();
    hw_p2p_given_up_look(&given_up);
    for (struct hw_p2p_transfer **link = &abandoned, *one; (one = *link) != NULL;) {
        if (hw_p2p_transfer_is_over(one)) {
            *link = one->next;
            finish(one);
        } else {
            link = &one->next;
            left++;
        }
    }
    hw_p2p_given_up_looked(&given_up, left);
    hw_p2p_withdrawn_look_after(&producer);
    hw_p2p_turn_end(has_turn);
}

void hw_p2p_transfers_close(void)
{
    for (struct hw_p2p_transfer *one; (one = abandoned) != NULL;) {
        abandoned = one->next;
        hw_p2p_transfer_wait(one);
        finish(one);
    }
    hw_p2p_withdrawn_close();
    free(numbers);
    numbers = NULL;
}

/* ---- its begin ---- */

/* In the turn in which there was room. */
static struct hw_p2p_transfer *hand_over(const struct hw_p2p_job *job, MPI_Comm comm)
{
    struct hw_p2p_transfer *transfer = calloc(1, sizeof *transfer);
    if (transfer == NULL) {
        free(job->pieces > 0 ? (void *)(uintptr_t)job->address : NULL);
        return NULL;
    }
    hw_atomic_store_relaxed(&transfer->ticket_request, HW_REQUEST_NULL);
    transfer->comm = comm;
    transfer->to = job->to;
    if (job->pieces > 0)
        transfer->pieces = (struct hw_p2p_piece *)(uintptr_t)job->address;
    transfer->ticket = (struct hw_p2p_ticket){.version = HW_P2P_TICKET_VERSION,
                                              .from = hw_world.user_rank,
                                              .number = job->number,
                                              .bytes = job->bytes};
    memcpy(transfer->ticket.magic, hw_p2p_opened.magic, sizeof transfer->ticket.magic);
    transfer->ticket.is_near = is_near(job->to);
    transfer->cell =
        hw_queue_put(&producer, job, sizeof *job, transfer->ticket.is_near ? HW_QUEUE_OPEN : HW_QUEUE_READY);
    if (transfer->cell == NULL) {
        hw_p2p_transfer_end(transfer);
        return NULL;
    }
    if (transfer->ticket.is_near)
        transfer->ticket.number = hw_queue_number(transfer->cell);
    else
        numbers[hw_world.processes[job->to].user_rank]++;
    return transfer;
}

struct hw_p2p_transfer *hw_p2p_transfer_begin(const struct hw_p2p_sent *sent, bool wants_entry)
{
    struct hw_p2p_transfer *transfer = NULL;
    struct hw_p2p_job job;
    bool has_turn = hw_p2p_turn_begin();
    const char *reason = judge(sent, &job);
    if (reason == NULL && wants_entry && !hw_request_reserve()) {
        give_room_back(&job);
        free(job.pieces > 0 ? (void *)(uintptr_t)job.address : NULL);
        reason = "p2p: no memory";
    } else if (reason == NULL && (transfer = hand_over(&job, sent->comm)) == NULL) {
        give_room_back(&job);
        reason = "p2p: too many sends under way";
        if (wants_entry)
            hw_request_give_back();
    }
    hw_p2p_turn_end(has_turn);
    if (reason)
        hw_record_declined(reason);
    if (transfer && is_auto && !transfer->ticket.is_near)
        transfer->posted_ns = hw_clock_now_ns();
    return transfer;
}

static void count_one(const struct hw_p2p_ticket *ticket)
{
    if (ticket->is_near) {
        HW_COUNT(p2p_near);
        HW_COUNT_ADD(p2p_near_bytes, ticket->bytes);
    } else {
        HW_COUNT(p2p_offloaded);
        HW_COUNT_ADD(p2p_offloaded_bytes, ticket->bytes);
    }
}

/* The ticket goes where the message would, as the first elements of it. */
int hw_p2p_transfer_tell(struct hw_p2p_transfer *transfer, const struct hw_p2p_sent *sent)
{
    uint64_t size;
    MPI_Datatype element = hw_p2p_pieces_element(sent->datatype, &size);
    MPI_Count count =
        size ? (MPI_Count)(HW_P2P_TICKET_BYTES / size) : 0; /* judge has seen that it is not 0 */
    MPI_Request request = HW_REQUEST_NULL;
    bool is_within = transfer->ticket.is_near;
    struct hw_ghost_bell *bell = is_within ? NULL : hw_ghost_bell_own();
    hw_ghost_bell_post_begin(bell);
    int rc = sent->real(&transfer->ticket, count, element, sent->dest, sent->tag, sent->comm, &request);
    hw_ghost_bell_ring_later(bell); /* it may take the core until the kernel's next tick */
    hw_ghost_bell_post_end(bell);
    if (rc == MPI_SUCCESS && request != HW_REQUEST_NULL) {
        hw_atomic_store_relaxed(&transfer->ticket_request, request);
        count_one(&transfer->ticket);
        return rc;
    }
    transfer->is_cancelled = true; /* nobody will ask for what was handed over */
    hw_p2p_transfer_wait(transfer);
    hw_p2p_transfer_end(transfer);
    return rc == MPI_SUCCESS ? HW_P2P_UNTOLD : rc;
}
