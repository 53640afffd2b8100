/* SPDX-License-Identifier: BSD-3-Clause */
#include "ghost/mark.h"

#include "base/peek.h"
#include "ghost/bell.h"
#include "ghost/rates.h"
#include "ghost/reach.h"
#include "progress/inside.h"
#include "world/world.h"

#include <stdlib.h>

static struct known {
    bool is_proven;
    const char *why; /* it cannot be read */
} * known;           /* by index on the node; as long as the ghost lives */

static struct known *known_of(int index)
{
    if (known == NULL)
        known = calloc((size_t)hw_world.own_node->process_count, sizeof *known);
    return known ? &known[index] : NULL;
}

static bool is_proven(struct known *one, const struct hw_ghost_mark *mark, int index)
{
    if (!one->is_proven && one->why == NULL) {
        one->why = hw_ghost_reach_refuse(hw_world.node_pids[index], mark->proof);
        one->is_proven = one->why == NULL;
    }
    return one->is_proven;
}

enum hw_ghost_mark_says hw_ghost_mark_look(int index, const char **why)
{
    struct hw_ghost_rates *rates = hw_ghost_rates();
    struct known *one = known_of(index);
    uintptr_t place = rates ? hw_atomic_load_acquire(&rates->marks[index].depth) : 0;
    int depth = 0;
    *why = NULL;
    if (place == 0 || one == NULL)
        return HW_GHOST_MARK_UNKNOWN;
    if (!is_proven(one, &rates->marks[index], index)) {
        *why = one->why;
        return HW_GHOST_MARK_UNKNOWN;
    }
    if (hw_peek(hw_world.node_pids[index], place, &depth, sizeof depth) != 0)
        return HW_GHOST_MARK_UNKNOWN;
    return depth == HW_INSIDE_YES || depth == HW_INSIDE_WAITS ? HW_GHOST_MARK_INSIDE : HW_GHOST_MARK_OUTSIDE;
}
