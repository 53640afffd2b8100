/* SPDX-License-Identifier: BSD-3-Clause */
/* What happens to the routes of a window (route.h) that change by themselves, at moments of its life: adapt/,
 * a room after this one, sets it. User processes, inside a hook. */
#ifndef HW_ENGINES_RMA_WINDOW_ADAPTING_H
#define HW_ENGINES_RMA_WINDOW_ADAPTING_H

#include "base/visibility.h"
#include "engines/rma/window/route.h"

#include <stdint.h>

struct hw_rma_adapting {
    /* Once a window is made, before its first operation; without memory its routes stay as they began. */
    void (*make)(struct hw_rma_window *window);
    void (*free)(struct hw_rma_window *window);

    /* Nanoseconds that this process believes the ghosts' route of accumulates to save it against the owners';
     * less than 0: to cost it. The sum over all members decides where the program has not said which; 0: as
     * it is. */
    int64_t (*propose)(struct hw_rma_window *window);

    /* Before a window is made: the same of one operation, as other windows of this process have shown it. 0:
     * nothing is known. */
    int64_t (*foresee)(void);

    /* After members have agreed; the route of accumulates is what they agreed upon, BEFORE what it was. PARTS
     * as in hw_rma_agree_several(). */
    void (*agreed)(struct hw_rma_window *window, enum hw_rma_route before, int parts);
};

/* NULL: no route changes by itself. Written in MPI_Init*, before any window. */
extern HW_HIDDEN const struct hw_rma_adapting *hw_rma_adapting;

#endif
