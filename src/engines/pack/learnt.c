/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/pack/learnt.h"

#include "engines/engine.h"
#include "profile/record/counters.h"

#include <pthread.h>
#include <stdlib.h>

_Static_assert((int)HW_PACK_BYTES_MIN == HW_ENGINES_PACK_BYTES, "entries see to it too");

enum { KINDS_MAX = 512, SIZES = HW_PACK_LOG_MAX - HW_PACK_LOG_MIN + 1, DIRECTIONS = 2 };

struct kind {
    uint64_t kind;
    int64_t bytes, blocks, extent; /* of one datatype */
    struct hw_pack_class classes[DIRECTIONS][SIZES];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static HW_SPARSE struct kind *kinds[KINDS_MAX]; /* under the lock; found through plans otherwise */
static int kind_count;

/* Stands in a plan for the kind for which there was no room, so that nobody looks for it at each message. */
static char no_room;

static void describe_classes(struct kind *kind)
{
    for (int direction = 0; direction < DIRECTIONS; direction++)
        for (int size = 0; size < SIZES; size++) {
            struct hw_packing_class *tried = &kind->classes[direction][size].tried;
            tried->type_bytes = kind->bytes;
            tried->type_blocks = kind->blocks;
            tried->type_extent = kind->extent;
            tried->is_receive = direction == 1;
        }
}

/* Of the plan's kind, made if there is none; or no_room. */
static void *find_kind(struct hw_plan *plan)
{
    struct kind *found = NULL;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < kind_count && !found; i++)
        if (kinds[i]->kind == plan->kind)
            found = kinds[i];
    if (!found && kind_count < KINDS_MAX && (found = calloc(1, sizeof *found)) != NULL) {
        found->kind = plan->kind;
        found->bytes = plan->shape.size;
        found->blocks = plan->shape.blocks;
        found->extent = plan->extent;
        describe_classes(found);
        kinds[kind_count++] = found;
    }
    pthread_mutex_unlock(&lock);
    void *learnt = found ? (void *)found : &no_room;
    hw_atomic_store_release(&plan->learnt, learnt);
    return learnt;
}

struct hw_pack_class *hw_pack_class_find(struct hw_plan *plan, enum hw_shape_direction direction,
                                         int64_t bytes)
{
    void *learnt = hw_atomic_load_acquire(&plan->learnt);
    if (learnt == NULL)
        learnt = find_kind(plan);
    if (learnt == &no_room)
        return NULL;
    struct kind *kind = learnt;
    enum { BITS = 63 };
    int power = BITS - __builtin_clzll((unsigned long long)bytes);
    power = power < HW_PACK_LOG_MAX ? power : HW_PACK_LOG_MAX;
    return &kind->classes[direction == HW_SHAPE_UNPACK][power - HW_PACK_LOG_MIN];
}

enum { UNPAID_EACH = 8, DOUBLED_MAX = 9, PAID_BY = 64 };
static atomic_uint unpaid; /* plans */

unsigned hw_pack_uses_before_plan(unsigned first)
{
    unsigned doubled = hw_atomic_load_relaxed(&unpaid) / UNPAID_EACH;
    return first << (doubled < DOUBLED_MAX ? doubled : DOUBLED_MAX);
}

void hw_pack_plan_made(struct hw_plan *plan, bool is_paid)
{
    hw_atomic_store_relaxed(&plan->served, is_paid ? PAID_BY : 0);
    if (!is_paid)
        hw_atomic_add_relaxed(&unpaid, 1);
}

void hw_pack_plan_serves(struct hw_plan *plan)
{
    if (hw_atomic_load_relaxed(&plan->served) < PAID_BY &&
        hw_atomic_add_relaxed(&plan->served, 1) == PAID_BY - 1)
        hw_atomic_sub_relaxed(&unpaid, 1);
}

bool hw_pack_class_take(struct hw_pack_class *of, enum hw_choice_way *way)
{
    if (hw_atomic_exchange_acquire(&of->is_taken, true))
        return false;
    *way = hw_choice_next(&of->choice);
    return true;
}

void hw_pack_class_learn(struct hw_pack_class *of, enum hw_choice_way way, uint64_t took_ns)
{
    uint32_t left = hw_choice_learn(&of->choice, way, took_ns);
    hw_atomic_store_relaxed(&of->way, of->choice.way);
    hw_atomic_store_relaxed(&of->left, left);
    hw_atomic_store_release(&of->is_taken, false);
}

/* Of each class, in no order. */
typedef void class_visitor(const struct kind *kind, int direction, int size, void *context);

static void each_class(class_visitor *visit, void *context)
{
    pthread_mutex_lock(&lock);
    for (int i = 0; i < kind_count; i++)
        for (int direction = 0; direction < DIRECTIONS; direction++)
            for (int size = 0; size < SIZES; size++)
                visit(kinds[i], direction, size, context);
    pthread_mutex_unlock(&lock);
}

static void count(const struct kind *kind, int direction, int size, void *context)
{
    const struct hw_pack_class *of = &kind->classes[direction][size];
    uint64_t calls = hw_atomic_load_relaxed(&of->calls);
    bool *is_any = context;
    HW_COUNT_ADD(packed_calls, calls);
    HW_COUNT_ADD(packed_bytes, hw_atomic_load_relaxed(&of->bytes));
    HW_COUNT_ADD(packed_won_ns, calls * hw_choice_won_ns(&of->choice));
    *is_any |= calls || of->choice.looks;
}

static void add(const struct kind *kind, int direction, int size, void *list)
{
    static const char *const ways[] = {[HW_CHOICE_MPI] = "MPI", [HW_CHOICE_OURS] = "Headway"};
    const struct hw_pack_class *of = &kind->classes[direction][size];
    uint64_t calls = hw_atomic_load_relaxed(&of->calls);
    if (calls == 0 && of->choice.looks == 0)
        return;
    bool is_forced = of->choice.looks == 0;
    const struct hw_record_packing packing = {
        .call = direction ? "MPI_Unpack" : "MPI_Pack",
        .type_bytes = kind->bytes,
        .type_blocks = kind->blocks,
        .type_extent = kind->extent,
        .size_class = size + HW_PACK_LOG_MIN + 1,
        .way = is_forced               ? "Headway"
               : of->choice.is_settled ? ways[of->choice.way]
                                       : "trying",
        .mpi_ns = of->choice.ns[HW_CHOICE_MPI],
        .headway_ns = of->choice.ns[HW_CHOICE_OURS],
        .calls = calls,
        .bytes = hw_atomic_load_relaxed(&of->bytes),
    };
    hw_record_add_packing(list, &packing);
}

static void write_all(struct hw_record_list *list, const void *unused)
{
    (void)unused;
    each_class(add, list);
}

void hw_pack_learnt_describe(struct hw_record_facts *facts)
{
    bool is_any = false;
    hw_atomic_store_relaxed(&hw_counters.packed_calls, 0); /* engines may be stopped more than once */
    hw_atomic_store_relaxed(&hw_counters.packed_bytes, 0);
    hw_atomic_store_relaxed(&hw_counters.packed_won_ns, 0);
    each_class(count, &is_any);
    if (is_any)
        facts->packing.write = write_all;
}
