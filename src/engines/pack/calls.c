/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Pack and MPI_Unpack (MPI-4.1 section 5.2). Whatever is wrong with a call is left to the MPI, so that
 * its error is the MPI's; so are the first calls with a datatype, which show that the MPI accepts it. */
#include "engines/pack/calls.h"

#include "base/clock.h"
#include "base/options.h"
#include "engines/pack/learnt.h"
#include "objects/datatype/plan.h"
#include "real/constants.h"
#include "real/device_memory.h"
#include "real/type_size.h"
#include "team/split.h"

#include <stdlib.h>
#include <string.h>

/* A call of either. */
struct call {
    enum hw_shape_direction direction;
    uintptr_t memory; /* the program's buffer */
    MPI_Count count;
    MPI_Datatype datatype;
    char *packed;
    MPI_Count packed_size;
    MPI_Count *position;
    MPI_Comm comm;
};

static bool is_int(MPI_Count number) { return number == (int)number; }

static int call_plain(const struct call *call)
{
    int position = (int)*call->position, count = (int)call->count, size = (int)call->packed_size, rc;
    if (call->direction == HW_SHAPE_PACK)
        rc = hw_real.Pack((const void *)call->memory, count, call->datatype, call->packed, size, &position,
                          call->comm);
    else
        rc = hw_real.Unpack(call->packed, size, &position, (void *)call->memory, count, call->datatype,
                            call->comm);
    *call->position = position;
    return rc;
}

/* By the MPI's way. */
static int call_mpi(const struct call *call)
{
    if (is_int(call->count) && is_int(call->packed_size))
        return call_plain(call);
#ifdef HW_HAVE_Pack_c
    if (call->direction == HW_SHAPE_PACK)
        return hw_real.Pack_c((const void *)call->memory, call->count, call->datatype, call->packed,
                              call->packed_size, call->position, call->comm);
    return hw_real.Unpack_c(call->packed, call->packed_size, call->position, (void *)call->memory,
                            call->count, call->datatype, call->comm);
#else
    return HW_DECLINES;
#endif
}

struct copy {
    const struct hw_plan *plan;
    const struct call *call;
};

static void copy_range(void *context, int64_t from, int64_t to)
{
    const struct copy *copy = context;
    const struct call *call = copy->call;
    hw_plan_copy(copy->plan, call->count, call->direction, call->memory, (struct hw_shape_range){from, to},
                 call->packed + *call->position + from);
}

/* By our way, with idle threads of the program where that is faster. */
static void copy(const struct hw_plan *plan, const struct call *call, int64_t bytes, struct hw_pack_class *of)
{
    struct copy copy = {plan, call};
    hw_team_split(&of->split, copy_range, &copy, bytes);
    *call->position += bytes;
}

/* Whether bytes from..to of what the MPI has packed, or taken apart, are what the plan makes of the program's
 * buffer. */
static bool is_alike(const struct hw_plan *plan, const struct call *call, const char *packed,
                     struct hw_shape_range range)
{
    size_t bytes = (size_t)(range.to - range.from);
    char *ours = malloc(bytes + 1);
    if (ours == NULL)
        return false;
    hw_plan_copy(plan, call->count, HW_SHAPE_PACK, call->memory, range, ours);
    bool is_alike = memcmp(ours, packed + range.from, bytes) == 0;
    free(ours);
    return is_alike;
}

static void count_made(struct hw_plan *plan, const struct call *call, int64_t bytes)
{
    struct hw_pack_class *of = bytes > 0 ? hw_pack_class_find(plan, call->direction, bytes) : NULL;
    bool wins = of && hw_atomic_load_relaxed(&of->way) == HW_CHOICE_OURS;
    hw_pack_plan_made(plan, wins || hw_options.pack == HW_OPTION_PACK_ON);
}

/* Where nothing is forced a plan is made for a datatype that came back often enough. */
static bool has_come_back(struct hw_plan *plan)
{
    unsigned used = hw_atomic_load_relaxed(&plan->uses) + 1;
    hw_atomic_store_relaxed(&plan->uses, used);
    return used >= hw_pack_uses_before_plan(1) || hw_options.pack == HW_OPTION_PACK_ON;
}

/* After the MPI has done a call with the datatype: makes its plan, and looks whether it says the same of the
 * first bytes, the last, and some between. */
static void consider(struct hw_plan *plan, const struct call *call, MPI_Count began)
{
    enum { COMPARED = 16 * 1024 };
    const char *reason;
    bool is_usable = false;
    if (hw_plan_make(plan, call->datatype, &reason)) {
        int64_t bytes = *call->position - began, part = bytes < COMPARED ? bytes : COMPARED;
        int64_t middle = (bytes - part) / 2;
        const char *packed = call->packed + began;
        is_usable = bytes == plan->shape.size * call->count &&
                    is_alike(plan, call, packed, (struct hw_shape_range){0, part}) &&
                    is_alike(plan, call, packed, (struct hw_shape_range){middle, middle + part}) &&
                    is_alike(plan, call, packed, (struct hw_shape_range){bytes - part, bytes});
        hw_plan_decide(plan, is_usable);
        count_made(plan, call, is_usable ? bytes : 0);
        reason = is_usable ? NULL : "packing: the MPI packs a datatype otherwise than its plan";
    }
    if (reason)
        hw_record_declined(reason);
}

