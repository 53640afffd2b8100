/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: acts out one process's part of a random plan; see plan.h and act.h. */
#include "act.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CANCEL_TAG = 30000, INACTIVE_TAG = 30001 };

/* One operation of this process. */
struct part {
    const struct message *message; /* NULL: an extra request of no message */
    MPI_Request request;
    MPI_Status status;
    unsigned char *buffer;
    size_t length;
    int count;          /* elements of the receive type, for a receive */
    struct place place; /* what calls are given of it */
    int seen[5];        /* of the status: source, tag, count, elements, cancelled */
    bool is_receive;
    bool is_persistent;
};

struct act {
    struct actor *actor;
    const struct plan *plan;
    struct part parts[2 * MAX_MESSAGES + 2];
    int part_count;
    struct collective_part collectives[MAX_COLLECTIVES];
    struct exchanges exchanges;
    int iteration;
};

enum { REQUESTS_MAX = 2 * MAX_MESSAGES + 2 + MAX_COLLECTIVES + MAX_EXCHANGE_REQUESTS };

uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t length)
{
    const unsigned char *at = bytes;
    uint64_t word;
    for (; length >= sizeof word; length -= sizeof word, at += sizeof word) {
        memcpy(&word, at, sizeof word);
        hash = (hash ^ word) * 0x9ddfea08eb382d69ull;
        hash ^= hash >> 29;
    }
    for (; length > 0; length--, at++)
        hash = (hash ^ *at) * 0x100000001b3ull;
    return hash;
}

void fill_bytes(void *bytes, size_t length, uint64_t seed)
{
    struct rng rng = {seed};
    unsigned char *at = bytes;
    for (size_t i = 0; i < length; i += sizeof(uint64_t)) {
        uint64_t word = rng_next(&rng);
        memcpy(at + i, &word, length - i < sizeof word ? length - i : sizeof word);
    }
}

static volatile double compute_sink;

/* Real work, not a sleep: roughly `us` microseconds on a current core. */
void compute_for(int us)
{
    double x = 1.0;
    for (int i = 0; i < us * 300; i++)
        x = x * 1.0000001 + 1e-9;
    compute_sink = x;
}

void dup_exact(MPI_Comm parent, MPI_Comm *comm)
{
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_assert_no_any_source", "true");
    MPI_Info_set(info, "mpi_assert_no_any_tag", "true");
    MPI_Info_set(info, "mpi_assert_exact_length", "true");
    MPI_Comm_dup_with_info(parent, info, comm);
    MPI_Info_free(&info);
}

void actor_init(struct actor *actor, MPI_Comm parent, uint64_t seed, int thread, bool is_exact)
{
    memset(actor, 0, sizeof *actor);
    actor->is_exact = is_exact;
    for (int i = 0; i < MATCH_COUNT; i++)
        if (is_exact && i == MATCH_EXACT)
            dup_exact(parent, &actor->comms[i]);
        else
            MPI_Comm_dup(parent, &actor->comms[i]);
    MPI_Comm_rank(parent, &actor->rank);
    MPI_Comm_size(parent, &actor->size);
    types_create(actor->types);
    for (int i = 0; i < TYPE_COUNT; i++)
        MPI_Type_get_extent(actor->types[i], &actor->lowers[i], &actor->extents[i]);
    actor->local.state = seed * 1000003u + (uint64_t)thread * 101u + (uint64_t)actor->rank + 17u;
    actor->digest = 0xcbf29ce484222325ull;
}

void actor_destroy(struct actor *actor)
{
    types_free(actor->types);
    for (int i = 0; i < MATCH_COUNT; i++)
        MPI_Comm_free(&actor->comms[i]);
}

static struct part *add_part(struct act *act, const struct message *message, bool is_receive)
{
    struct part *part = &act->parts[act->part_count++];
    memset(part, 0, sizeof *part);
    part->message = message;
    part->is_receive = is_receive;
    part->request = MPI_REQUEST_NULL;
    if (message == NULL)
        return part;
    int type = is_receive ? message->receive_type : message->send_type;
    part->count =
        is_receive ? (message->room_ints + type_ints[type] - 1) / type_ints[type] : message->send_count;
    part->length = (size_t)part->count * (size_t)act->actor->extents[type];
    part->buffer = malloc(part->length + 1);
    part->place = place_of(act->actor, part->buffer, part->count, type,
                           is_receive ? message->is_receive_absolute : message->is_send_absolute);
    return part;
}

static int wanted_source(const struct message *message)
{
    bool is_any = message->matching == MATCH_ANY_SOURCE || message->matching == MATCH_ANY_ANY;
    return is_any ? MPI_ANY_SOURCE : message->source;
}

