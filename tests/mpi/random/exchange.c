/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: acts out the exchanges of a plan; see plan.h and act.h. */
#include "act.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INTER_TAG = 31000, FIRST_TAG = 10, EAGER_BYTES = 1024 };

/* One message, as its sender and its receiver know it. */
struct leg {
    struct exchange_memory *memory;
    int peer, tag;
};

/* ---- the communicator ------------------------------------------------------------------------------------
 */

static void make_inter(struct exchanges *exchanges, MPI_Comm peer)
{
    MPI_Comm local;
    int rank, others;
    MPI_Comm_rank(peer, &rank);
    MPI_Comm_split(peer, rank % 2, rank, &local);
#if defined MPICH_NUMVERSION && MPICH_NUMVERSION >= 50000000
    MPI_Barrier(peer); /* MPICH 5.0 may wait for ever without (doc/guide/troubleshooting.md) */
#endif
    MPI_Intercomm_create(local, 0, peer, 1 - rank % 2, INTER_TAG, &exchanges->comm);
    MPI_Comm_free(&local);
    MPI_Comm_remote_size(exchanges->comm, &others);
    MPI_Comm_rank(exchanges->comm, &exchanges->rank);
    MPI_Comm_size(exchanges->comm, &exchanges->size);
    exchanges->size = others < exchanges->size ? others : exchanges->size;
    exchanges->is_inter = true;
}

static void make_comm(struct exchanges *exchanges)
{
    struct actor *actor = exchanges->actor;
    MPI_Comm parent = actor->comms[MATCH_ANY_ANY];
    if (exchanges->plan->transient == TRANSIENT_INTER && actor->size > 1) {
        make_inter(exchanges, actor->comms[MATCH_EXACT]); /* no wildcard there takes what this sends */
        return;
    }
    if (exchanges->plan->transient == TRANSIENT_SPLIT)
        MPI_Comm_split(parent, 0, actor->size - actor->rank, &exchanges->comm);
#if !defined OMPI_MAJOR_VERSION ||                                                                           \
    OMPI_MAJOR_VERSION >= 5 /* Open MPI 4 hangs on communicators with assertions */
    else if (exchanges->plan->transient == TRANSIENT_ASSERTED)
        dup_exact(parent, &exchanges->comm);
#endif
    else
        MPI_Comm_dup(parent, &exchanges->comm);
    MPI_Comm_rank(exchanges->comm, &exchanges->rank);
    MPI_Comm_size(exchanges->comm, &exchanges->size);
}

/* ---- messages --------------------------------------------------------------------------------------------
 */

/* A number for each process, which all know. */
static unsigned name_of(const struct exchanges *exchanges, int peer, bool is_own)
{
    unsigned side = exchanges->is_inter ? (unsigned)(exchanges->actor->rank % 2) : 0;
    return 2 * (unsigned)peer + (is_own ? side : exchanges->is_inter - side);
}

static struct exchange_memory *take_memory(struct exchanges *exchanges, int count, int type)
{
    struct exchange_memory *memory = &exchanges->memories[exchanges->memory_count++];
    memory->length = (size_t)count * (size_t)exchanges->actor->extents[type];
    memory->bytes = malloc(memory->length + 1);
    memset(memory->bytes, 0xa5, memory->length);
    memory->place = place_of(exchanges->actor, memory->bytes, count, type, false);
    if (!HAVE_EXCHANGED_TYPES)
        memory->place.type = MPI_INT;
    return memory;
}

static uint64_t seed_of(const struct exchanges *exchanges, const struct exchange *exchange, unsigned name,
                        int index)
{
    return exchange->payload + name * 7919u + (unsigned)index * 104729u +
           (unsigned)exchanges->iteration * 31u;
}

static int count_of(const struct exchanges *exchanges, const struct exchange *exchange, uint64_t seed)
{
    struct rng rng = {seed};
    int max = exchanges->plan->max_exchange_bytes;
    int most = exchange->kind == EXCHANGE_RESTARTED && exchange->repeats > 4 && max > 16384 ? 16384 : max;
    return draw_bytes(&rng, EAGER_BYTES, most) / 4 / type_ints[exchange->type];
}

/* The tag is the exchange's, so a message has one receive that it can be for. */
static struct leg outgoing(struct exchanges *exchanges, const struct exchange *exchange, int index)
{
    bool is_alike = exchange->kind == EXCHANGE_SENDRECV_REPLACE ||
                    (MPI_VERSION >= 4 && exchange->kind == EXCHANGE_ISENDRECV_REPLACE);
    unsigned name = name_of(exchanges, exchanges->rank, true);
    uint64_t seed = seed_of(exchanges, exchange, name, index);
    int count = count_of(exchanges, exchange, is_alike ? exchange->payload : seed);
    struct leg leg = {.memory = take_memory(exchanges, count, exchange->type),
                      .peer = (exchanges->rank + exchange->distance) % exchanges->size,
                      .tag = FIRST_TAG + (int)(exchange - exchanges->plan->exchanges)};
    fill_bytes(leg.memory->bytes, leg.memory->length, seed);
    return leg;
}

