/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/coll/ghost/flow.h"

#include "base/log.h"
#include "engines/coll/ghost/combine.h"
#include "engines/coll/ghost/memory.h"
#include "engines/coll/shared/opened.h"
#include "ghost/give_up.h"
#include "real/constants.h"
#include "world/world.h"

#include <stdlib.h>
#include <string.h>

static void check(int rc)
{
    if (rc != MPI_SUCCESS)
        hw_ghost_give_up("cannot send or receive data of collectives any more");
}

void hw_coll_flow_give_up_sizes(void)
{
    hw_log_error(
        "processes take part in a nonblocking collective with counts that do not agree; what one sends "
        "to another must be what that receives from it");
    hw_ghost_give_up("cannot move the data of a collective");
}

static uint64_t chunk_bytes(const struct hw_coll_flow *flow, uint64_t from)
{
    uint64_t left = flow->bytes - from;
    return left < HW_COLL_CHUNK_BYTES ? left : HW_COLL_CHUNK_BYTES;
}

static int slot_of(uint64_t from) { return (int)(from / HW_COLL_CHUNK_BYTES % HW_COLL_CHUNKS); }

static char *memory_of(const struct hw_coll_flow *flow, uint64_t from)
{
    return flow->chunks + (size_t)slot_of(from) * HW_COLL_CHUNK_BYTES;
}

static bool has_free_slot(const struct hw_coll_flow *flow)
{
    return flow->begun < flow->ended + (uint64_t)HW_COLL_CHUNKS * HW_COLL_CHUNK_BYTES;
}

/* The ghost that a place has, in the order of hw_world.all. */
static int process_of(int place) { return hw_world.ghost_ranks[place]; }

/* ---- memory of user processes ----------------------------------------------------------------------------
 */

static int rank_of(const struct hw_coll_span *span)
{
    return hw_coll_place_at(hw_coll_own_place())->ranks[span->member];
}

/* What the members here make together. */
static void combine_members(const struct hw_coll_flow *flow, uint64_t from, char *to, uint64_t bytes)
{
    const struct hw_coll_place *place = hw_coll_place_at(hw_coll_own_place());
    for (int member = 0; member < place->count; member++) {
        uint64_t address = flow->row.posts[member].send + flow->row.begin + from;
        hw_coll_memory_read(place->ranks[member], address, member ? flow->sum->one_chunk : to, bytes);
        if (member > 0)
            hw_coll_combine(&flow->sum->reduction, to, flow->sum->one_chunk, bytes);
    }
}

static void read_chunk(const struct hw_coll_flow *flow, uint64_t from, char *to, uint64_t bytes)
{
    if (flow->is_result) {
        memcpy(to, flow->sum->numbers + from, bytes);
        return;
    }
    if (flow->sum) {
        combine_members(flow, from, to, bytes);
        return;
    }
    for (uint64_t done = 0; done < bytes;) {
        struct hw_coll_span span = hw_coll_row_source(&flow->row, from + done);
        uint64_t part = span.bytes < bytes - done ? span.bytes : bytes - done;
        hw_coll_memory_read(rank_of(&span), span.address, to + done, part);
        done += part;
    }
}

/* What is in its place already, of MPI_IN_PLACE, is not written. */
static void write_part(const struct hw_coll_flow *flow, uint64_t offset, const char *from, uint64_t bytes)
{
    struct hw_coll_span source = {.member = -1}, span;
    if (flow->direction == HW_COLL_WITHIN && !flow->sum)
        source = hw_coll_row_source(&flow->row, offset);
    for (int i = 0; hw_coll_row_target(&flow->row, offset, i, &span); i++) {
        if (span.member == source.member && span.address == source.address)
            continue;
        hw_coll_memory_write(rank_of(&span), span.address, from, bytes);
    }
}

static void write_chunk(const struct hw_coll_flow *flow, uint64_t from, const char *chunk, uint64_t bytes)
{
    struct hw_coll_span span;
    if (flow->sum && !flow->is_result) {
        if (flow->direction == HW_COLL_WITHIN) /* the first */
            memcpy(flow->sum->numbers + from, chunk, bytes);
        else
            hw_coll_combine(&flow->sum->reduction, flow->sum->numbers + from, chunk, bytes);
        return;
    }
    for (uint64_t done = 0; done < bytes;) {
        if (!hw_coll_row_target(&flow->row, from + done, 0, &span))
            return; /* the root alone */
        uint64_t part = span.bytes < bytes - done ? span.bytes : bytes - done;
        write_part(flow, from + done, chunk + done, part);
        done += part;
    }
}

