/* SPDX-License-Identifier: BSD-3-Clause */
#include "act.h"

#include <stdlib.h>
#include <string.h>

enum { TYPES = 3, OPS = 5, REQUESTS_MAX = MEMBERS_MAX * SLOTS * CALLS_MAX };

static const int type_bytes[TYPES] = {4, 8, 8};
static MPI_Datatype types[TYPES], strided_types[TYPES];
static MPI_Op ops[OPS];

static MPI_Request requests[REQUESTS_MAX];
static int request_count;

/* What calls send and fetch stays until the end of the round. */
static unsigned char sent[REQUESTS_MAX][SLOT_BYTES], compared[REQUESTS_MAX][8];
static unsigned char fetched[REQUESTS_MAX][SLOT_BYTES];
static int call_count;

void act_make_types(void)
{
    const MPI_Datatype basic[TYPES] = {MPI_INT32_T, MPI_INT64_T, MPI_DOUBLE};
    const MPI_Op all[OPS] = {MPI_SUM, MPI_MAX, MPI_MIN, MPI_PROD, MPI_SUM};
    memcpy(types, basic, sizeof types);
    memcpy(ops, all, sizeof ops);
    for (int i = 0; i < TYPES; i++) {
        MPI_Type_vector(SLOT_BYTES / type_bytes[i] / 2, 1, 2, types[i], &strided_types[i]);
        MPI_Type_commit(&strided_types[i]);
    }
}

void act_free_types(void)
{
    for (int i = 0; i < TYPES; i++)
        MPI_Type_free(&strided_types[i]);
}

uint64_t act_hash(uint64_t hash, const void *data, size_t length)
{
    const unsigned char *at = data;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
    return hash;
}

/* Small whole numbers: sums and products of doubles do not depend on their order. */
static void fill(unsigned char *data, int type, int count, uint64_t salt)
{
    struct dice dice = {.state = salt * UINT64_C(0x9E3779B97F4A7C15) + 7};
    for (int i = 0; i < count; i++) {
        int number = dice_roll(&dice, 3) + 1;
        int32_t small = number;
        int64_t large = number;
        double real = number;
        const void *from = type == 0 ? (void *)&small : type == 1 ? (void *)&large : (void *)&real;
        memcpy(data + i * type_bytes[type], from, (size_t)type_bytes[type]);
    }
}

static int type_of(const struct slot_plan *slot)
{
    return slot->role == ROLE_OWNED && slot->call == CALL_SWAP ? 1 : slot->type;
}

void act_reset(const struct window *window, const struct round_plan *round)
{
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, window->rank, 0, window->win);
    for (int slot = 0; slot < SLOTS; slot++) {
        int type = type_of(&round->slots[window->rank][slot]);
        fill(window->base + slot * SLOT_BYTES, type, SLOT_BYTES / type_bytes[type], (uint64_t)slot);
    }
    MPI_Win_unlock(window->rank, window->win);
    MPI_Barrier(window->comm);
}

static bool is_passive(enum sync sync) { return sync >= SYNC_SHARED; }

struct place {
    int target, count, target_count;
    MPI_Aint disp;
    MPI_Datatype type, target_type;
    MPI_Op op;
    MPI_Win win;
};

static MPI_Request *next_request(void) { return &requests[request_count++]; }

static void put_or_get(const struct place *at, enum call call, bool is_request, unsigned char *from,
                       unsigned char *to)
{
    if (call == CALL_PUT && is_request)
        MPI_Rput(from, at->count, at->type, at->target, at->disp, at->target_count, at->target_type, at->win,
                 next_request());
    else if (call == CALL_PUT)
        MPI_Put(from, at->count, at->type, at->target, at->disp, at->target_count, at->target_type, at->win);
    else if (is_request)
        MPI_Rget(to, at->count, at->type, at->target, at->disp, at->target_count, at->target_type, at->win,
                 next_request());
    else
        MPI_Get(to, at->count, at->type, at->target, at->disp, at->target_count, at->target_type, at->win);
}

static void accumulate(const struct place *at, enum call call, bool is_request, unsigned char *from,
                       unsigned char *to)
{
    if (call == CALL_ACCUMULATE && is_request)
        MPI_Raccumulate(from, at->count, at->type, at->target, at->disp, at->target_count, at->target_type,
                        at->op, at->win, next_request());
    else if (call == CALL_ACCUMULATE)
        MPI_Accumulate(from, at->count, at->type, at->target, at->disp, at->target_count, at->target_type,
                       at->op, at->win);
    else if (is_request)
        MPI_Rget_accumulate(from, at->count, at->type, to, at->count, at->type, at->target, at->disp,
                            at->target_count, at->target_type, at->op, at->win, next_request());
    else
        MPI_Get_accumulate(from, at->count, at->type, to, at->count, at->type, at->target, at->disp,
                           at->target_count, at->target_type, at->op, at->win);
}

static void flush(const struct window *window, const struct slot_plan *slot, int target)
{
    if (slot->flush == 0)
        MPI_Win_flush(target, window->win);
    else if (slot->flush == 1)
        MPI_Win_flush_local(target, window->win);
    else if (slot->flush == 2)
        MPI_Win_flush_all(window->win);
    else if (slot->flush == 3)
        MPI_Win_flush_local_all(window->win);
}

static MPI_Aint place_of(const struct window *window, int target, int slot)
{
    MPI_Aint bytes = (MPI_Aint)slot * SLOT_BYTES;
    return window->addresses ? MPI_Aint_add(window->addresses[target], bytes) : bytes / window->disp_unit;
}