static struct leg incoming(struct exchanges *exchanges, const struct exchange *exchange, int index)
{
    int distance = exchange->distance % exchanges->size;
    int peer = (exchanges->rank - distance + exchanges->size) % exchanges->size;
    uint64_t seed = seed_of(exchanges, exchange, name_of(exchanges, peer, false), index);
    int count = count_of(exchanges, exchange, seed);
    if (exchanges->plan->transient != TRANSIENT_ASSERTED)
        count += (int)(seed % 3) * 100;
    struct leg leg = {.memory = take_memory(exchanges, count, exchange->type),
                      .peer = peer,
                      .tag = FIRST_TAG + (int)(exchange - exchanges->plan->exchanges)};
    leg.memory->is_received = true;
    return leg;
}

/* Now and then a wildcard, where none is forbidden. */
static int source_of(const struct exchanges *exchanges, const struct leg *leg)
{
    bool may_be_any = exchanges->plan->transient != TRANSIENT_ASSERTED;
    return may_be_any && rng_chance(&exchanges->actor->local, 20) ? MPI_ANY_SOURCE : leg->peer;
}

static MPI_Request *next_request(struct exchanges *exchanges)
{
    return &exchanges->requests[exchanges->request_count++];
}

/* ---- kinds -----------------------------------------------------------------------------------------------
 */

static void plain(struct exchanges *exchanges, const struct exchange *exchange)
{
    struct rng *rng = &exchanges->actor->local;
    struct leg in = incoming(exchanges, exchange, 0), out = outgoing(exchanges, exchange, 0);
    MPI_Request *sent;
    call_receive(&in.memory->place, source_of(exchanges, &in), in.tag, exchanges->comm,
                 next_request(exchanges), rng);
    sent = next_request(exchanges);
    call_send(exchange->is_synchronous ? SEND_SYNCHRONOUS : SEND_STANDARD, &out.memory->place, out.peer,
              out.tag, exchanges->comm, sent, rng);
    /* No MPI here cancels sends, and Headway those on sealed communicators alone. */
    if (exchange->is_send_cancelled && exchanges->plan->transient != TRANSIENT_ASSERTED)
        MPI_Cancel(sent);
}

static void both(struct exchanges *exchanges, const struct exchange *exchange)
{
    struct leg in = incoming(exchanges, exchange, 0), out = outgoing(exchanges, exchange, 0);
    const struct place *from = &out.memory->place, *to = &in.memory->place;
    if (exchange->kind == EXCHANGE_SENDRECV)
        MPI_Sendrecv(from->address, from->count, from->type, out.peer, out.tag, to->address, to->count,
                     to->type, source_of(exchanges, &in), in.tag, exchanges->comm, MPI_STATUS_IGNORE);
#if MPI_VERSION >= 4
    else if (rng_chance(&exchanges->actor->local, 30))
        MPI_Isendrecv_c(from->address, from->count, from->type, out.peer, out.tag, to->address, to->count,
                        to->type, source_of(exchanges, &in), in.tag, exchanges->comm,
                        next_request(exchanges));
    else
        MPI_Isendrecv(from->address, from->count, from->type, out.peer, out.tag, to->address, to->count,
                      to->type, source_of(exchanges, &in), in.tag, exchanges->comm, next_request(exchanges));
#endif
}

static void replace(struct exchanges *exchanges, const struct exchange *exchange)
{
    struct leg leg = outgoing(exchanges, exchange, 0);
    int distance = exchange->distance % exchanges->size;
    const struct place *place = &leg.memory->place;
    leg.memory->is_received = true;
    struct leg in = {.peer = (exchanges->rank - distance + exchanges->size) % exchanges->size};
    int source = source_of(exchanges, &in);
    if (exchange->kind == EXCHANGE_SENDRECV_REPLACE)
        MPI_Sendrecv_replace(place->address, place->count, place->type, leg.peer, leg.tag, source, leg.tag,
                             exchanges->comm, MPI_STATUS_IGNORE);
#if MPI_VERSION >= 4
    else
        MPI_Isendrecv_replace(place->address, place->count, place->type, leg.peer, leg.tag, source, leg.tag,
                              exchanges->comm, next_request(exchanges));
#endif
}

