/* SPDX-License-Identifier: BSD-3-Clause */
/* Call paths: who called the function that called MPI (HEADWAY_PATHS).
 *
 * A path is a chain of nodes, from the program's own return address upwards; it stands for the call's address
 * wherever one does (sites.c), so that each path is a call site of its own.
 *
 * The stack is unwound when a node is new. Where the next return address lay then is remembered: the frame of
 * one call has one size, so that it lies there the next time, and a known path is found by a few reads of the
 * stack. Now and then, ever more seldom, it is unwound again to see that this holds. A frame whose size
 * varies is unwound each time, as long as all unwinding takes no more than a hundredth of the run; after that
 * its paths end there.
 *
 * Frames of the MPI's own layers (Fortran) are passed over. Calls from an extension module of Python have
 * frames of Python. Any thread may call. */
#ifndef HW_PROFILE_CALLERS_PATHS_H
#define HW_PROFILE_CALLERS_PATHS_H

#include "base/visibility.h"

#include <stdbool.h>

enum { HW_PATHS_MOST = 8 };

/* Frames of a path; 1: calls have no path. Set once, at the start. */
extern HW_HIDDEN int hw_paths_depth;
void hw_paths_set_depth(int depth);

/* The path of a call that returns to `site`, which is what lies on the stack right below `frame`; where it is
 * not known, what hw_callers_find gives. */
const void *hw_paths_find(const void *site, const void *frame);

/* Whether an address is such a path. */
bool hw_paths_is(const void *address);

/* Of a path: the address of the call itself, and those above it in `callers` (HW_PATHS_MOST of them at most),
 * the nearest first. Returns how many. Another address has none. */
int hw_paths_of(const void *path, const void **own, const void *callers[HW_PATHS_MOST]);

#endif
