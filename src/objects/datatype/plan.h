/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans of datatypes: for each handle that the program has used for something large, what is known of where
 * its bytes lie. A handle gets an entry when the MPI has accepted it in such a call (so it is valid and
 * committed), and a shape when an engine asks for it. MPI_Type_free ends the entry, since MPIs use handles
 * again; a plan that somebody holds lives on.
 *
 * Any thread. Finding takes no lock. An entry may vanish while its handle is in a call: another thread may
 * free what MPI_Type_get_contents gave it, which is the same handle. So the memory of plans is never given
 * back, only used for another one, and whoever does more than look at size and state holds the plan. */
#ifndef HW_OBJECTS_DATATYPE_PLAN_H
#define HW_OBJECTS_DATATYPE_PLAN_H

#include "base/atomic.h"
#include "base/visibility.h"
#include "objects/datatype/shape.h"
#include "real/real.h"
#include "real/type_size.h"

#include <stdbool.h>
#include <stdint.h>

/* What is known. Only from SEEN to one of the others, once. */
enum hw_plan_state {
    HW_PLAN_SEEN,   /* used once */
    HW_PLAN_MADE,   /* somebody makes the shape, or has made it and not said that it may be used */
    HW_PLAN_USABLE, /* the shape is what the MPI packs */
    HW_PLAN_NONE,   /* no shape, for good */
};

struct hw_plan {
    uintptr_t handle;     /* of the datatype, from the start */
    _Atomic int64_t size; /* MPI_Type_size, likewise: hw_plan_size */
    atomic_uint uses;     /* an engine's, as the next */
    atomic_uint served;
    atomic_int state;      /* enum hw_plan_state; what follows is written before USABLE, released */
    bool is_disjoint;      /* no byte of one twice: it may be received into */
    struct hw_shape shape; /* shape.size is MPI_Type_size */
    int64_t extent;
    uint64_t kind;                 /* the same of equal shapes and extents, of whatever handle */
    _Atomic(void *) twin;          /* an engine's, of this very datatype */
    void (*free_twin)(void *twin); /* if there is one */
    _Atomic(void *) learnt;        /* an engine's, about this kind; not owned */
    atomic_uint holders;           /* the entry is one; 0: it is of no datatype */
    struct hw_shape_arena arena;
    struct hw_plan *next; /* of those that are of none */
};

/* A table of handles, each within a few places of where it belongs. Handle 0: none. */
enum { HW_PLAN_TABLE = 2048, HW_PLAN_REACH = 8 };
struct hw_plan_slot {
    atomic_uintptr_t handle; /* written last when it comes, first when it goes */
    _Atomic(struct hw_plan *) plan;
};
extern HW_HIDDEN struct hw_plan_slot hw_plan_slots[HW_PLAN_TABLE + HW_PLAN_REACH];
extern HW_HIDDEN atomic_uint hw_plan_count; /* entries */

static inline size_t hw_plan_home(uintptr_t handle)
{
    /* Handles are numbers in a row, or addresses of equal objects. */
    return (size_t)(((uint64_t)handle * UINT64_C(0x9E3779B97F4A7C15)) >> 53);
}

/* The entry of a handle; NULL: none. It may be another datatype's by the next instruction: only for a guess
 * by size and state which way a call goes. */
static inline struct hw_plan *hw_plan_find(MPI_Datatype datatype)
{
    uintptr_t handle = (uintptr_t)datatype;
    struct hw_plan_slot *slot = &hw_plan_slots[hw_plan_home(handle)];
    for (int i = 0; i < HW_PLAN_REACH; i++)
        if (hw_atomic_load_acquire(&slot[i].handle) == handle)
            return hw_atomic_load_acquire(&slot[i].plan);
    return NULL;
}

static inline int64_t hw_plan_size(const struct hw_plan *plan) { return hw_atomic_load_relaxed(&plan->size); }

static inline enum hw_plan_state hw_plan_state(struct hw_plan *plan)
{
    return (enum hw_plan_state)hw_atomic_load_acquire(&plan->state);
}

/* True if the datatype has no plan for good. */
static inline bool hw_plan_is_none(MPI_Datatype datatype)
{
    struct hw_plan *plan = hw_plan_find(datatype);
    return plan && hw_plan_state(plan) == HW_PLAN_NONE;
}

/* The plan of a handle that is in a call of the program's, held: hw_plan_release. NULL: there is none. */
struct hw_plan *hw_plan_take(MPI_Datatype datatype);

/* Makes an entry, in state SEEN, of a derived datatype that an MPI call has just accepted, if there is room.
 * After a call that waits only within hw_real_type_hold. */
void hw_plan_note(MPI_Datatype datatype);

/* Makes the shape. True: the caller, and nobody else, now says whether it may be used. False: somebody else
 * is at it, or there is none; *reason says why then, for the record. */
bool hw_plan_make(struct hw_plan *plan, MPI_Datatype datatype, const char **reason);
void hw_plan_decide(struct hw_plan *plan, bool is_usable);

/* Before MPI ends: ends all entries. */
void hw_plan_forget_all(void);

/* Before MPI_Type_free; `datatype` may be anything that a program passes there. */
void hw_plan_drop(MPI_Datatype datatype);
static inline void hw_plan_forget(const MPI_Datatype *datatype)
{
    if (datatype == NULL)
        return;
    hw_real_type_forget(*datatype);
    if (hw_atomic_load_relaxed(&hw_plan_count) > 0)
        hw_plan_drop(*datatype);
}

/* Once more, for what outlasts the call. */
static inline void hw_plan_hold(struct hw_plan *plan) { hw_atomic_add_relaxed(&plan->holders, 1); }
void hw_plan_release(struct hw_plan *plan);

/* Copies bytes from..to of what `count` of the datatype pack; shape.h. */
static inline void hw_plan_copy(const struct hw_plan *plan, int64_t count, enum hw_shape_direction direction,
                                uintptr_t address, struct hw_shape_range range, char *packed)
{
    hw_shape_copy(&plan->shape, count, plan->extent, direction, address, range, packed);
}

#endif
