/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/coll/ghost/collectives.h"

#include "engines/coll/ghost/flow.h"
#include "engines/coll/ghost/memory.h"
#include "engines/coll/ghost/places.h"
#include "engines/coll/shared/opened.h"
#include "ghost/give_up.h"
#include "real/constants.h"
#include "world/world.h"

#include <stdlib.h>

/* At most so many flows for each place: there and back, twice. */
enum { FLOWS_EACH = 4 };

struct collective {
    struct collective *next;
    struct hw_coll_posted posted; /* what all its members know of it */
    int posted_count;
    int flow_count;
    struct hw_coll_flow *flows;  /* NULL: it has not begun */
    struct hw_coll_sum sum;      /* of Allreduce */
    struct hw_coll_post posts[]; /* by member */
};

static struct collective *first, **last = &first;

static int own_count(void) { return hw_coll_place_at(hw_coll_own_place())->count; }

static struct collective *find(const struct hw_coll_posted *posted)
{
    for (struct collective *one = first; one; one = one->next)
        if (one->posted.id == posted->id)
            return one;
    struct collective *made = calloc(1, sizeof *made + (size_t)own_count() * sizeof made->posts[0]);
    if (made == NULL)
        hw_ghost_give_up("has no memory for collectives");
    made->posted = *posted;
    *last = made;
    last = &made->next;
    return made;
}

/* ---- the schedule ----------------------------------------------------------------------------------------
 */

/* Where each block of a row ends. */
static uint64_t *measure(const struct hw_coll_row *row)
{
    int blocks = hw_coll_row_blocks(row);
    uint64_t *ends = calloc((size_t)blocks, sizeof *ends), end = 0;
    if (ends == NULL)
        hw_ghost_give_up("has no memory for collectives");
    if (!hw_coll_row_agrees(row))
        hw_coll_flow_give_up_sizes();
    for (int number = 0; number < blocks; number++)
        ends[number] = end += hw_coll_row_block_bytes(row, number);
    return ends;
}

static struct hw_coll_flow *add(struct collective *one, enum hw_coll_direction direction, int peer)
{
    int own = hw_coll_own_place();
    struct hw_coll_flow *flow = &one->flows[one->flow_count++];
    *flow = (struct hw_coll_flow){.direction = direction,
                                  .row = {.kind = one->posted.kind,
                                          .block = one->posted.bytes,
                                          .from = direction == HW_COLL_IN ? peer : own,
                                          .to = direction == HW_COLL_OUT ? peer : own,
                                          .root = one->posted.root,
                                          .posts = one->posts},
                                  .tag = hw_coll_wire_tag(one->posted.id)};
    if (hw_coll_row_blocks(&flow->row) > 0)
        flow->row.ends = measure(&flow->row);
    flow->bytes = hw_coll_row_bytes(&flow->row);
    return flow;
}

static void wait_for(struct hw_coll_flow *flow, const struct hw_coll_flow *after, int count)
{
    flow->after = after;
    flow->after_count = count;
}

static int index_of(int place)
{
    int index = 0;
    while (hw_coll_places()[index] != place)
        index++;
    return index;
}

/* A binomial tree of places whose root is that of the root: who has a number receives from who has it without
 * its highest bit, and what it has received it sends on. The largest subtree is served first. */
static void plan_bcast(struct collective *one)
{
    int count = hw_coll_place_count(), root = index_of(hw_coll_place_of(one->posted.root));
    int number = (index_of(hw_coll_own_place()) - root + count) % count, bit = 1;
    const struct hw_coll_flow *after = NULL;
    for (; bit <= number; bit *= 2)
        continue;
    if (number > 0)
        after = add(one, HW_COLL_IN, hw_coll_places()[(number - bit / 2 + root) % count]);
    else if (own_count() > 1)
        add(one, HW_COLL_WITHIN, hw_coll_own_place());
    for (; number + bit < count; bit *= 2)
        wait_for(add(one, HW_COLL_OUT, hw_coll_places()[(number + bit + root) % count]), after,
                 after != NULL);
}

/* Each with each; each begins with another one. */
static void plan_all(struct collective *one)
{
    int count = hw_coll_place_count(), own = index_of(hw_coll_own_place());
    for (int i = 1; i < count; i++) {
        add(one, HW_COLL_OUT, hw_coll_places()[(own + i) % count]);
        add(one, HW_COLL_IN, hw_coll_places()[(own - i + count) % count]);
    }
    add(one, HW_COLL_WITHIN, hw_coll_own_place());
}

/* The part of the vector that the place at `index` combines: whole elements. */
static void set_part(const struct collective *one, struct hw_coll_flow *flow, int index)
{
    uint64_t size = (uint64_t)one->posted.reduction.size, elements = one->posted.bytes / size;
    uint64_t count = (uint64_t)hw_coll_place_count(), number = (uint64_t)index;
    flow->row.begin = elements * number / count * size;
    flow->bytes = flow->row.block = elements * (number + 1) / count * size - flow->row.begin;
    flow->sum = &one->sum;
}

static struct hw_coll_flow *add_result(struct collective *one, enum hw_coll_direction direction, int index,
                                       int part)
{
    struct hw_coll_flow *flow = add(one, direction, hw_coll_places()[index]);
    set_part(one, flow, part);
    flow->is_result = true;
    flow->tag++;
    return flow;
}

/* Each place combines a part of the vectors: it gets that of each other place, of whose members' vectors that
 * has made one before, and sends each what has become of it, chunk by chunk. So each byte crosses the wire
 * twice for each place, as in a ring, in two steps. In place a chunk of the result comes after the numbers
 * that it replaces were sent: those at the other end are a part of it. */