/* A datatype that is not known well enough goes the MPI's way. */
static __attribute__((noinline)) int call_first(bool is_seen, const struct call *call)
{
    MPI_Count began = *call->position;
    int rc = call_mpi(call);
    if (rc != MPI_SUCCESS || *call->position - began < HW_PACK_BYTES_MIN)
        return rc;
    if (!is_seen)
        hw_plan_note(call->datatype);
    bool is_to_be_made = is_seen || hw_options.pack == HW_OPTION_PACK_ON;
    struct hw_plan *plan = is_to_be_made ? hw_plan_take(call->datatype) : NULL;
    if (plan && has_come_back(plan))
        consider(plan, call, began);
    if (plan)
        hw_plan_release(plan);
    return rc;
}

static __attribute__((noinline)) int call_timed(const struct hw_plan *plan, const struct call *call,
                                                int64_t bytes, struct hw_pack_class *of)
{
    enum hw_choice_way way;
    if (!hw_pack_class_take(of, &way))
        return HW_DECLINES;
    int rc = MPI_SUCCESS;
    uint64_t began_ns = hw_clock_fast_ns();
    if (way == HW_CHOICE_MPI)
        rc = call_mpi(call);
    else
        copy(plan, call, bytes, of);
    uint64_t took_ns = hw_clock_fast_ns() - began_ns;
    if (way == HW_CHOICE_OURS)
        hw_pack_class_count(of, bytes);
    hw_pack_class_learn(of, way, took_ns);
    return rc;
}

/* By whichever way is the shorter. */
static int call_chosen(struct hw_plan *plan, const struct call *call, int64_t bytes)
{
    struct hw_pack_class *of = hw_pack_class_find(plan, call->direction, bytes);
    if (of == NULL)
        return HW_DECLINES;
    if (hw_options.pack != HW_OPTION_PACK_ON) {
        unsigned left = hw_atomic_load_relaxed(&of->left);
        if (left == 0)
            return hw_real_has_device_memory() ? HW_DECLINES : call_timed(plan, call, bytes, of);
        hw_atomic_store_relaxed(&of->left, left - 1);
        if (hw_atomic_load_relaxed(&of->way) != HW_CHOICE_OURS)
            return HW_DECLINES;
    }
    if (hw_real_has_device_memory()) /* it has come since there is the plan */
        return HW_DECLINES;
    hw_pack_plan_serves(plan);
    hw_pack_class_count(of, bytes);
    copy(plan, call, bytes, of);
    return MPI_SUCCESS;
}

/* Nothing is there but where a datatype has absolute addresses. */
static bool is_there(const struct hw_plan *plan, uintptr_t memory)
{
    enum { FIRST_PAGES = 64 * 1024 };
    return memory != 0 || plan->shape.lowest >= FIRST_PAGES;
}

/* `room`: what is left of the packed buffer. */
static int answer_by(struct hw_plan *plan, const struct call *call, MPI_Count room)
{
    enum hw_plan_state state = plan ? hw_plan_state(plan) : HW_PLAN_SEEN;
    if (__builtin_expect(state == HW_PLAN_SEEN, 0))
        return call_first(plan != NULL, call);
    int64_t bytes;
    if (state != HW_PLAN_USABLE || call->count <= 0 ||
        __builtin_mul_overflow(plan->shape.size, (int64_t)call->count, &bytes) || bytes > room ||
        bytes < HW_PACK_BYTES_MIN)
        return HW_DECLINES;
    if (!is_there(plan, call->memory) || call->packed == NULL || call->comm == HW_COMM_NULL)
        return HW_DECLINES;
    if (call->direction == HW_SHAPE_UNPACK &&
        !(plan->is_disjoint && hw_shape_stays_disjoint(&plan->shape, call->count, plan->extent)))
        return HW_DECLINES;
    return call_chosen(plan, call, bytes);
}

static __attribute__((noinline)) int answer(const struct call *call, MPI_Count room)
{
    struct hw_plan *plan = hw_plan_take(call->datatype);
    int rc = answer_by(plan, call, room);
    if (plan)
        hw_plan_release(plan);
    return rc;
}

/* Most calls must cost nothing: those of little, and of datatypes that are not ours. */
static inline bool is_left(MPI_Count size, MPI_Count position, MPI_Datatype datatype)
{
    uint64_t bytes;
    return position < 0 || size - position < HW_PACK_BYTES_MIN || hw_real_type_is_basic(datatype, &bytes) ||
           hw_plan_is_none(datatype);
}

static int pack(const void *inbuf, MPI_Count incount, MPI_Datatype datatype, void *outbuf, MPI_Count outsize,
                MPI_Count *position, MPI_Comm comm)
{
    if (is_left(outsize, *position, datatype))
        return HW_DECLINES;
    const struct call call = {HW_SHAPE_PACK, (uintptr_t)inbuf, incount,  datatype,
                              outbuf,        outsize,          position, comm};
    return answer(&call, outsize - *position);
}

static int unpack(const void *inbuf, MPI_Count insize, MPI_Count *position, void *outbuf, MPI_Count outcount,
                  MPI_Datatype datatype, MPI_Comm comm)
{
    if (is_left(insize, *position, datatype))
        return HW_DECLINES;
    const struct call call = {HW_SHAPE_UNPACK, (uintptr_t)outbuf, outcount, datatype, (char *)inbuf,
                              insize,          position,          comm};
    return answer(&call, insize - *position);
}

const struct hw_engine_pack hw_pack_calls = {.pack = pack, .unpack = unpack};
