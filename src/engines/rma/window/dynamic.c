/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/rma/window/dynamic.h"

#include "engines/rma/window/facts.h"
#include "shm/arena.h"

#include <stdlib.h>

/* Attached to every such window where the end of a flush says too little (confirm). */
static char landing;

void hw_rma_dynamic_offer(struct hw_rma_offer *offer)
{
    struct hw_arena_range range = hw_arena_range();
    offer->range_base = (int64_t)(uintptr_t)range.base;
    offer->range_bytes = (int64_t)range.bytes;
    offer->landing = hw_rma_needs_confirmation ? (int64_t)(uintptr_t)&landing : 0;
}

bool hw_rma_dynamic_make(struct hw_rma_window *window, const struct hw_rma_plan *plan)
{
    size_t parts = (size_t)plan->size;
    struct hw_rma_dynamic *dynamic = calloc(1, sizeof *dynamic + parts * sizeof dynamic->parts[0]);
    if (dynamic == NULL)
        return false;
    window->dynamic = dynamic;
    for (int i = 0; i < plan->size; i++) {
        const struct hw_rma_offer *offer = &plan->offers[i];
        dynamic->parts[i].base = (MPI_Aint)offer->range_base;
        dynamic->parts[i].bytes = (MPI_Aint)offer->range_bytes;
        dynamic->parts[i].landing = (MPI_Aint)offer->landing;
    }
    return true;
}

int hw_rma_dynamic_open(struct hw_rma_window *window, const struct hw_rma_plan *plan, MPI_Info hints)
{
    struct hw_rma_dynamic *dynamic = window->dynamic;
    MPI_Comm comm = window->is_common ? plan->comm : window->comms.window;
    int rc = hw_real.Win_create_dynamic(hints, comm, &window->handle);
    if (rc == MPI_SUCCESS && hw_rma_needs_confirmation) {
        rc = hw_real.Win_attach(window->handle, &landing, sizeof landing);
        dynamic->is_landing_attached = rc == MPI_SUCCESS;
    }
    return rc == MPI_SUCCESS ? hw_real.Win_lock_all(MPI_MODE_NOCHECK, window->handle) : rc;
}

int hw_rma_dynamic_free(struct hw_rma_window *window, MPI_Win *handle)
{
    if (window->dynamic->is_landing_attached)
        hw_real.Win_detach(window->handle, &landing);
    int rc = hw_real.Win_free(handle);
    free(window->dynamic);
    window->dynamic = NULL;
    return rc;
}
