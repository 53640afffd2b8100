/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile/callers/comms.h"

#include "base/atomic.h"
#include "profile/record/lock.h"

#include <stdlib.h>
#include <string.h>

enum { COMM_COUNT = 128, BUCKET_COUNT = 256, OTHERS = COMM_COUNT };
/* A larger group that is no row or column of the world is not known rank by rank. */
enum { MAX_LISTED_COUNT = 4096 };

/* Which rank of the world each of a group is: first + i * stride, or listed. */
struct members {
    int count, first, stride; /* count 0: not known */
    int own;                  /* this process's rank in it; -1: not known */
    int *listed;
};

struct handle {
    uint64_t number;
    struct hw_profile_comm *comm;
    struct members members;
    struct handle *next;
};

static struct {
    struct hw_profile_comm comms[COMM_COUNT + 1]; /* the last one for the rest */
    struct handle *buckets[BUCKET_COUNT];
} * table;
static int comm_count;
/* When the program has named it; written under the lock. */
_Atomic(const struct hw_profile_comm *) hw_comms_world;

atomic_uint hw_comms_generation = 1;

bool hw_comms_open(void)
{
    table = calloc(1, sizeof *table);
    if (table)
        memcpy(table->comms[OTHERS].name, "others", sizeof "others");
    return table != NULL;
}

static struct handle **bucket_of(uint64_t number)
{
    return &table->buckets[(number * UINT64_C(0x9E3779B97F4A7C15) >> 32) % BUCKET_COUNT];
}

/* Where the handle is linked; *link is NULL if it is not known. Under lock. */
static struct handle **find_link(uint64_t number)
{
    struct handle **link = bucket_of(number);
    while (*link && (*link)->number != number)
        link = &(*link)->next;
    return link;
}

struct hw_profile_comm *hw_comms_look_up(struct hw_comms_cached *cached, uint64_t number)
{
    hw_profile_lock();
    unsigned now = hw_atomic_load_relaxed(&hw_comms_generation);
    const struct handle *handle = *find_link(number);
    struct hw_profile_comm *comm = handle ? handle->comm : NULL;
    hw_profile_unlock();
    if (comm)
        *cached = (struct hw_comms_cached){number, comm, now};
    return comm;
}

static int compare_ranks(const void *one, const void *other)
{
    int a = *(const int *)one, b = *(const int *)other;
    return (a > b) - (a < b);
}

/* Sorted ranks as text, runs joined; it ends in "..." where there is no room for all, or some are not in the
 * world (MPI_UNDEFINED). Returns a hash of all. */
static uint64_t write_ranks(char text[HW_COMM_RANKS_BYTES], const int *ranks, int count)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    size_t length = 0;
    bool is_cut = false, is_beyond = count > 0 && ranks[0] < 0;
    for (int first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && ranks[end] == ranks[end - 1] + 1;)
            end++;
        hash = (hash ^ (uint64_t)(unsigned)ranks[first]) * UINT64_C(0x100000001b3);
        hash = (hash ^ (uint64_t)(unsigned)ranks[end - 1]) * UINT64_C(0x100000001b3);
        if (ranks[first] < 0)
            continue;
        char part[32];
        const char *comma = length > 0 ? "," : "";
        int size = end - first == 1
                       ? snprintf(part, sizeof part, "%s%d", comma, ranks[first])
                       : snprintf(part, sizeof part, "%s%d-%d", comma, ranks[first], ranks[end - 1]);
        is_cut = is_cut || length + (size_t)size + sizeof ",..." > HW_COMM_RANKS_BYTES;
        if (is_cut)
            continue;
        memcpy(text + length, part, (size_t)size + 1);
        length += (size_t)size;
    }
    if (length > 0 && (is_cut || is_beyond))
        memcpy(text + length, ",...", sizeof ",...");
    return hash;
}

/* The entry of this name and group, made if it is new. Under lock. */
static struct hw_profile_comm *find_same(const struct hw_profile_comm *wanted)
{
    for (int i = 0; i < comm_count; i++) {
        struct hw_profile_comm *comm = &table->comms[i];
        if (comm->size == wanted->size && comm->group == wanted->group &&
            strcmp(comm->name, wanted->name) == 0)
            return comm;
    }
    if (comm_count == COMM_COUNT)
        return &table->comms[OTHERS];
    struct hw_profile_comm *comm = &table->comms[comm_count++];
    memcpy(comm->name, wanted->name, sizeof comm->name);
    memcpy(comm->ranks, wanted->ranks, sizeof comm->ranks);
    comm->size = wanted->size;
    comm->group = wanted->group;
    return comm;
}

