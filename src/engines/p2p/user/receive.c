/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/p2p/user/receive.h"

#include "engines/p2p/shared/room.h"
#include "engines/p2p/user/near.h"
#include "engines/p2p/user/own.h"
#include "engines/p2p/user/packed.h"
#include "engines/p2p/user/staged.h"
#include "ghost/bell.h"
#include "objects/datatype/dense.h"
#include "objects/datatype/hold.h"
#include "objects/datatype/packed.h"
#include "profile/record/counters.h"
#include "real/constants.h"
#include "real/type_size.h"
#include "world/world.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What of the room, and of a sender's entries, a receiver leaves to a sleeping ghost. */
enum { ROOM_SHARE = 16, LATE_ENTRIES = 8 };

void hw_p2p_receive_begin(struct hw_p2p_receive *receive, uintptr_t memory, MPI_Count count,
                          MPI_Datatype type, MPI_Comm comm, bool outlasts)
{
    memset(receive, 0, sizeof *receive);
    receive->memory = memory;
    receive->count = count;
    receive->type = type;
    receive->comm = receive->hearer = comm;
    receive->is_basic = hw_real_type_is_basic(type, &receive->size);
    if (receive->is_basic)
        return;
    receive->size = hw_real_type_size(type);
    receive->is_ours = outlasts;
    if (outlasts)
        receive->type = hw_datatype_hold(type);
}

void hw_p2p_receive_end(struct hw_p2p_receive *receive)
{
    if (receive->is_ours && receive->type != HW_DATATYPE_NULL)
        hw_bottom.Type_free(&receive->type);
}

static uint64_t room_of(const struct hw_p2p_receive *receive)
{
    return receive->count > 0 ? (uint64_t)receive->count * receive->size : 0;
}

/* The first bytes of what was received, as they were sent. */
static bool read_head(const struct hw_p2p_receive *receive, struct hw_p2p_ticket *ticket)
{
    if (receive->is_basic) {
        memcpy(ticket, (const void *)receive->memory, sizeof *ticket);
        return true;
    }
    if (receive->size == 0 || receive->type == HW_DATATYPE_NULL)
        return false;
    return hw_datatype_pack_head((const void *)receive->memory, receive->type, sizeof *ticket, ticket) ==
           MPI_SUCCESS;
}

bool hw_p2p_receive_looks_like_ticket(struct hw_p2p_receive *receive)
{
    return room_of(receive) >= sizeof receive->ticket && read_head(receive, &receive->ticket) &&
           hw_p2p_is_ticket(&receive->ticket);
}

void hw_p2p_receive_spoil(struct hw_p2p_receive *receive)
{
    static const char none[HW_P2P_MAGIC_BYTES];
    void *memory = (void *)receive->memory;
    if (!hw_p2p_receive_looks_like_ticket(receive))
        return;
    if (receive->is_basic)
        memcpy(memory, none, sizeof none);
    else
        hw_datatype_unpack_head(none, sizeof none, memory, receive->type);
}

/* A receive that was cancelled has no bytes. */
static bool is_ticket(struct hw_p2p_receive *receive, const MPI_Status *status)
{
    int bytes = 0;
    bool is_as_long = receive->is_mute || (hw_bottom.Get_count(status, HW_BYTE, &bytes) == MPI_SUCCESS &&
                                           bytes == HW_P2P_TICKET_BYTES);
    return is_as_long && hw_p2p_receive_looks_like_ticket(receive);
}

void hw_p2p_receive_land(struct hw_p2p_receive *receive, const MPI_Status *status)
{
    receive->status = *status;
    receive->has_status = true;
    if (receive->envelope.is_there) {
        receive->status.MPI_SOURCE = receive->envelope.source;
        receive->status.MPI_TAG = receive->envelope.tag;
    }
    receive->phase = is_ticket(receive, status) ? HW_P2P_TICKET : HW_P2P_PLAIN;
}

static struct hw_p2p_entry *entry_of(const struct hw_p2p_ticket *ticket)
{
    return hw_p2p_entry_of(hw_p2p_opened.block, ticket->from, ticket->number);
}

static bool has_arrived(const void *of)
{
    const struct hw_p2p_ticket *ticket = of;
    struct hw_p2p_entry *entry = entry_of(ticket);
    return hw_atomic_load_acquire(&entry->state) == HW_P2P_ENTRY_ARRIVED && entry->number == ticket->number;
}

bool hw_p2p_receive_has_arrived(const struct hw_p2p_receive *receive)
{
    return receive->phase != HW_P2P_TICKET || receive->ticket.is_near || has_arrived(&receive->ticket);
}

