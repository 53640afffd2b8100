/* SPDX-License-Identifier: BSD-3-Clause */
/* Where all members of a window meet with nothing outstanding on it they agree on the route of its
 * accumulates (route.h), and of all that the program says: in MPI_Win_fence, and in MPI_Win_set_info with
 * symmetric=true. doc/adr/0041. User processes, inside a hook. */
#ifndef HW_ENGINES_RMA_WINDOW_AGREE_H
#define HW_ENGINES_RMA_WINDOW_AGREE_H

#include "engines/rma/window/window.h"

#include <stdbool.h>
#include <stdint.h>

/* A barrier of the members of a window whose routes may change. They change if all are SYMMETRIC, which says
 * that all are at the same point of the program, and nobody has anything outstanding. Returns an MPI error
 * code, not raised. */
int hw_rma_agree(struct hw_rma_window *window, bool is_symmetric);

/* The same of several windows of the same members, all of which are here. COUNT: from 1 on. PARTS: members
 * met last so many times as long ago as they will meet again after a change of routes; 1: both are alike.
 * Sets IS_CHANGED, alike at all members, to whether a route has changed. */
enum { HW_RMA_AGREE_MAX = 8 };
int hw_rma_agree_several(struct hw_rma_window *const *windows, int count, int parts, bool *is_changed);

#endif
