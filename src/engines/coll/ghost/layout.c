/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/coll/ghost/layout.h"

static uint64_t count_at(int place) { return (uint64_t)hw_coll_place_at(place)->count; }

uint64_t hw_coll_row_bytes(const struct hw_coll_row *row)
{
    switch (row->kind) {
    case HW_COLL_ALLGATHER:
        return count_at(row->from) * row->block;
    case HW_COLL_ALLTOALL:
        return count_at(row->from) * count_at(row->to) * row->block;
    default:
        return row->block;
    }
}

/* Alltoall: sender by sender, what it has for each receiver. */
struct hw_coll_span hw_coll_row_source(const struct hw_coll_row *row, uint64_t offset)
{
    uint64_t number = offset / row->block, within = offset % row->block;
    struct hw_coll_span span = {.bytes = row->block - within};
    if (row->kind == HW_COLL_BCAST) {
        bool has_root = hw_coll_place_of(row->root) == row->from;
        span.member = has_root ? hw_coll_member_of(row->root) : 0;
        span.address = row->posts[span.member].recv + within;
    } else if (row->kind == HW_COLL_ALLGATHER) {
        span.member = (int)number;
        span.address = row->posts[span.member].send + within;
    } else {
        uint64_t receivers = count_at(row->to);
        int receiver = hw_coll_place_at(row->to)->ranks[number % receivers];
        span.member = (int)(number / receivers);
        span.address = row->posts[span.member].send + (uint64_t)receiver * row->block + within;
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
    uint64_t number = offset / row->block, within = offset % row->block;
    int sender = 0;
    span->bytes = row->block - within;
    if (row->kind == HW_COLL_BCAST) {
        if (!bcast_target(row, index, &span->member))
            return false;
    } else if (row->kind == HW_COLL_ALLGATHER) {
        span->member = index;
        sender = hw_coll_place_at(row->from)->ranks[number];
        if (index >= hw_coll_place_at(row->to)->count)
            return false;
    } else {
        uint64_t receivers = count_at(row->to);
        span->member = (int)(number % receivers);
        sender = hw_coll_place_at(row->from)->ranks[number / receivers];
        if (index > 0)
            return false;
    }
    span->address = row->posts[span->member].recv + (uint64_t)sender * row->block + within;
    return true;
}
