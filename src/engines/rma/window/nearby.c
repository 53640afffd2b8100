/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/rma/window/nearby.h"

#include "base/options.h"
#include "engines/rma/window/spread.h"
#include "ghost/bell.h"
#include "real/constants.h"
#include "real/software_rma.h"
#include "world/world.h"

static MPI_Comm self;
static bool is_open, may_accumulate;

void hw_rma_nearby_open(void)
{
    if (hw_options.redirect == HW_OPTION_REDIRECT_ON ||
        hw_bottom.Comm_dup(HW_COMM_SELF, &self) != MPI_SUCCESS)
        return;
    hw_bottom.Comm_set_errhandler(self, HW_ERRORS_RETURN);
    is_open = true;
    may_accumulate = hw_real_is_accumulate_in_calls();
}

MPI_Comm hw_rma_nearby_comm(void) { return self; }

void hw_rma_nearby_close(void)
{
    if (is_open)
        hw_bottom.Comm_free(&self);
    is_open = false;
}

/* NULL: accumulates on this target are the ghost's. A ghost that has only a part of the target's memory
 * excludes nobody from the rest. */
static struct hw_ghost_apply_lock *lock_of(const struct hw_rma_window *window,
                                           const struct hw_rma_target *target)
{
    if (!may_accumulate || (window->spread && window->spread->binding != HW_OPTION_GHOST_BINDING_RANK))
        return NULL;
    return hw_ghost_apply_lock_of(hw_world.processes[target->ghost_in_world].local_index);
}

/* The memory of this node's members in this process; NULL: not reached from here. */
static char *map_node(struct hw_rma_window *window)
{
    MPI_Aint size;
    int unit;
    char *base = NULL;
    if (window->shared != HW_WIN_NULL) {
        int rc = hw_bottom.Win_shared_query(window->shared, HW_PROC_NULL, &size, &unit, &base);
        return rc == MPI_SUCCESS ? base : NULL;
    }
    if (window->piece_count > 1) /* else there is nobody else's */
        window->mapped = hw_ghost_node_memory_map(window->pieces, window->piece_count, 0);
    return window->mapped;
}

void hw_rma_nearby_find(struct hw_rma_window *window, void *own)
{
    int own_node = hw_world_own_node();
    char *base = is_open ? map_node(window) : NULL;
    for (int i = 0; is_open && i < window->size; i++) {
        struct hw_rma_target *target = &window->targets[i];
        if (target->node != own_node)
            continue;
        if (i == window->rank)
            target->memory = own;
        else if (base)
            target->memory = base + target->offset;
        if (target->memory)
            target->lock = lock_of(window, target);
    }
}
