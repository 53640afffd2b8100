/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/rma/operation/spread_choose.h"

#include "base/atomic.h"
#include "base/dice.h"
#include "engines/rma/window/spread.h"
#include "ghost/bell.h"
#include "profile/record/counters.h"
#include "real/constants.h"
#include "real/type_size.h"

void hw_rma_spread_use(struct hw_rma_window *window, const struct hw_rma_target *target, int ghost,
                       uint64_t bytes)
{
    struct hw_rma_spread *spread = window->spread;
    uint64_t amount = spread->balance == HW_OPTION_GHOST_BALANCE_BYTES ? bytes : 1;
    hw_atomic_store_relaxed(&spread->loads[ghost], hw_atomic_load_relaxed(&spread->loads[ghost]) + amount);
    hw_rma_note_ghost(window, ghost);
    if (ghost != target->ghost)
        HW_COUNT(operations_spread);
    hw_ghost_bell_ring(hw_rma_spread_bell(window, target, ghost));
}

/* To a ghost of the target's node, for what may go to any; `own`: where it goes without balance. */
static int balance(struct hw_rma_spread *spread, const struct hw_rma_span *span, int own)
{
    if (spread->balance == HW_OPTION_GHOST_BALANCE_OFF)
        return own;
    if (spread->balance == HW_OPTION_GHOST_BALANCE_RANDOM)
        return span->first + (int)(((hw_dice_roll(&spread->dice) >> 32) * (uint64_t)span->count) >> 32);
    int best = own;
    for (int ghost = span->first; ghost < span->first + span->count; ghost++)
        if (hw_atomic_load_relaxed(&spread->loads[ghost]) < hw_atomic_load_relaxed(&spread->loads[best]))
            best = ghost;
    return best;
}

/* The ghost whose segment holds the operation, or HW_RMA_SEVERAL. What has no extent, and what the real call
 * refuses, goes where it begins. */
static int find_segment(const struct hw_rma_span *span, MPI_Aint disp, MPI_Count count, MPI_Datatype datatype)
{
    MPI_Count lb, extent, true_lb, true_extent;
    if (count <= 0 || datatype == HW_DATATYPE_NULL || hw_real_type_size(datatype) == 0 ||
        hw_bottom.Type_get_extent_x(datatype, &lb, &extent) != MPI_SUCCESS ||
        hw_bottom.Type_get_true_extent_x(datatype, &true_lb, &true_extent) != MPI_SUCCESS)
        return hw_rma_span_ghost(span, disp);
    MPI_Count step = extent * (count - 1);
    MPI_Aint first = disp + (MPI_Aint)(true_lb + (step < 0 ? step : 0));
    MPI_Aint last = disp + (MPI_Aint)(true_lb + true_extent + (step > 0 ? step : 0)) - 1;
    int ghost = hw_rma_span_ghost(span, first);
    return ghost == hw_rma_span_ghost(span, last) ? ghost : HW_RMA_SEVERAL;
}

int hw_rma_spread_choose(struct hw_rma_window *window, const struct hw_rma_target *target, MPI_Aint disp,
                         const struct hw_rma_shape *shape)
{
    struct hw_rma_spread *spread = window->spread;
    const struct hw_rma_span *span = hw_rma_spread_span(window, target);
    bool is_segment = spread->binding == HW_OPTION_GHOST_BINDING_SEGMENT;
    int ghost = target->ghost;
    if (shape->class == HW_RMA_ACCUMULATE && is_segment)
        ghost = find_segment(span, disp, shape->count, shape->datatype);
    else if (is_segment)
        ghost = hw_rma_span_ghost(span, disp);
    if (shape->class == HW_RMA_PUT || shape->class == HW_RMA_GET)
        ghost = balance(spread, span, ghost);
    if (ghost == HW_RMA_SEVERAL)
        return ghost;
    bool is_counted = spread->balance == HW_OPTION_GHOST_BALANCE_BYTES && shape->count > 0 &&
                      shape->datatype != HW_DATATYPE_NULL;
    hw_rma_spread_use(window, target, ghost,
                      is_counted ? (uint64_t)shape->count * hw_real_type_size(shape->datatype) : 0);
    return ghost;
}
