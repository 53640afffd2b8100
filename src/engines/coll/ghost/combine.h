/* SPDX-License-Identifier: BSD-3-Clause */
/* Combines numbers of a reduction, element by element, so that the order of combination does not show. Pure.
 */
#ifndef HW_ENGINES_COLL_GHOST_COMBINE_H
#define HW_ENGINES_COLL_GHOST_COMBINE_H

#include "real/reduction.h"

#include <stddef.h>
#include <stdint.h>

/* `into` becomes what both make together: `bytes` of whole elements, aligned, one of the reductions that
 * there are. Integers wrap round. Of floating-point numbers one that is none stays, and -0 is less than 0. */
void hw_coll_combine(const struct hw_real_reduction *reduction, void *into, const void *from, uint64_t bytes);

#endif
