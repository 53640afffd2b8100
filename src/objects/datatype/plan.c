/* SPDX-License-Identifier: BSD-3-Clause */
#include "objects/datatype/plan.h"

#include "objects/datatype/decode.h"
#include "real/device_memory.h"
#include "real/type_size.h"

#include <pthread.h>
#include <stdlib.h>

/* A plan may take this much in any case. More: an eighth of the memory that it is about, which is what it
 * spans, but where that is sparse no more than half of what it packs; and what holds it together. */
enum { PLAN_BYTES_MIN = 64 * 1024, SPAN_SHARE = 8, SPARSE_MAX = 4, PLAN_BYTES_MORE = 4096 };

HW_SPARSE struct hw_plan_slot hw_plan_slots[HW_PLAN_TABLE + HW_PLAN_REACH];
atomic_uint hw_plan_count;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* who writes the table, or the next, has it */
static struct hw_plan *ended;                            /* of no datatype */

struct hw_plan *hw_plan_take(MPI_Datatype datatype)
{
    struct hw_plan *plan = hw_plan_find(datatype);
    unsigned holders = plan ? hw_atomic_load_relaxed(&plan->holders) : 0;
    while (holders > 0 && !hw_atomic_compare_exchange_acq_rel(&plan->holders, &holders, holders + 1))
        continue;
    if (holders == 0)
        return NULL;
    if (plan->handle == (uintptr_t)datatype)
        return plan;
    hw_plan_release(plan); /* it has become another one's meanwhile */
    return NULL;
}

/* Under the lock. One that somebody holds is of its datatype from the first moment. NULL: no memory. */
static struct hw_plan *begin(uintptr_t handle, int64_t size)
{
    struct hw_plan *plan = ended;
    if (plan)
        ended = plan->next;
    else if ((plan = calloc(1, sizeof *plan)) == NULL)
        return NULL;
    plan->handle = handle;
    hw_atomic_store_relaxed(&plan->size, size);
    hw_atomic_store_relaxed(&plan->uses, 0);
    hw_atomic_store_relaxed(&plan->served, 0);
    hw_atomic_store_relaxed(&plan->state, HW_PLAN_SEEN);
    hw_atomic_store_relaxed(&plan->twin, NULL);
    hw_atomic_store_relaxed(&plan->learnt, NULL);
    hw_atomic_store_release(&plan->holders, 1);
    return plan;
}

void hw_plan_note(MPI_Datatype datatype)
{
    uintptr_t handle = (uintptr_t)datatype;
    struct hw_plan_slot *slot = &hw_plan_slots[hw_plan_home(handle)], *unused = NULL;
    int64_t size = (int64_t)hw_real_type_size(datatype);
    pthread_mutex_lock(&lock);
    struct hw_plan *plan = hw_plan_find(datatype);
    for (int i = 0; i < HW_PLAN_REACH && !unused; i++)
        if (hw_atomic_load_relaxed(&slot[i].handle) == 0)
            unused = &slot[i];
    if (plan == NULL && unused && (plan = begin(handle, size)) != NULL) {
        hw_atomic_store_release(&unused->plan, plan);
        hw_atomic_store_release(&unused->handle, handle);
        hw_atomic_add_relaxed(&hw_plan_count, 1);
    }
    pthread_mutex_unlock(&lock);
}

void hw_plan_drop(MPI_Datatype datatype)
{
    uintptr_t handle = (uintptr_t)datatype;
    struct hw_plan_slot *slot = &hw_plan_slots[hw_plan_home(handle)];
    struct hw_plan *plan = NULL;
    if (handle == 0 || hw_plan_find(datatype) == NULL)
        return;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < HW_PLAN_REACH && !plan; i++)
        if (hw_atomic_load_relaxed(&slot[i].handle) == handle) {
            plan = hw_atomic_load_relaxed(&slot[i].plan);
            hw_atomic_store_release(&slot[i].handle, 0);
            hw_atomic_store_release(&slot[i].plan, NULL);
            hw_atomic_sub_relaxed(&hw_plan_count, 1);
        }
    pthread_mutex_unlock(&lock);
    if (plan)
        hw_plan_release(plan);
}

