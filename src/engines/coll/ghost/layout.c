/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/coll/ghost/layout.h"

#include <stddef.h>

static uint64_t count_at(int place) { return (uint64_t)hw_coll_place_at(place)->count; }

/* Number of a process among the members of a place, to its rank. */
static int rank_at(int place, uint64_t member) { return hw_coll_place_at(place)->ranks[member]; }

/* ---- blocks of unlike size -------------------------------------------------------------------------------
 */

int hw_coll_row_blocks(const struct hw_coll_row *row)
{
    if (row->kind == HW_COLL_ALLGATHERV)
        return (int)count_at(row->from);
    return row->kind == HW_COLL_ALLTOALLV ? (int)(count_at(row->from) * count_at(row->to)) : 0;
}

static uint64_t sent_bytes(const struct hw_coll_row *row, int number)
{
    uint64_t receivers = count_at(row->to);
    return row->posts[(uint64_t)number / receivers]
        .sends[rank_at(row->to, (uint64_t)number % receivers)]
        .bytes;
}

static uint64_t received_bytes(const struct hw_coll_row *row, int number)
{
    uint64_t receivers = count_at(row->to);
    return row->posts[(uint64_t)number % receivers]
        .receives[rank_at(row->from, (uint64_t)number / receivers)]
        .bytes;
}

uint64_t hw_coll_row_block_bytes(const struct hw_coll_row *row, int number)
{
    if (row->kind == HW_COLL_ALLGATHERV) /* any member knows */
        return row->posts[0].receives[rank_at(row->from, (uint64_t)number)].bytes;
    return row->from == hw_coll_own_place() ? sent_bytes(row, number) : received_bytes(row, number);
}

bool hw_coll_row_agrees(const struct hw_coll_row *row)
{
    if (row->kind == HW_COLL_ALLTOALLV && row->from == row->to)
        for (int number = 0; number < hw_coll_row_blocks(row); number++)
            if (sent_bytes(row, number) != received_bytes(row, number))
                return false;
    return true;
}

/* ---- rows ------------------------------------------------------------------------------------------------
 */

uint64_t hw_coll_row_bytes(const struct hw_coll_row *row)
{
    switch (row->kind) {
    case HW_COLL_ALLGATHER:
        return count_at(row->from) * row->block;
    case HW_COLL_ALLTOALL:
        return count_at(row->from) * count_at(row->to) * row->block;
    case HW_COLL_ALLGATHERV:
    case HW_COLL_ALLTOALLV:
        return row->ends[hw_coll_row_blocks(row) - 1];
    default:
        return row->block;
    }
}

/* Which block the byte at `offset` is of, where in it, and how much of it follows. */
struct spot {
    uint64_t number, within, left;
};

static struct spot spot_at(const struct hw_coll_row *row, uint64_t offset)
{
    if (row->ends == NULL)
        return (struct spot){offset / row->block, offset % row->block, row->block - offset % row->block};
    uint64_t low = 0, high = (uint64_t)hw_coll_row_blocks(row) - 1;
    while (low < high) { /* the first one that ends behind it */
        uint64_t middle = (low + high) / 2;
        if (row->ends[middle] > offset)
            high = middle;
        else
            low = middle + 1;
    }
    uint64_t begin = low > 0 ? row->ends[low - 1] : 0;
    return (struct spot){low, offset - begin, row->ends[low] - offset};
}

/* Alltoall: sender by sender, what it has for each receiver. */
struct hw_coll_span hw_coll_row_source(const struct hw_coll_row *row, uint64_t offset)
{
    struct spot spot = spot_at(row, offset);
    struct hw_coll_span span = {.bytes = spot.left};
    if (row->kind == HW_COLL_BCAST) {
        bool has_root = hw_coll_place_of(row->root) == row->from;
        span.member = has_root ? hw_coll_member_of(row->root) : 0;
        span.address = row->posts[span.member].recv + spot.within;
    } else if (row->kind == HW_COLL_ALLGATHER || row->kind == HW_COLL_ALLGATHERV) {
        span.member = (int)spot.number;
        span.address = row->posts[span.member].send + spot.within;
    } else {
        uint64_t receivers = count_at(row->to);
        int receiver = rank_at(row->to, spot.number % receivers);
        span.member = (int)(spot.number / receivers);
        const struct hw_coll_post *post = &row->posts[span.member];
        span.address =
            (post->sends ? post->sends[receiver].address : post->send + (uint64_t)receiver * row->block) +
            spot.within;
    }
    return span;
}

/* All members but the root have what it has. */
static bool bcast_target(const struct hw_coll_row *row, int index, int *member)
{
    *member = index;
    if (hw_coll_place_of(row->root) == row->to && index >= hw_coll_member_of(row->root))
        *member = index + 1;
    return *member < hw_coll_place_at(row->to)->count;
}

bool hw_coll_row_target(const struct hw_coll_row *row, uint64_t offset, int index, struct hw_coll_span *span)
{
    struct spot spot = spot_at(row, offset);
    int sender = 0;
    span->bytes = spot.left;
    if (row->kind == HW_COLL_BCAST) {
        if (!bcast_target(row, index, &span->member))
            return false;
    } else if (row->kind == HW_COLL_ALLGATHER || row->kind == HW_COLL_ALLGATHERV) {
        span->member = index;
        sender = rank_at(row->from, spot.number);
        if (index >= hw_coll_place_at(row->to)->count)
            return false;
    } else if (row->kind == HW_COLL_ALLREDUCE) {
        span->member = index;
        spot.within += row->begin;
        if (index >= hw_coll_place_at(row->to)->count)
            return false;
    } else {
        uint64_t receivers = count_at(row->to);
        span->member = (int)(spot.number % receivers);
        sender = rank_at(row->from, spot.number / receivers);
        if (index > 0)
            return false;
    }
    const struct hw_coll_post *post = &row->posts[span->member];
    span->address =
        (post->receives ? post->receives[sender].address : post->recv + (uint64_t)sender * row->block) +
        spot.within;
    return true;
}
