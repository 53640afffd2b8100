/* SPDX-License-Identifier: BSD-3-Clause */
/* Ghosts for one-sided communication (Casper: papers/002 section 3, papers/004 section III).
 *
 * The memory of a redirected window is shared by its user processes and the ghosts of their node. Its shadow
 * window is a real one over user processes and ghosts, common to most windows (common.h) or its own, on which
 * every user process keeps a passive epoch open from beginning to end; an operation on a target is the same
 * operation on the target's ghost, at the target's place in the node's memory. The program's epochs (fence,
 * PSCW, locks) are kept by us: fences are barriers, PSCW are messages, locks are kept by the target's ghost.
 * doc/adr/0007.
 *
 * Its rooms: window, epoch, operation, ghost (doc/adr/0024). */
#ifndef HW_ENGINES_RMA_RMA_H
#define HW_ENGINES_RMA_RMA_H

#include "engines/engine.h"

extern const struct hw_engine hw_engine_rma;

/* In every process, where there are to be ghosts, before the real MPI_Init*: adds the service of ghosts
 * (ghost/service.h). */
void hw_rma_prepare(void);

#endif