static struct members members_of(const int *ranks, int size)
{
    struct members members = {
        .own = -1, .count = size, .first = ranks[0], .stride = size > 1 ? ranks[1] - ranks[0] : 0};
    for (int i = 1; i < size; i++)
        if (ranks[i] != members.first + i * members.stride) {
            members.listed = size <= MAX_LISTED_COUNT ? malloc((size_t)size * sizeof *ranks) : NULL;
            if (!members.listed)
                return (struct members){.own = -1};
            memcpy(members.listed, ranks, (size_t)size * sizeof *ranks);
            break;
        }
    return members;
}

struct hw_profile_comm *hw_comms_add(uint64_t number, const char *name, int size, int *ranks)
{
    struct hw_profile_comm wanted = {.size = size};
    struct members members = {.own = -1};
    hw_record_copy_name(wanted.name, sizeof wanted.name, name);
    if (ranks && size > 0) {
        members = members_of(ranks, size);
        qsort(ranks, (size_t)size, sizeof *ranks, compare_ranks);
        wanted.group = write_ranks(wanted.ranks, ranks, size);
    }
    hw_profile_lock();
    struct hw_profile_comm *comm = find_same(&wanted);
    struct handle **link = find_link(number);
    if (!*link && (*link = calloc(1, sizeof **link)))
        (*link)->number = number;
    if (*link) {
        (*link)->comm = comm;
        free((*link)->members.listed);
        (*link)->members = members;
    } else {
        free(members.listed);
    }
    if (strcmp(comm->name, "MPI_COMM_WORLD") == 0)
        hw_atomic_store_relaxed(&hw_comms_world, comm);
    hw_atomic_add_acq_rel(&hw_comms_generation, 1);
    hw_profile_unlock();
    return comm;
}

void hw_comms_rename(uint64_t number, const char *name)
{
    hw_profile_lock();
    struct handle *handle = *find_link(number);
    if (handle && handle->comm != &table->comms[OTHERS]) {
        struct hw_profile_comm wanted = {.size = handle->comm->size, .group = handle->comm->group};
        memcpy(wanted.ranks, handle->comm->ranks, sizeof wanted.ranks);
        hw_record_copy_name(wanted.name, sizeof wanted.name, name);
        handle->comm = find_same(&wanted);
        hw_atomic_add_acq_rel(&hw_comms_generation, 1);
    }
    hw_profile_unlock();
}

void hw_comms_forget(uint64_t number)
{
    if (!table)
        return;
    hw_profile_lock();
    struct handle **link = find_link(number), *handle = *link;
    if (handle) {
        *link = handle->next;
        free(handle->members.listed);
        free(handle);
        hw_atomic_add_acq_rel(&hw_comms_generation, 1);
    }
    hw_profile_unlock();
}

void hw_comms_set_own(uint64_t number, int rank, bool is_remote)
{
    hw_profile_lock();
    struct handle *handle = *find_link(number);
    if (handle) {
        handle->members.own = is_remote ? -1 : rank;
        handle->members.count = is_remote ? 0 : handle->members.count;
    }
    hw_profile_unlock();
}

int hw_comms_own_rank(uint64_t number)
{
    const struct handle *handle = *find_link(number);
    return handle ? handle->members.own : -1;
}

int hw_comms_world_rank(uint64_t number, int rank)
{
    const struct handle *handle = *find_link(number);
    if (!handle || rank < 0 || rank >= handle->members.count)
        return -1;
    const struct members *members = &handle->members;
    int found = members->listed ? members->listed[rank] : members->first + rank * members->stride;
    return found < 0 ? -1 : found; /* MPI_UNDEFINED: not in the world */
}

int hw_comms_size(uint64_t number)
{
    const struct handle *handle = *find_link(number);
    return handle ? handle->members.count : 0;
}

bool hw_comms_is_world(const struct hw_profile_comm *comm)
{
    const struct hw_profile_comm *world = hw_atomic_load_relaxed(&hw_comms_world);
    return comm && world && comm->size == world->size && comm->group == world->group;
}

int hw_comms_index(const struct hw_profile_comm *comm)
{
    int index = 0;
    for (const struct hw_profile_comm *one = table->comms; one < comm; one++)
        index += one->calls != 0;
    return comm->calls ? index : -1;
}

static void write_comm(struct hw_record_list *list, const struct hw_profile_comm *comm)
{
    struct hw_record_communicator one = {
        .name = comm->name[0] ? comm->name : NULL, .size = (uint64_t)comm->size, .ranks = comm->ranks};
#define COPY_COUNTER(name, meaning) one.name = comm->name;
    HW_RECORD_COMMUNICATOR_COUNTERS(COPY_COUNTER)
#undef COPY_COUNTER
    hw_record_add_communicator(list, &one);
}

void hw_comms_write(struct hw_record_list *list, const void *unused)
{
    (void)unused;
    for (int i = 0; table && i <= OTHERS; i++) {
        struct hw_profile_comm one;
        hw_profile_copy(&one, &table->comms[i], sizeof one);
        if (one.calls)
            write_comm(list, &one);
    }
}
