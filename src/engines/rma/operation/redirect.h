/* SPDX-License-Identifier: BSD-3-Clause */
/* The step every operation on a redirected window takes: its target becomes the target's ghost, or the target
 * itself as a member of the shadow window (window/route.h). */
#ifndef HW_ENGINES_RMA_OPERATION_REDIRECT_H
#define HW_ENGINES_RMA_OPERATION_REDIRECT_H

#include "base/atomic.h"
#include "engines/rma/epoch/lock.h"
#include "engines/rma/epoch/owed.h"
#include "engines/rma/operation/dynamic_choose.h"
#include "engines/rma/operation/shape.h"
#include "engines/rma/operation/spread_choose.h"
#include "engines/rma/window/window.h"
#include "ghost/bell.h"
#include "profile/record/counters.h"
#include "real/constants.h"

/* Whether the target's memory is reached from here: then near.h has the operation, if it can. */
static inline bool hw_rma_is_near(const struct hw_rma_window *window, int rank)
{
    return (unsigned)rank < (unsigned)window->size && window->targets[rank].memory != NULL;
}

static inline void hw_rma_choose_ghost(struct hw_rma_window *window, const struct hw_rma_target *target,
                                       int *rank, MPI_Aint disp, const struct hw_rma_shape *shape)
{
    if (__builtin_expect(window->spread != NULL, 0)) {
        *rank = hw_rma_spread_choose(window, target, disp, shape);
    } else {
        hw_ghost_bell_ring(target->bell);
        hw_rma_note_ghost(window, target->ghost);
        *rank = target->ghost;
    }
}

static inline enum hw_rma_route
hw_rma_choose_route(struct hw_rma_window *window, const struct hw_rma_target *target, enum hw_rma_class class)
{
    if (class == HW_RMA_ACCUMULATE || class == HW_RMA_SINGLE)
        return (enum hw_rma_route)hw_atomic_load_relaxed(&window->routes.accumulate);
    uint32_t route = hw_atomic_load_relaxed(&target->route);
    return __builtin_expect(route != HW_RMA_ROUTE_DRAWN, 1)
               ? (enum hw_rma_route)route
               : (enum hw_rma_route)(hw_rma_route_draw(window) & 1);
}

/* The operation goes to the target itself. */
static inline void hw_rma_go_to_owner(struct hw_rma_window *window, struct hw_rma_target *target,
                                      MPI_Win *win, int *rank, MPI_Aint *disp, enum hw_rma_class class)
{
    *win = window->win;
    *disp = target->owner.offset + *disp * target->owner.unit;
    *rank = target->owner.rank;
    hw_rma_owed_before_going_to(*rank);
    if (class == HW_RMA_PUT)
        hw_atomic_store_relaxed(&target->owner.has_puts, 1);
    hw_atomic_store_relaxed(&target->owner.dirty, hw_atomic_load_relaxed(&window->generation));
    hw_atomic_store_relaxed(&window->routes.has_ops, 1);
    hw_atomic_store_relaxed(&window->has_ops, 1);
    hw_atomic_store_relaxed(&window->has_unready, 1);
    HW_COUNT(operations_to_owners);
}

/* Turns the target of an operation into its ghost, or its owner. MPI_SUCCESS: make the real call, or with
 * HW_RMA_SEVERAL the pieces (pieces.h). MPI_PROC_NULL and wrong ranks are left to it. */
static inline int hw_rma_redirect(struct hw_rma_window *window, MPI_Win *win, int *rank, MPI_Aint *disp,
                                  const struct hw_rma_shape *shape)
{
    int target_rank = *rank;
    if (__builtin_expect((unsigned)target_rank >= (unsigned)window->size, 0)) {
        if (target_rank != HW_PROC_NULL)
            *rank = HW_RMA_BAD_RANK;
        return MPI_SUCCESS;
    }
    /* What lies before this target's memory in the shadow window is somebody else's. */
    if (__builtin_expect(*disp < 0 && window->dynamic == NULL, 0))
        return hw_rma_raise(window, MPI_ERR_DISP);
    struct hw_rma_target *target = &window->targets[target_rank];
    if (!hw_atomic_load_relaxed(&window->is_open) &&
        __builtin_expect(hw_atomic_load_relaxed(&target->access) == HW_RMA_ACCESS_NONE, 0)) {
        int rc = hw_rma_open_target(window, target_rank);
        if (rc != MPI_SUCCESS)
            return rc;
    }
    if (__builtin_expect(hw_rma_choose_route(window, target, shape->class) == HW_RMA_ROUTE_OWNER, 0)) {
        hw_rma_go_to_owner(window, target, win, rank, disp, shape->class);
        return MPI_SUCCESS;
    }
    if (__builtin_expect(window->dynamic != NULL, 0)) {
        if (!hw_rma_dynamic_choose(window, win, rank, disp, shape))
            return MPI_SUCCESS;
    } else {
        *win = window->win;
        *disp = target->offset + *disp * target->disp_unit;
        hw_rma_choose_ghost(window, target, rank, *disp, shape);
        hw_rma_owed_before_going_to(*rank);
    }
    /* Completion of a Put at the ghost may need more than a flush. */
    if (shape->class == HW_RMA_PUT)
        hw_atomic_store_relaxed(&window->sent[*rank].has_puts, 1);
    else if (shape->class != HW_RMA_GET)
        hw_atomic_store_relaxed(&target->has_accumulates, 1);
    hw_atomic_store_relaxed(&target->dirty, hw_atomic_load_relaxed(&window->generation));
    hw_atomic_store_relaxed(&window->has_ops, 1);
    hw_atomic_store_relaxed(&window->has_unready, 1);
    hw_atomic_store_relaxed(&window->op_count, hw_atomic_load_relaxed(&window->op_count) + 1);
    return MPI_SUCCESS;
}

#endif