static int wanted_tag(const struct message *message)
{
    bool is_any = message->matching == MATCH_ANY_TAG || message->matching == MATCH_ANY_ANY;
    return is_any ? MPI_ANY_TAG : message->tag;
}

static void post_receive(struct act *act, struct part *part)
{
    const struct message *message = part->message;
    struct actor *actor = act->actor;
    MPI_Comm comm = actor->comms[message->matching];
    memset(part->buffer, 0xa5, part->length);
    if (!message->is_receive_persistent) {
        call_receive(&part->place, wanted_source(message), wanted_tag(message), comm, &part->request,
                     &actor->local);
        return;
    }
    part->is_persistent = true;
    if (act->iteration == 0) {
#if HAVE_PARTITIONED
        if (message->is_partitioned)
            MPI_Precv_init(part->buffer, message->partitions, part->count / message->partitions,
                           actor->types[message->receive_type], message->source, message->tag, comm,
                           MPI_INFO_NULL, &part->request);
        else
#endif
            call_receive_init(&part->place, message->source, message->tag, comm, &part->request,
                              &actor->local);
    }
    MPI_Start(&part->request);
}

static void init_send(struct act *act, struct part *part)
{
    const struct message *message = part->message;
    MPI_Comm comm = act->actor->comms[message->matching];
#if HAVE_PARTITIONED
    if (message->is_partitioned) {
        MPI_Psend_init(part->buffer, message->partitions, part->count / message->partitions,
                       act->actor->types[message->send_type], message->dest, message->tag, comm,
                       MPI_INFO_NULL, &part->request);
        return;
    }
#endif
    call_send_init(message->send_mode, &part->place, message->dest, message->tag, comm, &part->request,
                   &act->actor->local);
}

static void post_send(struct act *act, struct part *part)
{
    const struct message *message = part->message;
    fill_bytes(part->buffer, part->length, message->payload + (uint64_t)act->iteration * 104729u);
    if (!message->is_send_persistent) {
        call_send(message->send_mode, &part->place, message->dest, message->tag,
                  act->actor->comms[message->matching], &part->request, &act->actor->local);
        if (message->is_send_freed)
            MPI_Request_free(&part->request);
        return;
    }
    part->is_persistent = true;
    if (act->iteration == 0)
        init_send(act, part);
    if (!message->is_partitioned && rng_chance(&act->actor->local, 50))
        MPI_Startall(1, &part->request);
    else
        MPI_Start(&part->request);
#if HAVE_PARTITIONED
    for (int i = message->is_partitioned ? message->partitions - 1 : -1; i >= 0; i--)
        MPI_Pready(i, part->request);
#endif
}

/* MPICH 5.0 over libfabric's tcp finds a message again whose receive is posted and not complete
 * (doc/guide/troubleshooting.md): a second wildcard then has it twice, and waits for ever. */
static enum receive_mode receive_mode_here(const struct message *message)
{
#if defined MPICH_NUMVERSION && MPICH_NUMVERSION >= 50000000
    if (message->receive_mode == RECV_IPROBE_IRECV && message->matching != MATCH_EXACT)
        return RECV_IMPROBE_MRECV;
#endif
    return message->receive_mode;
}

static void receive_by_probe(struct act *act, struct part *part)
{
    const struct message *message = part->message;
    struct actor *actor = act->actor;
    MPI_Comm comm = actor->comms[message->matching];
    const struct place *place = &part->place;
    MPI_Message handle = MPI_MESSAGE_NULL;
    int is_found = 0;
    memset(part->buffer, 0xa5, part->length);
    switch (receive_mode_here(message)) {
    case RECV_MPROBE_IMRECV:
        MPI_Mprobe(wanted_source(message), wanted_tag(message), comm, &handle, MPI_STATUS_IGNORE);
        MPI_Imrecv(place->address, place->count, place->type, &handle, &part->request);
        break;
    case RECV_IMPROBE_MRECV:
        while (!is_found)
            MPI_Improbe(wanted_source(message), wanted_tag(message), comm, &is_found, &handle,
                        MPI_STATUS_IGNORE);
        MPI_Mrecv(place->address, place->count, place->type, &handle, &part->status);
        break;
    default:
        while (!is_found)
            MPI_Iprobe(wanted_source(message), wanted_tag(message), comm, &is_found, &part->status);
        call_receive(place, part->status.MPI_SOURCE, part->status.MPI_TAG, comm, &part->request,
                     &actor->local);
        break;
    }
}