static void chain(struct exchanges *exchanges, const struct exchange *exchange)
{
    MPI_Message messages[MAX_CHAIN];
    struct leg legs[MAX_CHAIN];
    struct rng *rng = &exchanges->actor->local;
    for (int i = 0; i < exchange->chain; i++) {
        struct leg out = outgoing(exchanges, exchange, i);
        call_send(i % 2 && exchange->is_synchronous ? SEND_SYNCHRONOUS : SEND_STANDARD, &out.memory->place,
                  out.peer, out.tag, exchanges->comm, next_request(exchanges), rng);
        legs[i] = incoming(exchanges, exchange, i);
    }
    for (int i = 0; i < exchange->chain; i++)
        MPI_Mprobe(source_of(exchanges, &legs[i]), legs[i].tag, exchanges->comm, &messages[i],
                   MPI_STATUS_IGNORE);
    for (int i = exchange->chain - 1; i >= 0; i--) {
        const struct place *place = &legs[i].memory->place;
        if (rng_chance(rng, 50))
            MPI_Imrecv(place->address, place->count, place->type, &messages[i], next_request(exchanges));
        else
            MPI_Mrecv(place->address, place->count, place->type, &messages[i], MPI_STATUS_IGNORE);
    }
}

static void restarted(struct exchanges *exchanges, const struct exchange *exchange)
{
    MPI_Request requests[2];
    struct rng *rng = &exchanges->actor->local;
    struct leg in = incoming(exchanges, exchange, 0), out = outgoing(exchanges, exchange, 0);
    uint64_t hash = 1;
    call_receive_init(&in.memory->place, source_of(exchanges, &in), in.tag, exchanges->comm, &requests[0],
                      rng);
    call_send_init(exchange->is_synchronous ? SEND_SYNCHRONOUS : SEND_STANDARD, &out.memory->place, out.peer,
                   out.tag, exchanges->comm, &requests[1], rng);
    for (int i = 0; i < exchange->repeats; i++) {
        memset(in.memory->bytes, 0xa5, in.memory->length);
        fill_bytes(out.memory->bytes, out.memory->length,
                   seed_of(exchanges, exchange, name_of(exchanges, exchanges->rank, true), 100 + i));
        if (rng_chance(rng, 50)) {
            MPI_Startall(2, requests);
        } else {
            MPI_Start(&requests[0]);
            MPI_Start(&requests[1]);
        }
        MPI_Status statuses[2];
        complete_all(2, requests, statuses, true, rng);
        hash = hash_bytes(hash, in.memory->bytes, in.memory->length);
    }
    fill_bytes(in.memory->bytes, in.memory->length, hash);
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

static void freed(struct exchanges *exchanges, const struct exchange *exchange)
{
    MPI_Request request;
    struct leg in = incoming(exchanges, exchange, 0), out = outgoing(exchanges, exchange, 0);
    call_send(SEND_STANDARD, &out.memory->place, out.peer, out.tag, exchanges->comm, &request,
              &exchanges->actor->local);
    MPI_Request_free(&request);
    MPI_Recv(in.memory->place.address, in.memory->place.count, in.memory->place.type,
             source_of(exchanges, &in), in.tag, exchanges->comm, MPI_STATUS_IGNORE);
}

static void act_out(struct exchanges *exchanges, const struct exchange *exchange)
{
    switch (exchange->kind) {
#if MPI_VERSION >= 4
    case EXCHANGE_ISENDRECV:
        both(exchanges, exchange);
        break;
    case EXCHANGE_ISENDRECV_REPLACE:
        replace(exchanges, exchange);
        break;
#endif
    case EXCHANGE_SENDRECV:
        both(exchanges, exchange);
        break;
    case EXCHANGE_SENDRECV_REPLACE:
        replace(exchanges, exchange);
        break;
    case EXCHANGE_CHAIN:
        chain(exchanges, exchange);
        break;
    case EXCHANGE_RESTARTED:
        restarted(exchanges, exchange);
        break;
    case EXCHANGE_FREED:
        freed(exchanges, exchange);
        break;
    default:
        plain(exchanges, exchange);
        break;
    }
}

void exchanges_post(struct exchanges *exchanges, struct actor *actor, const struct plan *plan, int iteration)
{
    memset(exchanges, 0, sizeof *exchanges);
    exchanges->actor = actor;
    exchanges->plan = plan;
    exchanges->iteration = iteration;
    exchanges->comm = MPI_COMM_NULL;
    if (plan->exchange_count == 0)
        return;
    make_comm(exchanges);
    for (int i = 0; i < plan->exchange_count && exchanges->rank < exchanges->size; i++)
        act_out(exchanges, &plan->exchanges[i]);
    if (plan->is_transient_freed_early)
        MPI_Comm_free(&exchanges->comm);
}

uint64_t exchanges_end(struct exchanges *exchanges)
{
    uint64_t hash = 1;
    for (int i = 0; i < exchanges->memory_count; i++) {
        struct exchange_memory *memory = &exchanges->memories[i];
        if (memory->is_received) {
            hash = hash_bytes(hash, memory->bytes, memory->length);
            if (exchanges->actor->wants_trace)
                printf("trace %s iteration %d exchange memory %d bytes %zu hash %016llx\n",
                       exchanges->actor->label, exchanges->iteration, i, memory->length,
                       (unsigned long long)hash);
        }
        free(memory->bytes);
    }
    if (exchanges->comm != MPI_COMM_NULL)
        MPI_Comm_free(&exchanges->comm);
    return hash;
}
