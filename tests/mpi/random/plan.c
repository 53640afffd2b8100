/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: draws plans of random MPI programs; see plan.h. */
#include "plan.h"

#include <string.h>

const int type_ints[TYPE_COUNT] = {1, 12, 6, 5, 18, 16, 3, 4};

uint64_t rng_next(struct rng *rng)
{
    uint64_t z = (rng->state += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

int rng_below(struct rng *rng, int bound) { return (int)(rng_next(rng) % (uint64_t)bound); }

bool rng_chance(struct rng *rng, int percent) { return rng_below(rng, 100) < percent; }

void types_create(MPI_Datatype types[TYPE_COUNT])
{
    MPI_Datatype five;
    MPI_Type_contiguous(1, MPI_INT, &types[0]);
    MPI_Type_vector(4, 3, 5, MPI_INT, &types[1]);
    MPI_Type_create_indexed_block(3, 2, (const int[]){7, 0, 3}, MPI_INT, &types[2]);
    MPI_Type_contiguous(5, MPI_INT, &five);
    MPI_Type_create_resized(five, 0, 32, &types[3]);
    MPI_Type_free(&five);
    MPI_Type_contiguous(3, types[2], &types[4]);
    MPI_Type_create_subarray(2, (const int[]){8, 8}, (const int[]){4, 4}, (const int[]){2, 2}, MPI_ORDER_C,
                             MPI_INT, &types[5]);
    /* Both begin before their address. */
    MPI_Type_create_hvector(3, 1, -20, MPI_INT, &types[6]);
    MPI_Type_create_hindexed_block(2, 2, (const MPI_Aint[]){-24, 4}, MPI_INT, &types[7]);
    for (int i = 0; i < TYPE_COUNT; i++)
        MPI_Type_commit(&types[i]);
}

void types_free(MPI_Datatype types[TYPE_COUNT])
{
    for (int i = 0; i < TYPE_COUNT; i++)
        MPI_Type_free(&types[i]);
}

int draw_bytes(struct rng *rng, int eager_bytes, int max_bytes)
{
    int bytes = 0;
    switch (rng_below(rng, 10)) {
    case 0:
        bytes = rng_below(rng, 2) * 8;
        break;
    case 1:
        bytes = 8 + rng_below(rng, 256);
        break;
    case 2:
    case 3:
        bytes = eager_bytes + 4 * (rng_below(rng, 5) - 2);
        break;
    case 4:
    case 5:
        bytes = 4096 + rng_below(rng, 28672);
        break;
    case 6:
    case 7:
        bytes = 65536 + 4 * (rng_below(rng, 5) - 2);
        break;
    case 8:
        bytes = 131072 + rng_below(rng, 131072);
        break;
    default:
        bytes = max_bytes - rng_below(rng, 4096);
        break;
    }
    return bytes < 0 ? 0 : bytes > max_bytes ? max_bytes : bytes;
}

static void draw_modes(struct message *message, struct rng *rng)
{
    message->send_mode =
        rng_chance(rng, 45) ? SEND_STANDARD : (enum send_mode)rng_below(rng, SEND_MODE_COUNT);
    message->receive_mode =
        rng_chance(rng, 65) ? RECV_POSTED : (enum receive_mode)rng_below(rng, RECV_MODE_COUNT);
    if (message->matching == MATCH_ANY_TAG)
        message->receive_mode = RECV_POSTED;
    /* A ready send needs its receive posted: not so by probe, nor where another message may take it. */
    bool is_receive_certain = message->receive_mode == RECV_POSTED &&
                              (message->matching == MATCH_EXACT || message->matching == MATCH_ANY_TAG);
    if (message->send_mode == SEND_READY && !is_receive_certain)
        message->send_mode = SEND_STANDARD;
    if (message->matching != MATCH_EXACT)
        return;
    /* MPI_Startall starts in any order: a persistent operation needs a tag of its own. */
    bool may_persist = HAVE_PERSISTENT_BUFFERED || message->send_mode != SEND_BUFFERED;
    message->is_send_persistent = may_persist && rng_chance(rng, 25);
    message->is_receive_persistent = message->receive_mode == RECV_POSTED && rng_chance(rng, 25);
    message->is_send_freed = !message->is_send_persistent && rng_chance(rng, 8);
    if (HAVE_PARTITIONED && message->receive_mode == RECV_POSTED && rng_chance(rng, 12)) {
        message->is_partitioned = true;
        message->is_send_persistent = message->is_receive_persistent = true;
        message->is_send_freed = false;
        message->send_mode = SEND_STANDARD;
    }
}

static void draw_matching(struct plan *plan, struct rng *rng, int index)
{
    struct message *message = &plan->messages[index];
    message->group = -1;
    message->matching = rng_chance(rng, 60) ? MATCH_EXACT : (enum matching)rng_below(rng, MATCH_COUNT);
    draw_modes(message, rng);
    switch (message->matching) {
    case MATCH_EXACT: {
        bool needs_own_tag = message->is_send_persistent || message->is_receive_persistent ||
                             message->receive_mode != RECV_POSTED;
        message->tag = needs_own_tag ? 100 + index : rng_below(rng, 3);
        break;
    }
    case MATCH_ANY_SOURCE:
        message->tag = 50 + message->dest; /* one group a destination */
        message->group = 0;
        break;
    case MATCH_ANY_ANY:
        message->tag = rng_below(rng, 1000);
        message->group = 1;
        break;
    default:
        message->tag = rng_below(rng, 1000);
        break;
    }
}

/* Two messages for which one receive could match either. */
static bool may_cross(const struct message *a, const struct message *b)
{
    if (a->dest != b->dest || a->matching != b->matching)
        return false;
    if (a->matching == MATCH_EXACT)
        return a->source == b->source && a->tag == b->tag;
    if (a->matching == MATCH_ANY_TAG)
        return a->source == b->source;
    return true;
}

static void give_room(struct plan *plan, struct rng *rng)
{
    for (int i = 0; i < plan->message_count; i++) {
        struct message *message = &plan->messages[i];
        int room = 0;
        for (int j = 0; j < plan->message_count; j++) {
            const struct message *other = &plan->messages[j];
            int ints = other->send_count * type_ints[other->send_type];
            if (may_cross(message, other) && ints > room)
                room = ints;
        }
        if (!message->is_partitioned && message->group < 0 && rng_chance(rng, 40))
            room += rng_below(rng, 5000);
        message->room_ints = room;
    }
}

static void draw_message(struct plan *plan, struct rng *rng, int index, int size, int eager_bytes,
                         int max_bytes)
{
    struct message *message = &plan->messages[index];
    memset(message, 0, sizeof *message);
    message->source = rng_below(rng, size);
    message->dest = rng_chance(rng, 90)
                        ? (message->source + 1 + rng_below(rng, size > 1 ? size - 1 : 1)) % size
                        : message->source;
    draw_matching(plan, rng, index);
    message->send_type = rng_chance(rng, 50) ? 0 : rng_below(rng, TYPE_COUNT);
    /* In a group any receive may get any message, so all look alike: the same type and the same room. */
    message->receive_type = message->group >= 0 || rng_chance(rng, 50) ? 0 : rng_below(rng, TYPE_COUNT);
    message->payload = rng_next(rng);
    bool may_be_absolute = !message->is_partitioned;
    message->is_send_absolute = rng_chance(rng, 8) && may_be_absolute;
    message->is_receive_absolute = rng_chance(rng, 8) && may_be_absolute;
    int bytes = draw_bytes(rng, eager_bytes, message->send_mode == SEND_BUFFERED ? 65536 : max_bytes);
    message->send_count = bytes / (4 * type_ints[message->send_type]);
    message->partitions = 1;
    if (message->is_partitioned) {
        message->send_type = message->receive_type = 0;
        message->partitions = 1 << rng_below(rng, 4);
        message->send_count = (bytes / 4 / message->partitions + 1) * message->partitions;
    }
    if (message->send_mode == SEND_READY)
        plan->has_ready_send = true;
    if (message->group >= 0 || message->is_send_freed)
        plan->wants_barrier = true;
}

static void draw_collective(struct collective *collective, struct rng *rng, int size, int max_bytes)
{
    collective->kind = (enum collective_kind)rng_below(rng, COLL_KIND_COUNT);
    collective->root = rng_below(rng, size);
    collective->count = draw_bytes(rng, 1024, max_bytes / 4) / 8;
    collective->is_persistent = HAVE_PERSISTENT_COLLECTIVES && rng_chance(rng, 30);
    collective->payload = rng_next(rng);
}

static void draw_exchanges(struct plan *plan, struct rng *rng, int size, int max_bytes)
{
    plan->transient = (enum transient_kind)rng_below(rng, TRANSIENT_KIND_COUNT);
    plan->is_transient_freed_early = rng_chance(rng, 60);
    plan->exchange_count = plan->transient == TRANSIENT_NONE ? 0 : 1 + rng_below(rng, MAX_EXCHANGES);
    plan->max_exchange_bytes = max_bytes;
    for (int i = 0; i < plan->exchange_count; i++) {
        struct exchange *exchange = &plan->exchanges[i];
        exchange->kind = (enum exchange_kind)rng_below(rng, EXCHANGE_KIND_COUNT);
        exchange->distance = rng_below(rng, size);
        int type = rng_chance(rng, 50) ? 0 : rng_below(rng, TYPE_COUNT);
        exchange->type = HAVE_EXCHANGED_TYPES ? type : 0;
        exchange->chain = exchange->kind == EXCHANGE_CHAIN ? 1 + rng_below(rng, MAX_CHAIN) : 1;
        exchange->repeats = rng_chance(rng, 80) ? 1 + rng_below(rng, 4) : 40;
        exchange->is_synchronous =
            rng_chance(rng, 30) && (HAVE_SYNCHRONOUS_ON_FREED || !plan->is_transient_freed_early);
        exchange->is_send_cancelled = rng_chance(rng, 5) && HAVE_CANCELLED_SENDS;
        exchange->payload = rng_next(rng);
        if (exchange->kind == EXCHANGE_FREED)
            plan->wants_barrier = true;
    }
}

void plan_draw(struct plan *plan, struct rng *rng, int size, int eager_bytes, int max_bytes)
{
    memset(plan, 0, sizeof *plan);
    plan->message_count = 1 + rng_below(rng, MAX_MESSAGES);
    plan->collective_count = rng_below(rng, MAX_COLLECTIVES + 1);
    plan->iterations = rng_chance(rng, 5) ? MANY_ITERATIONS : 1 + rng_below(rng, MAX_ITERATIONS);
    plan->wants_barrier = rng_chance(rng, 30);
    for (int i = 0; i < plan->message_count; i++)
        draw_message(plan, rng, i, size, eager_bytes, max_bytes);
    give_room(plan, rng);
    for (int i = 0; i < plan->collective_count; i++)
        draw_collective(&plan->collectives[i], rng, size, max_bytes);
    plan->wants_nonblocking_barrier = rng_chance(rng, 50);
    plan->wants_collectives_first = rng_chance(rng, 50);
    plan->wants_cancelled_receive = rng_chance(rng, 30);
    plan->cancelled_ints = rng_chance(rng, 50) ? 1 : 1 + rng_below(rng, MAX_CANCELLED_INTS);
    plan->wants_inactive_request = rng_chance(rng, 30);
    plan->ignores_statuses = rng_chance(rng, 15);
    plan->compute_us = rng_chance(rng, 70) ? rng_below(rng, 1500) : 0;
    draw_exchanges(plan, rng, size, max_bytes);
}

void plan_make_exact(struct plan *plan)
{
    for (int i = 0; i < plan->message_count; i++) {
        struct message *message = &plan->messages[i];
        if (message->matching != MATCH_EXACT)
            message->tag = 100 + i;
        message->matching = MATCH_EXACT;
        message->group = -1;
        message->room_ints = message->send_count * type_ints[message->send_type];
        if (message->room_ints % type_ints[message->receive_type] != 0)
            message->receive_type = 0;
    }
}

long plan_messages(const struct plan *plan, int size)
{
    bool is_inter = plan->transient == TRANSIENT_INTER && size > 1;
    long senders = is_inter ? 2 * (size / 2) : size, count = plan->message_count;
    for (int i = 0; i < plan->exchange_count; i++) {
        const struct exchange *exchange = &plan->exchanges[i];
        count += senders * (exchange->kind == EXCHANGE_CHAIN       ? exchange->chain
                            : exchange->kind == EXCHANGE_RESTARTED ? exchange->repeats
                                                                   : 1);
    }
    return count * plan->iterations;
}
