/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/pack/worth.h"

#include "base/clock.h"
#include "base/options.h"
#include "engines/engine.h"
#include "engines/pack/learnt.h"
#include "real/constants.h"
#include "real/quirks.h"
#include "real/type_size.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* A trial packs no more than this, unless one datatype alone is larger. */
enum { TRIAL_BYTES_MAX = 4 * 1024 * 1024, TRIALS = 3 };

/* What a trial needs: a part of a message, packed by either. */
struct trial {
    struct hw_pack_given given;
    struct hw_plan *plan;
    int64_t bytes;
    char *theirs, *ours;
};

static bool begin(struct trial *trial, const struct hw_pack_given *given, struct hw_plan *plan)
{
    int64_t size = plan->shape.size, most = size < TRIAL_BYTES_MAX ? TRIAL_BYTES_MAX / size : 1;
    *trial = (struct trial){.given = *given, .plan = plan};
    if (trial->given.count > most)
        trial->given.count = (MPI_Count)most;
    trial->bytes = size * (int64_t)trial->given.count;
    if (trial->bytes > INT_MAX || trial->bytes == 0)
        return false;
    trial->theirs = malloc((size_t)trial->bytes);
    trial->ours = malloc((size_t)trial->bytes);
    return trial->theirs && trial->ours;
}

static void end(struct trial *trial)
{
    free(trial->theirs);
    free(trial->ours);
}

/* Returns what it took; 0: the MPI refuses. */
static uint64_t by_mpi(struct trial *trial, enum hw_shape_direction direction)
{
    const struct hw_pack_given *given = &trial->given;
    int position = 0, rc;
    uint64_t began_ns = hw_clock_now_ns();
    if (direction == HW_SHAPE_PACK)
        rc = hw_bottom.Pack((const void *)given->memory, (int)given->count, given->datatype, trial->theirs,
                            (int)trial->bytes, &position, HW_COMM_SELF);
    else
        rc = hw_bottom.Unpack(trial->theirs, (int)trial->bytes, &position, (void *)given->memory,
                              (int)given->count, given->datatype, HW_COMM_SELF);
    uint64_t took_ns = hw_clock_now_ns() - began_ns;
    return rc == MPI_SUCCESS && position == trial->bytes ? took_ns + 1 : 0;
}

/* And what copying the packed form once more takes, which our way does in addition. */
static uint64_t by_us(struct trial *trial, enum hw_shape_direction direction)
{
    uint64_t began_ns = hw_clock_now_ns();
    hw_plan_copy(trial->plan, trial->given.count, direction, trial->given.memory,
                 (struct hw_shape_range){0, trial->bytes}, trial->ours);
    memcpy(trial->theirs, trial->ours, (size_t)trial->bytes);
    return hw_clock_now_ns() - began_ns + 1;
}

/* Whether the plan packs what the MPI does. */
static bool is_alike(struct trial *trial)
{
    if (by_mpi(trial, HW_SHAPE_PACK) == 0)
        return false;
    hw_plan_copy(trial->plan, trial->given.count, HW_SHAPE_PACK, trial->given.memory,
                 (struct hw_shape_range){0, trial->bytes}, trial->ours);
    return memcmp(trial->ours, trial->theirs, (size_t)trial->bytes) == 0;
}

/* Nothing is there but where a datatype has absolute addresses. */
static bool is_there(const struct hw_plan *plan, uintptr_t memory)
{
    enum { FIRST_PAGES = 64 * 1024 };
    return memory != 0 || plan->shape.lowest >= FIRST_PAGES;
}

/* Makes the plan, and looks whether it says what the MPI does. The program's buffer is its own yet, or has
 * been received. */
static void consider(const struct hw_pack_given *given, struct hw_plan *plan)
{
    const char *reason;
    if (hw_plan_make(plan, given->datatype, &reason)) {
        struct trial trial = {.bytes = 0};
        bool is_usable = is_there(plan, given->memory) && begin(&trial, given, plan) && is_alike(&trial);
        end(&trial);
        hw_plan_decide(plan, is_usable);
        reason = is_usable ? NULL : "packing: the MPI packs a datatype otherwise than its plan";
    }
    if (reason)
        hw_record_declined(reason);
}