static void barrier(const struct act *act)
{
    MPI_Comm comm = act->actor->comms[MATCH_EXACT];
    MPI_Request request;
    if (!act->plan->wants_nonblocking_barrier) {
        MPI_Barrier(comm);
        return;
    }
    MPI_Ibarrier(comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void start_collectives(struct act *act)
{
    for (int i = 0; i < act->plan->collective_count; i++)
        collective_start(&act->collectives[i], act->actor, act->iteration);
}

static void post_all(struct act *act)
{
    const struct plan *plan = act->plan;
    if (plan->wants_collectives_first)
        start_collectives(act);
    for (int i = 0; i < act->part_count; i++)
        if (act->parts[i].message != NULL && act->parts[i].is_receive &&
            act->parts[i].message->receive_mode == RECV_POSTED)
            post_receive(act, &act->parts[i]);
    if (plan->has_ready_send)
        barrier(act);
    for (int i = 0; i < act->part_count; i++)
        if (act->parts[i].message != NULL && !act->parts[i].is_receive)
            post_send(act, &act->parts[i]);
    if (!plan->wants_collectives_first)
        start_collectives(act);
    compute_for(plan->compute_us / 2 + rng_below(&act->actor->local, plan->compute_us / 2 + 1));
    for (int i = 0; i < act->part_count; i++)
        if (act->parts[i].message != NULL && act->parts[i].is_receive &&
            act->parts[i].message->receive_mode != RECV_POSTED)
            receive_by_probe(act, &act->parts[i]);
}

/* A receive nobody sends to, cancelled; and a persistent request that is never started. */
static void post_extras(struct act *act)
{
    struct part *cancelled = &act->parts[act->part_count - 2], *inactive = &act->parts[act->part_count - 1];
    MPI_Comm comm = act->actor->comms[MATCH_EXACT];
    static _Thread_local int unused[MAX_CANCELLED_INTS];
    if (act->plan->wants_cancelled_receive) {
        int source = act->actor->is_exact ? 0 : MPI_ANY_SOURCE;
        MPI_Irecv(unused, act->plan->cancelled_ints, MPI_INT, source, CANCEL_TAG, comm, &cancelled->request);
        MPI_Cancel(&cancelled->request);
    }
    if (act->plan->wants_inactive_request && act->iteration == 0) {
        inactive->is_persistent = true;
        MPI_Send_init(unused, 1, MPI_INT, act->actor->rank, INACTIVE_TAG, comm, &inactive->request);
    }
}

static bool is_part_apart(const struct part *part)
{
    return !HAVE_NEW_KINDS_IN_ARRAYS && part->message != NULL && part->message->is_partitioned;
}

static bool is_collective_apart(const struct collective_part *part)
{
    return !HAVE_NEW_KINDS_IN_ARRAYS && part->plan->is_persistent;
}

/* Requests this MPI cannot have in an array: waits for them here, and puts null in their place. */
static void complete_apart(struct act *act, MPI_Request *requests)
{
    for (int i = 0; i < act->part_count; i++)
        if (is_part_apart(&act->parts[i])) {
            MPI_Wait(&act->parts[i].request, MPI_STATUS_IGNORE);
            requests[i] = MPI_REQUEST_NULL;
        }
    for (int i = 0; i < act->plan->collective_count; i++)
        if (is_collective_apart(&act->collectives[i])) {
            MPI_Wait(&act->collectives[i].request, MPI_STATUS_IGNORE);
            requests[act->part_count + i] = MPI_REQUEST_NULL;
        }
}

static void complete_everything(struct act *act)
{
    MPI_Request requests[REQUESTS_MAX];
    MPI_Status statuses[REQUESTS_MAX];
    bool had_request[2 * MAX_MESSAGES + 2];
    int parts = act->part_count, collectives = act->plan->collective_count;
    for (int i = 0; i < parts; i++) {
        requests[i] = act->parts[i].request;
        had_request[i] = requests[i] != MPI_REQUEST_NULL;
    }
    for (int i = 0; i < collectives; i++)
        requests[parts + i] = act->collectives[i].request;
    complete_apart(act, requests);
    int exchanges = act->exchanges.request_count;
    for (int i = 0; i < exchanges; i++)
        requests[parts + collectives + i] = act->exchanges.requests[i];
    complete_all(parts + collectives + exchanges, requests, statuses, act->plan->ignores_statuses,
                 &act->actor->local);
    for (int i = 0; i < parts; i++) {
        if (!is_part_apart(&act->parts[i]))
            act->parts[i].request = requests[i];
        if (had_request[i])
            act->parts[i].status = statuses[i];
    }
    for (int i = 0; i < collectives; i++)
        if (!is_collective_apart(&act->collectives[i]))
            act->collectives[i].request = requests[parts + i];
}

static uint64_t hash_part(const struct act *act, struct part *part)
{
    uint64_t hash = hash_bytes(1, part->buffer, part->length);
    if (act->plan->ignores_statuses || part->message->is_partitioned)
        return hash;
    /* MPI_Request_get_status makes MPICH and Intel MPI forget it; ghosts do not. */
    if (act->actor->is_exact && part->is_persistent)
        return hash;
    int *seen = part->seen;
    MPI_Status status = part->status;
    seen[0] = status.MPI_SOURCE;
    seen[1] = status.MPI_TAG;
    MPI_Get_count(&status, act->actor->types[part->message->receive_type], &seen[2]);
    MPI_Get_elements(&status, act->actor->types[part->message->receive_type], &seen[3]);
#ifndef I_MPI_VERSION /* Intel MPI 2021.18 says so of received messages now and then, between nodes, plain   \
                         too */
    MPI_Test_cancelled(&status, &seen[4]);
#endif
    return hash_bytes(hash, seen, sizeof part->seen);
}

static void trace(const struct act *act, int index, uint64_t hash)
{
    const struct part *part = &act->parts[index];
    const struct message *message = part->message;
    if (!act->actor->wants_trace)
        return;
    printf("trace %s iteration %d part %d source %d tag %d matching %d modes %d %d persistent %d %d "
           "partitioned %d "
           "types %d %d bytes %zu freed %d status %d %d %d %d %d data %016llx hash %016llx\n",
           act->actor->label, act->iteration, index, message->source, message->tag, (int)message->matching,
           (int)message->send_mode, (int)message->receive_mode, message->is_send_persistent,
           message->is_receive_persistent, message->is_partitioned, message->send_type, message->receive_type,
           part->length, message->is_send_freed, part->seen[0], part->seen[1], part->seen[2], part->seen[3],
           part->seen[4], (unsigned long long)hash_bytes(1, part->buffer, part->length),
           (unsigned long long)hash);
}

static void hash_results(struct act *act)
{
    uint64_t *digest = &act->actor->digest;
    uint64_t groups[2] = {0, 0}; /* sums commute: a group's members may come in any order */
    for (int i = 0; i < act->part_count; i++) {
        struct part *part = &act->parts[i];
        if (part->message == NULL || !part->is_receive)
            continue;
        uint64_t hash = hash_part(act, part);
        trace(act, i, hash);
        if (part->message->group >= 0)
            groups[part->message->group] += hash;
        else
            *digest = hash_bytes(*digest, &hash, sizeof hash);
    }
    *digest = hash_bytes(*digest, groups, sizeof groups);
    for (int i = 0; i < act->plan->collective_count; i++)
        *digest = collective_hash(&act->collectives[i], *digest);
    if (act->plan->wants_cancelled_receive && !act->plan->ignores_statuses) {
        int is_cancelled = 0;
        MPI_Test_cancelled(&act->parts[act->part_count - 2].status, &is_cancelled);
        *digest = hash_bytes(*digest, &is_cancelled, sizeof is_cancelled);
    }
}

static void release(struct act *act)
{
    for (int i = 0; i < act->part_count; i++) {
        if (act->parts[i].is_persistent && act->parts[i].request != MPI_REQUEST_NULL)
            MPI_Request_free(&act->parts[i].request);
        place_free(&act->parts[i].place);
        free(act->parts[i].buffer);
    }
    for (int i = 0; i < act->plan->collective_count; i++)
        collective_release(&act->collectives[i]);
}

void actor_run(struct actor *actor, const struct plan *plan)
{
    struct act act = {.actor = actor, .plan = plan};
    for (int i = 0; i < plan->message_count; i++) {
        if (plan->messages[i].dest == actor->rank)
            add_part(&act, &plan->messages[i], true);
        if (plan->messages[i].source == actor->rank)
            add_part(&act, &plan->messages[i], false);
    }
    add_part(&act, NULL, false);
    add_part(&act, NULL, false);
    for (int i = 0; i < plan->collective_count; i++)
        collective_prepare(&act.collectives[i], &plan->collectives[i], actor);
    for (act.iteration = 0; act.iteration < plan->iterations; act.iteration++) {
        post_all(&act);
        post_extras(&act);
        exchanges_post(&act.exchanges, actor, plan, act.iteration);
        complete_everything(&act);
        if (plan->wants_barrier)
            barrier(&act);
        hash_results(&act);
        uint64_t hash = exchanges_end(&act.exchanges);
        actor->digest = hash_bytes(actor->digest, &hash, sizeof hash);
    }
    release(&act);
}