/* False: no memory. */
static bool deliver(const struct hw_p2p_receive *receive, const struct hw_p2p_entry *entry, uint64_t bytes)
{
    if (receive->is_basic) {
        hw_p2p_staged_copy(entry, bytes, (void *)receive->memory);
        return true;
    }
    char *whole = hw_p2p_staged_whole(entry), *copy = whole ? NULL : malloc((size_t)bytes + 1);
    if (copy)
        hw_p2p_staged_copy(entry, bytes, copy);
    if (whole || copy)
        hw_p2p_unpack(whole ? whole : copy, bytes, (void *)receive->memory, receive->type);
    free(copy);
    return whole || copy;
}

static int raise(const struct hw_p2p_receive *receive, int error)
{
    hw_bottom.Comm_call_errhandler(receive->hearer == HW_COMM_NULL ? HW_COMM_WORLD : receive->hearer, error);
    return error;
}

/* The ghost gives the room back when it comes by. It is woken if much of it waits for that. */
static void give_back(struct hw_p2p_entry *entry, const struct hw_p2p_ticket *ticket)
{
    uint64_t number = ticket->number;
    bool is_much = entry->units >= hw_p2p_room_units(hw_world_ghost_place(hw_world.rank)) / ROOM_SHARE;
    hw_atomic_store_release(&entry->state, HW_P2P_ENTRY_CONSUMED);
    hw_atomic_add_seq_cst(&hw_p2p_opened.block->consumed, 1);
    if (!is_much && number >= LATE_ENTRIES) {
        struct hw_p2p_entry *old = hw_p2p_entry_of(hw_p2p_opened.block, ticket->from, number - LATE_ENTRIES);
        is_much = hw_atomic_load_relaxed(&old->state) == HW_P2P_ENTRY_CONSUMED;
    }
    if (is_much)
        hw_ghost_bell_ring_later(hw_ghost_bell_own());
}

/* How much of the message there is room for. */
static uint64_t wanted_of(const struct hw_p2p_receive *receive)
{
    uint64_t room = room_of(receive);
    return receive->ticket.bytes < room ? receive->ticket.bytes : room;
}

/* 0, or an errno. */
static int take_arrived(const struct hw_p2p_receive *receive)
{
    const struct hw_p2p_ticket *ticket = &receive->ticket;
    struct hw_p2p_entry *entry = entry_of(ticket);
    hw_p2p_own_wait(has_arrived, ticket);
    int failed = entry->error;
    if (!failed && !deliver(receive, entry, wanted_of(receive)))
        failed = ENOMEM;
    give_back(entry, ticket);
    return failed;
}

/* Straight into the buffer where that has no gaps. 0, or an errno. */
static int take_near(const struct hw_p2p_receive *receive)
{
    uint64_t bytes = wanted_of(receive), size;
    void *memory = (void *)receive->memory;
    if (receive->is_basic || hw_datatype_element_of(receive->type, &size) != HW_DATATYPE_NULL)
        return hw_p2p_near_read(&receive->ticket, memory, bytes);
    char *copy = malloc((size_t)bytes + 1);
    int failed = hw_p2p_near_read(&receive->ticket, copy, bytes);
    if (!failed)
        hw_p2p_unpack(copy, bytes, memory, receive->type);
    free(copy);
    return failed;
}

void hw_p2p_receive_fetch(struct hw_p2p_receive *receive)
{
    if (receive->phase != HW_P2P_TICKET || !receive->ticket.is_near || receive->is_fetched)
        return;
    receive->failed = take_near(receive);
    receive->is_fetched = true;
}

static void redeem(struct hw_p2p_receive *receive)
{
    const struct hw_p2p_ticket *ticket = &receive->ticket;
    uint64_t room = room_of(receive), bytes = wanted_of(receive);
    hw_p2p_receive_fetch(receive);
    int failed = receive->is_fetched ? receive->failed : take_arrived(receive);
    receive->is_fetched = false;
    HW_COUNT(p2p_tickets);
    hw_bottom.Status_set_elements(&receive->status, HW_BYTE, (int)bytes);
    receive->phase = HW_P2P_DONE;
    receive->error = failed ? MPI_ERR_OTHER : ticket->bytes > room ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
    if (receive->error != MPI_SUCCESS)
        raise(receive, receive->error);
}

int hw_p2p_receive_finish(struct hw_p2p_receive *receive, MPI_Status *status)
{
    if (receive->phase == HW_P2P_TICKET)
        redeem(receive);
    if (status != HW_STATUS_IGNORE && receive->has_status) {
        int kept = status->MPI_ERROR; /* of calls that do not tell it */
        *status = receive->status;
        status->MPI_ERROR = kept;
    }
    return receive->error;
}
