/* SPDX-License-Identifier: BSD-3-Clause */
/* Where an accumulate asks its target several times before its call returns (Open MPI's osc/rdma), the ghost
 * must look all that time. Within a node nothing else would wake it between two requests: shared memory has
 * no descriptor to sleep on, and the bell was rung before the first one. */
#ifndef HW_ENGINES_RMA_OPERATION_AWAIT_H
#define HW_ENGINES_RMA_OPERATION_AWAIT_H

#include "engines/rma/window/facts.h"
#include "engines/rma/window/spread.h"
#include "engines/rma/window/window.h"
#include "ghost/bell.h"

/* The bell of the ghost by which an operation on the program's `target` goes, as rank `rank` of the window
 * `on`. NULL: that is no ghost, or one of another node. */
static inline struct hw_ghost_bell *hw_rma_await_bell(const struct hw_rma_window *window, int target,
                                                      MPI_Win on, int rank)
{
    bool is_ghost = on == window->win && (unsigned)rank < (unsigned)window->ghost_count;
    if (!is_ghost || (unsigned)target >= (unsigned)window->size)
        return NULL;
    const struct hw_rma_target *place = &window->targets[target];
    return window->spread ? hw_rma_spread_bell(window, place, rank) : place->bell;
}

/* The value of `call`, the real call of an accumulate. The ghost with this bell (which is not looked for
 * where such calls only post) is awaited all that time. Threads of the program, in a hook. */
#define HW_RMA_AWAITED(bell, call)                                                                           \
    ({                                                                                                       \
        struct hw_ghost_bell *hw_awaited = hw_rma_accumulates_wait ? (bell) : NULL;                          \
        hw_ghost_bell_wait_begin(hw_awaited);                                                                \
        int hw_result = (call);                                                                              \
        hw_ghost_bell_wait_end(hw_awaited);                                                                  \
        hw_result;                                                                                           \
    })

#endif