/* One that MPI defines: no packing, whatever its size. */
static bool is_named(MPI_Datatype datatype)
{
    int ints, aints, types, combiner;
    return hw_bottom.Type_get_envelope(datatype, &ints, &aints, &types, &combiner) == MPI_SUCCESS &&
           combiner == MPI_COMBINER_NAMED;
}

void hw_pack_message_accepted(const struct hw_pack_given *given, bool is_through)
{
    uint64_t size;
    if (given->count <= 0 || hw_real_type_is_basic(given->datatype, &size))
        return;
    struct hw_plan *plan = hw_plan_find(given->datatype);
    if (plan && hw_plan_state(plan) != HW_PLAN_SEEN)
        return;
    size = hw_real_type_size(given->datatype);
    bool is_large = (uint64_t)given->count * size >= (uint64_t)HW_PACK_BYTES_MIN;
    bool is_named_now = plan == NULL && is_named(given->datatype);
    if (plan == NULL && (is_large || is_named_now))
        plan = hw_plan_note(given->datatype);
    if (plan == NULL || hw_plan_state(plan) != HW_PLAN_SEEN)
        return;
    if (is_named_now || (is_large && is_through && hw_options.pack == HW_OPTION_PACK_ON))
        consider(given, plan);
}

/* Times both ways and keeps which is to be taken (enum hw_pack_message_way). Unpacking writes the bytes that
 * are there. */
static int try_both(const struct hw_pack_given *given, struct hw_plan *plan, struct hw_pack_class *of)
{
    uint64_t best[2] = {UINT64_MAX, UINT64_MAX};
    struct trial trial;
    int way = HW_PACK_MESSAGE_MPI;
    bool is_begun = begin(&trial, given, plan) && by_mpi(&trial, HW_SHAPE_PACK) > 0;
    for (int i = 0; is_begun && i < TRIALS; i++) {
        if (given->direction == HW_SHAPE_UNPACK)
            memcpy(trial.ours, trial.theirs, (size_t)trial.bytes);
        uint64_t theirs = by_mpi(&trial, given->direction), ours = by_us(&trial, given->direction);
        best[0] = theirs > 0 && theirs < best[0] ? theirs : best[0];
        best[1] = ours < best[1] ? ours : best[1];
    }
    if (is_begun && best[1] < best[0])
        way = HW_PACK_MESSAGE_OURS;
    end(&trial);
    hw_atomic_store_relaxed(&of->message_way, way);
    return way;
}

static bool is_worth(const struct hw_pack_given *given, struct hw_plan *plan, int64_t bytes)
{
    if (hw_options.pack == HW_OPTION_PACK_ON)
        return true;
    struct hw_pack_class *of = hw_pack_class_find(plan, given->direction, bytes);
    if (of == NULL)
        return false;
    int way = hw_atomic_load_relaxed(&of->message_way);
    if (__builtin_expect(way == HW_PACK_MESSAGE_UNKNOWN, 0))
        way = try_both(given, plan, of);
    return way == HW_PACK_MESSAGE_OURS;
}

struct hw_plan *hw_pack_message_plan(const struct hw_pack_given *given, struct hw_plan *plan, int64_t *bytes)
{
    if (HW_REAL_TRUNCATION_OVERFLOWS && given->direction == HW_SHAPE_UNPACK)
        return NULL; /* our buffer would be written beyond its end */
    if (hw_plan_state(plan) == HW_PLAN_SEEN && given->count > 0)
        consider(given, plan);
    if (hw_plan_state(plan) != HW_PLAN_USABLE || given->count <= 0 ||
        __builtin_mul_overflow(plan->shape.size, (int64_t)given->count, bytes) ||
        *bytes < HW_PACK_BYTES_MIN || !is_there(plan, given->memory))
        return NULL;
    if (given->direction == HW_SHAPE_UNPACK &&
        !(plan->is_disjoint && hw_shape_stays_disjoint(&plan->shape, given->count, plan->extent)))
        return NULL;
    return is_worth(given, plan, *bytes) ? plan : NULL;
}