/* ---- chunks ----------------------------------------------------------------------------------------------
 */

/* Of a receive: that it got as much as the members here say that it gets. */
static void check_length(const struct hw_coll_flow *flow, const MPI_Status *status)
{
    int bytes = 0;
    check(hw_bottom.Get_count(status, HW_BYTE, &bytes));
    if ((uint64_t)bytes != chunk_bytes(flow, flow->ended))
        hw_coll_flow_give_up_sizes();
}

static bool has_come(struct hw_coll_flow *flow)
{
    MPI_Status status;
    int is_complete = 0;
    if (flow->ended == flow->begun)
        return false;
    check(hw_bottom.Test(&flow->requests[slot_of(flow->ended)], &is_complete, &status));
    if (is_complete && flow->direction == HW_COLL_IN)
        check_length(flow, &status);
    return is_complete;
}

/* How much there is to be moved on. */
static uint64_t there(const struct hw_coll_flow *flow)
{
    uint64_t least = flow->bytes;
    for (int i = 0; i < flow->after_count; i++)
        least = flow->after[i].ended < least ? flow->after[i].ended : least;
    return least;
}

static bool send_some(struct hw_coll_flow *flow)
{
    bool has_done = has_come(flow);
    if (has_done)
        flow->ended += chunk_bytes(flow, flow->ended);
    if (flow->begun == flow->bytes || !has_free_slot(flow))
        return has_done;
    uint64_t bytes = chunk_bytes(flow, flow->begun);
    if (flow->begun + bytes > there(flow))
        return has_done;
    char *chunk = memory_of(flow, flow->begun);
    read_chunk(flow, flow->begun, chunk, bytes);
    check(hw_bottom.Isend(chunk, (int)bytes, HW_BYTE, process_of(flow->row.to), flow->tag,
                          hw_coll_opened.comm, &flow->requests[slot_of(flow->begun)]));
    flow->begun += bytes;
    return true;
}

static bool receive_some(struct hw_coll_flow *flow)
{
    bool has_done = false;
    while (flow->begun < flow->bytes && has_free_slot(flow)) {
        uint64_t bytes = chunk_bytes(flow, flow->begun);
        check(hw_bottom.Irecv(memory_of(flow, flow->begun), (int)bytes, HW_BYTE, process_of(flow->row.from),
                              flow->tag, hw_coll_opened.comm, &flow->requests[slot_of(flow->begun)]));
        flow->begun += bytes;
        has_done = true;
    }
    uint64_t bytes = chunk_bytes(flow, flow->ended);
    if (flow->ended + bytes > there(flow) || !has_come(flow))
        return has_done;
    write_chunk(flow, flow->ended, memory_of(flow, flow->ended), bytes);
    flow->ended += bytes;
    return true;
}

static bool copy_some(struct hw_coll_flow *flow)
{
    uint64_t bytes = chunk_bytes(flow, flow->ended);
    if (flow->ended + bytes > there(flow))
        return false;
    read_chunk(flow, flow->ended, flow->chunks, bytes);
    write_chunk(flow, flow->ended, flow->chunks, bytes);
    flow->ended += bytes;
    return true;
}

static void take_memory(struct hw_coll_flow *flow)
{
    uint64_t most = (uint64_t)HW_COLL_CHUNKS * HW_COLL_CHUNK_BYTES;
    flow->chunks = malloc(flow->bytes < most ? flow->bytes : most);
    if (flow->chunks == NULL)
        hw_ghost_give_up("has no memory for collectives");
}

bool hw_coll_flow_advance(struct hw_coll_flow *flow)
{
    bool has_done;
    if (hw_coll_flow_is_over(flow))
        return false;
    if (flow->chunks == NULL)
        take_memory(flow);
    if (flow->direction == HW_COLL_OUT)
        has_done = send_some(flow);
    else if (flow->direction == HW_COLL_IN)
        has_done = receive_some(flow);
    else
        has_done = copy_some(flow);
    if (hw_coll_flow_is_over(flow)) {
        free(flow->chunks);
        flow->chunks = NULL;
    }
    return has_done;
}