static void call_once(const struct window *window, const struct round_plan *round, int target, int slot,
                      enum call call, uint64_t salt)
{
    const struct slot_plan *plan = &round->slots[target][slot];
    int type = type_of(plan);
    int elements = SLOT_BYTES / type_bytes[type];
    struct place at = {.target = target,
                       .count = plan->is_strided ? elements / 2 : elements,
                       .target_count = plan->is_strided ? 1 : elements,
                       .disp = place_of(window, target, slot),
                       .type = types[type],
                       .target_type = plan->is_strided ? strided_types[type] : types[type],
                       .op = ops[plan->op],
                       .win = window->win};
    unsigned char *from = sent[call_count], *to = fetched[call_count];
    bool is_request = plan->is_request && is_passive(round->sync);
    fill(from, type, elements, salt);
    fill(compared[call_count], type, 1, salt + 1);
    if (call == CALL_PUT || call == CALL_GET)
        put_or_get(&at, call, is_request, from, to);
    else if (call == CALL_ACCUMULATE || call == CALL_GET_ACCUMULATE)
        accumulate(&at, call, is_request, from, to);
    else if (call == CALL_FETCH)
        MPI_Fetch_and_op(from, to, at.type, target, at.disp, at.op, at.win);
    else
        MPI_Compare_and_swap(from, compared[call_count], to, at.type, target, at.disp, at.win);
    call_count++;
    if (is_passive(round->sync))
        flush(window, plan, target);
}

/* What this rank does on one target. Returns how many calls that is; `wants_calls`: makes them. */
static int on_target(const struct window *window, const struct round_plan *round, int target, uint64_t salt,
                     bool wants_calls)
{
    int made = 0;
    for (int slot = 0; slot < SLOTS; slot++) {
        const struct slot_plan *plan = &round->slots[target][slot];
        enum call call = plan->call;
        int count = plan->call_count;
        if (plan->role == ROLE_COMMON)
            call = CALL_ACCUMULATE;
        else if (plan->role == ROLE_READ)
            call = CALL_GET;
        if (plan->role == ROLE_OWNED && plan->owner != window->rank)
            continue;
        if (plan->role == ROLE_READ && !(plan->readers >> window->rank & 1))
            continue;
        for (int i = 0; wants_calls && i < count; i++)
            call_once(window, round, target, slot, call, salt + (uint64_t)(slot * CALLS_MAX + i));
        made += count;
    }
    return made;
}

static MPI_Group neighbours(const struct window *window, const struct round_plan *round, bool wants_origins)
{
    int ranks[MEMBERS_MAX], count = 0;
    for (int i = 0; i < window->size; i++) {
        struct window seen = *window;
        seen.rank = wants_origins ? i : window->rank;
        if (on_target(&seen, round, wants_origins ? window->rank : i, 0, false) > 0)
            ranks[count++] = i;
    }
    MPI_Group group;
    MPI_Group_incl(window->group, count, ranks, &group);
    return group;
}

static void open_all(const struct window *window, const struct round_plan *round)
{
    if (round->sync == SYNC_FENCE) {
        MPI_Win_fence(MPI_MODE_NOPRECEDE, window->win);
    } else if (round->sync == SYNC_PSCW) {
        MPI_Group origins = neighbours(window, round, true), targets = neighbours(window, round, false);
        MPI_Win_post(origins, 0, window->win);
        MPI_Win_start(targets, 0, window->win);
        MPI_Group_free(&origins);
        MPI_Group_free(&targets);
    } else if (round->sync == SYNC_LOCK_ALL || round->sync == SYNC_NOCHECK) {
        MPI_Win_lock_all(round->sync == SYNC_NOCHECK ? MPI_MODE_NOCHECK : 0, window->win);
    }
}

static void close_all(const struct window *window, const struct round_plan *round)
{
    if (round->sync == SYNC_FENCE) {
        MPI_Win_fence(MPI_MODE_NOSUCCEED, window->win);
    } else if (round->sync == SYNC_PSCW) {
        MPI_Win_complete(window->win);
        MPI_Win_wait(window->win);
    } else if (round->sync == SYNC_LOCK_ALL || round->sync == SYNC_NOCHECK) {
        MPI_Win_unlock_all(window->win);
    }
}

void act_round(const struct window *window, const struct round_plan *round, uint64_t salt, uint64_t *hash)
{
    bool has_locks = round->sync == SYNC_SHARED || round->sync == SYNC_EXCLUSIVE;
    int lock = round->sync == SYNC_SHARED ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE;
    call_count = request_count = 0;
    memset(fetched, 0, sizeof fetched);
    open_all(window, round);
    for (int i = 0; i < window->size; i++) {
        int target = (window->rank + i) % window->size;
        uint64_t own_salt = salt + (uint64_t)((window->rank * MEMBERS_MAX + target) * 64);
        if (on_target(window, round, target, 0, false) == 0)
            continue;
        if (has_locks)
            MPI_Win_lock(lock, target, 0, window->win);
        on_target(window, round, target, own_salt, true);
        MPI_Waitall(request_count, requests, MPI_STATUSES_IGNORE);
        request_count = 0;
        if (has_locks)
            MPI_Win_unlock(target, window->win);
    }
    close_all(window, round);
    for (int i = 0; i < call_count; i++)
        *hash = act_hash(*hash, fetched[i], SLOT_BYTES);
}
