/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/rma/operation/dynamic_choose.h"

#include "base/atomic.h"
#include "engines/rma/window/dynamic.h"
#include "engines/rma/window/facts.h"
#include "ghost/bell.h"
#include "profile/record/counters.h"
#include "real/constants.h"
#include "real/type_size.h"

static bool is_in_range(const struct hw_rma_dynamic_part *part, MPI_Aint address)
{
    return (uint64_t)address - (uint64_t)part->base < (uint64_t)part->bytes;
}

enum hw_rma_dynamic_owner hw_rma_dynamic_owner(const struct hw_rma_window *window, int target_rank,
                                               MPI_Aint address)
{
    return is_in_range(&window->dynamic->parts[target_rank], address) ? HW_RMA_OF_GHOST : HW_RMA_OF_TARGET;
}

void hw_rma_dynamic_use(struct hw_rma_window *window, int target_rank, enum hw_rma_class class)
{
    struct hw_rma_dynamic_part *part = &window->dynamic->parts[target_rank];
    if (class == HW_RMA_PUT)
        hw_atomic_store_relaxed(&part->has_put, 1);
    hw_atomic_store_relaxed(&part->dirty, hw_atomic_load_relaxed(&window->generation));
    hw_atomic_store_relaxed(&window->dynamic->has_ops, 1);
    hw_atomic_store_relaxed(&window->dynamic->has_unready, 1);
    HW_COUNT(operations_direct);
}

/* HW_RMA_OWNERS: of both. What is next to each other cannot be (hw_arena_reserve), so of the datatypes that
 * are known at a glance the address is enough. */
static enum hw_rma_dynamic_owner find_owner(const struct hw_rma_dynamic_part *part, MPI_Aint disp,
                                            const struct hw_rma_shape *shape)
{
    uint64_t size;
    MPI_Count lb, extent, true_lb, true_extent;
    bool is_begin_inside = is_in_range(part, disp);
    if (part->bytes == 0 || shape->count <= 0 || shape->datatype == HW_DATATYPE_NULL)
        return HW_RMA_OF_TARGET;
    if (shape->class == HW_RMA_SINGLE || hw_real_type_is_basic(shape->datatype, &size))
        return is_begin_inside ? HW_RMA_OF_GHOST : HW_RMA_OF_TARGET;
    /* The ghost's window is of another kind than the program's. */
    if (hw_rma_gets_end_early && shape->class == HW_RMA_GET && shape->has_request)
        return HW_RMA_OF_TARGET;
    if (hw_bottom.Type_get_extent_x(shape->datatype, &lb, &extent) != MPI_SUCCESS ||
        hw_bottom.Type_get_true_extent_x(shape->datatype, &true_lb, &true_extent) != MPI_SUCCESS ||
        true_extent <= 0)
        return HW_RMA_OF_TARGET;
    MPI_Count step = extent * (shape->count - 1);
    MPI_Aint first = disp + (MPI_Aint)(true_lb + (step < 0 ? step : 0));
    MPI_Aint last = disp + (MPI_Aint)(true_lb + true_extent + (step > 0 ? step : 0)) - 1;
    if (is_in_range(part, first) && is_in_range(part, last))
        return HW_RMA_OF_GHOST;
    return last < part->base || first >= part->base + part->bytes ? HW_RMA_OF_TARGET : HW_RMA_OWNERS;
}

bool hw_rma_dynamic_choose(struct hw_rma_window *window, MPI_Win *win, int *rank, MPI_Aint *disp,
                           const struct hw_rma_shape *shape)
{
    struct hw_rma_target *target = &window->targets[*rank];
    enum hw_rma_dynamic_owner owner = find_owner(&window->dynamic->parts[*rank], *disp, shape);
    if (owner == HW_RMA_OF_GHOST && *disp + target->offset < 0)
        owner = HW_RMA_OWNERS; /* a datatype of absolute addresses; pieces.c makes another of it */
    /* Such Put and Get go to the target, who has all of it attached: they have no order or atomicity that
     * another path could break (MPI-4.1 section 12.7.2). */
    if (owner == HW_RMA_OF_TARGET || (owner == HW_RMA_OWNERS && shape->class != HW_RMA_ACCUMULATE)) {
        /* What puts nothing needs no confirmation, for which the target must have attached something. */
        hw_rma_dynamic_use(window, *rank, shape->count > 0 ? shape->class : HW_RMA_GET);
        *rank = hw_rma_dynamic_rank(window, *rank);
        return false;
    }
    hw_ghost_bell_ring(target->bell);
    hw_rma_note_ghost(window, target->ghost);
    if (owner == HW_RMA_OWNERS) {
        hw_rma_dynamic_use(window, *rank, shape->class);
        *rank = HW_RMA_SEVERAL;
        return true;
    }
    *disp += target->offset;
    *rank = target->ghost;
    *win = window->win;
    return true;
}