static void plan_allreduce(struct collective *one)
{
    int count = hw_coll_place_count(), own = index_of(hw_coll_own_place());
    const struct hw_coll_flow *combining = one->flows;
    set_part(one, add(one, HW_COLL_WITHIN, hw_coll_own_place()), own);
    for (int i = 1; i < count; i++) {
        struct hw_coll_flow *flow = add(one, HW_COLL_IN, hw_coll_places()[(own - i + count) % count]);
        set_part(one, flow, own);
        wait_for(flow, combining, 1); /* the others are added to the own numbers */
    }
    for (int i = 1; i < count; i++)
        set_part(one, add(one, HW_COLL_OUT, hw_coll_places()[(own + i) % count]), (own + i) % count);
    for (int i = 1; i < count; i++) {
        wait_for(add_result(one, HW_COLL_OUT, (own + i) % count, own), combining, count);
        add_result(one, HW_COLL_IN, (own - i + count) % count, (own - i + count) % count);
    }
    wait_for(add_result(one, HW_COLL_WITHIN, own, own), combining, count);
    one->sum.reduction = one->posted.reduction;
    one->sum.numbers = malloc(combining->bytes + 1);
    one->sum.one_chunk = malloc(HW_COLL_CHUNK_BYTES);
    if (one->sum.numbers == NULL || one->sum.one_chunk == NULL)
        hw_ghost_give_up("has no memory for collectives");
}

/* Processes post those on one communicator in one order, so all ghosts have those with one tag in one order,
 * too: of each the first one is under way. */
static bool is_next(const struct collective *one)
{
    int tag = hw_coll_wire_tag(one->posted.id);
    if (one->posted_count < own_count())
        return false;
    for (const struct collective *other = first; other != one; other = other->next)
        if (hw_coll_wire_tag(other->posted.id) == tag)
            return false;
    return true;
}

static void begin(struct collective *one)
{
    one->flows = calloc(FLOWS_EACH * (size_t)hw_coll_place_count(), sizeof *one->flows);
    if (one->flows == NULL)
        hw_ghost_give_up("has no memory for collectives");
    if (one->posted.kind == HW_COLL_BCAST)
        plan_bcast(one);
    else if (one->posted.kind == HW_COLL_ALLREDUCE)
        plan_allreduce(one);
    else
        plan_all(one);
}

static struct hw_coll_piece *pieces_of(int rank, uint64_t address)
{
    size_t count = (size_t)hw_world.user_count;
    struct hw_coll_piece *pieces = calloc(count, sizeof *pieces);
    if (pieces == NULL)
        hw_ghost_give_up("has no memory for collectives");
    hw_coll_memory_read(rank, address, pieces, count * sizeof *pieces);
    return pieces;
}

void hw_coll_collectives_post(int process, const struct hw_coll_posted *posted, int grant_tag)
{
    struct collective *one = find(posted);
    int rank = hw_world.processes[process].user_rank;
    struct hw_coll_post *post = &one->posts[hw_coll_member_of(rank)];
    *post = (struct hw_coll_post){
        .send = posted->send, .recv = posted->recv, .grant_tag = grant_tag, .is_there = true};
    if (posted->kind == HW_COLL_ALLGATHERV || posted->kind == HW_COLL_ALLTOALLV)
        post->receives = pieces_of(rank, posted->recv);
    if (posted->kind == HW_COLL_ALLTOALLV)
        post->sends = pieces_of(rank, posted->send);
    one->posted_count++;
}

/* ---- its course ------------------------------------------------------------------------------------------
 */

static bool advance(struct collective *one)
{
    bool has_done = false;
    for (int i = 0; i < one->flow_count; i++)
        has_done = hw_coll_flow_advance(&one->flows[i]) || has_done;
    return has_done;
}

static bool is_over(const struct collective *one)
{
    if (one->flows == NULL)
        return false;
    for (int i = 0; i < one->flow_count; i++)
        if (!hw_coll_flow_is_over(&one->flows[i]))
            return false;
    return true;
}

static void grant(const struct collective *one)
{
    const struct hw_coll_place *place = hw_coll_place_at(hw_coll_own_place());
    for (int i = 0; i < place->count; i++)
        if (hw_bottom.Send(NULL, 0, HW_BYTE, hw_world.user_ranks[place->ranks[i]], one->posts[i].grant_tag,
                           hw_coll_opened.comm) != MPI_SUCCESS)
            hw_ghost_give_up("cannot answer user processes any more");
}

static void discard(struct collective *one)
{
    for (int i = 0; i < one->flow_count; i++)
        free(one->flows[i].row.ends);
    for (int member = 0; member < own_count(); member++) {
        free(one->posts[member].sends);
        free(one->posts[member].receives);
    }
    free(one->sum.numbers);
    free(one->sum.one_chunk);
    free(one->flows);
    free(one);
}

bool hw_coll_collectives_advance(void)
{
    bool has_done = false;
    for (struct collective **link = &first, *one; (one = *link) != NULL;) {
        if (one->flows == NULL && is_next(one))
            begin(one);
        has_done = (one->flows && advance(one)) || has_done;
        if (!is_over(one)) {
            link = &one->next;
            continue;
        }
        grant(one);
        *link = one->next;
        if (*link == NULL)
            last = link;
        discard(one);
    }
    return has_done;
}

bool hw_coll_collectives_are_any(void) { return first != NULL; }
