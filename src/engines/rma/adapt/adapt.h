/* SPDX-License-Identifier: BSD-3-Clause */
/* Which route operations on a window take (window/route.h), as HEADWAY_ADAPT says: by the share of time that
 * targets are inside MPI (local, global: ghost/rates.h), or by what operations cost (auto: measure.h). What
 * the program itself says goes before all of it. doc/adr/0042.
 *
 * Put and Get are this process's own decision. Accumulates take the route that the members' proposals have in
 * sum (window/agree.h). A window that several threads use is left as it began. User processes, inside a hook.
 */
#ifndef HW_ENGINES_RMA_ADAPT_ADAPT_H
#define HW_ENGINES_RMA_ADAPT_ADAPT_H

#include "engines/rma/adapt/measure.h"
#include "engines/rma/window/window.h"

#include <stdint.h>

/* In MPI_Init*, before any window. */
void hw_rma_adapt_open(void);

/* Whether routes of this window go by what operations cost. */
bool hw_rma_adapt_measures(const struct hw_rma_window *window);

/* After a flush: what others have found meanwhile is taken over. */
void hw_rma_adapt_follow(struct hw_rma_window *window);

/* At the end of a job: one line of what was in force, and why. */
void hw_rma_adapt_tell(void);

#endif
