/* SPDX-License-Identifier: BSD-3-Clause */
/* One target, several ghosts of its node (papers/004 section III.B, papers/002 section 3).
 *
 * Accumulates to one location go through one ghost, or they would not be atomic and ordered. Which one is the
 * binding: the target's own (rank), or the one to which that part of the node's memory is given (segment),
 * cut at multiples of a page, so that no aligned element lies in two. An accumulate that reaches into two
 * segments is made in pieces (pieces.h). Put and Get are neither ordered nor atomic (MPI-4.1 section 12.7.1):
 * each may go to any ghost of the node, which is the balance; an epoch's end then flushes all that were used.
 *
 * Only where a node has several ghosts and an option asks for it; a window has none of this otherwise. */
#ifndef HW_ENGINES_RMA_WINDOW_SPREAD_H
#define HW_ENGINES_RMA_WINDOW_SPREAD_H

#include "base/options.h"
#include "engines/rma/window/window.h"

/* A node's ghosts, as ranks in the window, and its memory divided between them. */
struct hw_rma_span {
    int first, count;
    MPI_Aint segment_bytes;
};

/* Any thread of this process; the arrays relaxed. */
struct hw_rma_spread {
    enum hw_option_ghost_binding binding; /* the same at all members */
    enum hw_option_ghost_balance balance;
    struct hw_rma_span *spans; /* by node */
    _Atomic uint64_t *loads;   /* by ghost: operations or bytes of this process, as the balance counts */
    _Atomic uint64_t dice;
};

/* Gives the window what it needs if any of its nodes has several ghosts and the options want them used.
 * `node_bytes`: of the window's memory, by node. False: no memory. */
bool hw_rma_spread_make(struct hw_rma_window *window, enum hw_option_ghost_binding binding,
                        const MPI_Aint *node_bytes);
void hw_rma_spread_free(struct hw_rma_window *window);

/* Whose segment a place in the node's memory is, as a rank in the window. */
static inline int hw_rma_span_ghost(const struct hw_rma_span *span, MPI_Aint place)
{
    MPI_Aint index = place < 0 ? 0 : place / span->segment_bytes;
    return span->first + (index < span->count ? (int)index : span->count - 1);
}

static inline const struct hw_rma_span *hw_rma_spread_span(const struct hw_rma_window *window,
                                                           const struct hw_rma_target *target)
{
    return &window->spread->spans[target->node];
}

/* Of a ghost of the target's node. */
struct hw_ghost_bell *hw_rma_spread_bell(const struct hw_rma_window *window,
                                         const struct hw_rma_target *target, int ghost);

#endif
