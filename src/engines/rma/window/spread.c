/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/rma/window/spread.h"

#include "base/atomic.h"
#include "engines/rma/window/protocol.h"
#include "world/world.h"

#include <stdlib.h>

static bool has_node_with_several(const struct hw_rma_window *window)
{
    for (int i = 1; i < window->ghost_count; i++)
        if (hw_world.processes[window->ghosts[i]].node == hw_world.processes[window->ghosts[i - 1]].node)
            return true;
    return false;
}

static void divide(struct hw_rma_span *span, MPI_Aint bytes)
{
    MPI_Aint share = hw_rma_round_up((bytes + span->count - 1) / span->count);
    span->segment_bytes = share > 0 ? share : HW_RMA_ALIGNMENT;
}

bool hw_rma_spread_make(struct hw_rma_window *window, enum hw_option_ghost_binding binding,
                        const MPI_Aint *node_bytes)
{
    if ((binding == HW_OPTION_GHOST_BINDING_RANK &&
         hw_options.ghost_balance == HW_OPTION_GHOST_BALANCE_OFF) ||
        !has_node_with_several(window))
        return true;
    struct hw_rma_spread *spread = calloc(1, sizeof *spread);
    if (spread == NULL)
        return false;
    window->spread = spread;
    spread->binding = binding;
    spread->balance = hw_options.ghost_balance;
    hw_atomic_store_relaxed(&spread->dice, UINT64_C(0x9E3779B97F4A7C15) * (uint64_t)(window->rank + 1));
    spread->spans = calloc((size_t)hw_world.node_count, sizeof *spread->spans);
    spread->loads = calloc((size_t)window->ghost_count, sizeof *spread->loads);
    if (spread->spans == NULL || spread->loads == NULL)
        return false;
    for (int i = 0; i < window->ghost_count; i++) {
        struct hw_rma_span *span = &spread->spans[hw_world.processes[window->ghosts[i]].node];
        if (span->count++ == 0)
            span->first = i;
    }
    for (int node = 0; node < hw_world.node_count; node++)
        if (spread->spans[node].count > 0)
            divide(&spread->spans[node], node_bytes[node]);
    return true;
}

void hw_rma_spread_free(struct hw_rma_window *window)
{
    if (window->spread == NULL)
        return;
    free(window->spread->spans);
    free(window->spread->loads);
    free(window->spread);
    window->spread = NULL;
}

struct hw_ghost_bell *hw_rma_spread_bell(const struct hw_rma_window *window,
                                         const struct hw_rma_target *target, int ghost)
{
    if (target->node != hw_world_own_node())
        return NULL;
    return hw_ghost_bell_of(ghost - hw_rma_spread_span(window, target)->first);
}