void hw_plan_forget_all(void)
{
    hw_real_type_forget_all();
    for (int i = 0; i < HW_PLAN_TABLE + HW_PLAN_REACH; i++) {
        uintptr_t handle = hw_atomic_load_relaxed(&hw_plan_slots[i].handle);
        if (handle != 0)
            hw_plan_drop((MPI_Datatype)handle);
    }
}

void hw_plan_release(struct hw_plan *plan)
{
    if (hw_atomic_sub_acq_rel(&plan->holders, 1) > 1)
        return;
    void *twin = hw_atomic_load_acquire(&plan->twin);
    if (twin)
        plan->free_twin(twin);
    hw_shape_arena_free(&plan->arena);
    pthread_mutex_lock(&lock);
    plan->next = ended;
    ended = plan;
    pthread_mutex_unlock(&lock);
}

static size_t bytes_allowed(int64_t size, int64_t span)
{
    int64_t about = span;
    if (size < INT64_MAX / SPARSE_MAX && about > size * SPARSE_MAX)
        about = size * SPARSE_MAX;
    return (about / SPAN_SHARE > PLAN_BYTES_MIN ? (size_t)(about / SPAN_SHARE) : PLAN_BYTES_MIN) +
           PLAN_BYTES_MORE;
}

/* What makes one shape another (FNV). */
struct digest {
    uint64_t value;
    int blocks;
};

static void mix(struct digest *digest, int64_t number)
{
    digest->value = (digest->value ^ (uint64_t)number) * UINT64_C(0x100000001B3);
    digest->value ^= digest->value >> 29;
}

static bool mix_block(void *context, int64_t place, int64_t length)
{
    enum { BLOCKS = 64 }; /* and bounds tell enough of kinds */
    struct digest *digest = context;
    mix(digest, place);
    mix(digest, length);
    return ++digest->blocks < BLOCKS;
}

static uint64_t digest_of(const struct hw_plan *plan)
{
    const struct hw_shape *shape = &plan->shape;
    struct digest digest = {.value = UINT64_C(0xCBF29CE484222325)};
    mix(&digest, plan->extent);
    mix(&digest, shape->size);
    mix(&digest, shape->blocks);
    mix(&digest, shape->highest - shape->lowest);
    hw_shape_visit(shape, -shape->lowest, mix_block, &digest);
    return digest.value;
}

static enum hw_status make(struct hw_plan *plan, MPI_Datatype datatype)
{
    MPI_Count lowest, span, lb, extent;
    if (hw_bottom.Type_get_true_extent_x(datatype, &lowest, &span) != MPI_SUCCESS ||
        hw_bottom.Type_get_extent_x(datatype, &lb, &extent) != MPI_SUCCESS)
        return HW_MPI;
    plan->extent = (int64_t)extent;
    hw_shape_arena_begin(&plan->arena, bytes_allowed((int64_t)hw_real_type_size(datatype), (int64_t)span));
    enum hw_status status = hw_datatype_decode(datatype, &plan->arena, &plan->shape);
    if (status != HW_OK)
        return status;
    plan->is_disjoint = hw_shape_is_disjoint(&plan->shape);
    plan->kind = digest_of(plan);
    return HW_OK;
}

static bool is_contiguous(const struct hw_plan *plan)
{
    const struct hw_shape *shape = &plan->shape;
    return shape->kind == HW_SHAPE_GRID && shape->loops == 0 && shape->length == plan->extent;
}

bool hw_plan_make(struct hw_plan *plan, MPI_Datatype datatype, const char **reason)
{
    int seen = HW_PLAN_SEEN;
    *reason = NULL;
    if (!hw_atomic_compare_exchange_acq_rel(&plan->state, &seen, HW_PLAN_MADE))
        return false;
    if (hw_real_has_device_memory())
        *reason = "packing: the process may pass memory of a device";
    else if (make(plan, datatype) != HW_OK)
        *reason = "packing: a datatype is of a kind, or as irregular, that has no plan";
    else if (!is_contiguous(plan) && plan->shape.size > 0)
        return true;
    hw_plan_decide(plan, false);
    return false;
}

void hw_plan_decide(struct hw_plan *plan, bool is_usable)
{
    if (!is_usable)
        hw_shape_arena_free(&plan->arena);
    hw_atomic_store_release(&plan->state, is_usable ? HW_PLAN_USABLE : HW_PLAN_NONE);
}
