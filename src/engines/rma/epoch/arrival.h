/* SPDX-License-Identifier: BSD-3-Clause */
/* When operations on a ghost, or on an owner, are complete: at their origin, or at the target. Any thread of
 * a user process, inside a hook; codes of MPI errors are already raised. */
#ifndef HW_ENGINES_RMA_EPOCH_ARRIVAL_H
#define HW_ENGINES_RMA_EPOCH_ARRIVAL_H

#include "engines/rma/window/window.h"
#include "ghost/bell.h"

/* UNCONFIRMED: at the target, but for the confirmation of Puts (owed.h). */
enum hw_rma_completion { HW_RMA_LOCALLY, HW_RMA_AT_TARGET, HW_RMA_UNCONFIRMED };

/* Before a flush of GHOST, a rank in the window: what makes that flush tell of Puts too. */
int hw_rma_arrival_confirm(struct hw_rma_window *window, int ghost);

/* Flushes GHOST. `bell`: its own, if it is on this node, which is rung. */
int hw_rma_arrival_flush(struct hw_rma_window *window, int ghost, struct hw_ghost_bell *bell,
                         enum hw_rma_completion how);

/* Before a flush of all targets: the same of what was put to the owners of targets (window/route.h). */
int hw_rma_arrival_confirm_owners(struct hw_rma_window *window);

/* Flushes what went to TARGET by ROUTE, where one ghost serves it. */
int hw_rma_arrival_flush_route(struct hw_rma_window *window, struct hw_rma_target *target,
                               enum hw_rma_route route, enum hw_rma_completion how);

#endif
