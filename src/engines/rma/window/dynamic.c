#include "engines/rma/window/dynamic.h"

#include "engines/rma/rma.h"
#include "profile/counters.h"
#include "real/type_size.h"

#include <stdlib.h>

/* Any thread of this process; relaxed. */
struct part {
    MPI_Aint base, bytes;     /* the target's range */
    MPI_Aint landing;         /* address at the target of a byte that is always attached; 0: not needed */
    _Atomic uint32_t dirty;   /* the window's generation at the last operation on the target itself */
    _Atomic uint32_t has_put; /* since the last flush */
};

struct hw_rma_dynamic {
    bool is_landing_attached;
    _Atomic uint32_t has_ops, has_unready; /* since the last flush, or local flush, of all targets */
    struct part parts[];                   /* by rank */
};

/* Attached to every such window where the end of a flush says too little (confirm). */
static char landing;

void hw_rma_dynamic_offer(struct hw_rma_offer *offer)
{
    struct hw_arena_range range = hw_arena_range();
    offer->range_base = (int64_t)(uintptr_t)range.base;
    offer->range_bytes = (int64_t)range.bytes;
    offer->landing = hw_rma_needs_confirmation ? (int64_t)(uintptr_t)&landing : 0;
}

int hw_rma_dynamic_open(struct hw_rma_window *window, const struct hw_rma_plan *plan, MPI_Info hints)
{
    size_t parts = (size_t)plan->size;
    struct hw_rma_dynamic *dynamic = calloc(1, sizeof *dynamic + parts * sizeof dynamic->parts[0]);
    if (dynamic == NULL)
        return MPI_ERR_NO_MEM;
    window->dynamic = dynamic;
    for (int i = 0; i < plan->size; i++) {
        const struct hw_rma_offer *offer = &plan->offers[i];
        dynamic->parts[i].base = (MPI_Aint)offer->range_base;
        dynamic->parts[i].bytes = (MPI_Aint)offer->range_bytes;
        dynamic->parts[i].landing = (MPI_Aint)offer->landing;
    }
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

/* ---- paths ---- */

static bool is_in_range(const struct part *part, MPI_Aint address)
{
    return (uint64_t)address - (uint64_t)part->base < (uint64_t)part->bytes;
}

enum hw_rma_dynamic_owner hw_rma_dynamic_owner(const struct hw_rma_window *window, int target_rank,
                                               MPI_Aint address)
{
    return is_in_range(&window->dynamic->parts[target_rank], address) ? HW_RMA_OF_GHOST : HW_RMA_OF_TARGET;
}

void hw_rma_dynamic_use(struct hw_rma_window *window, int target_rank, enum hw_rma_class class)
{
    struct part *part = &window->dynamic->parts[target_rank];
    if (class == HW_RMA_PUT)
        hw_atomic_store_relaxed(&part->has_put, 1);
    hw_atomic_store_relaxed(&part->dirty, hw_atomic_load_relaxed(&window->generation));
    hw_atomic_store_relaxed(&window->dynamic->has_ops, 1);
    hw_atomic_store_relaxed(&window->dynamic->has_unready, 1);
    HW_COUNT(operations_direct);
}

/* HW_RMA_OWNERS: of both. What is next to each other cannot be (hw_arena_reserve), so of the datatypes that
 * are known at a glance the address is enough. */
static enum hw_rma_dynamic_owner find_owner(const struct part *part, MPI_Aint disp,
                                            const struct hw_rma_shape *shape)
{
    uint64_t size;
    MPI_Count lb, extent, true_lb, true_extent;
    bool is_begin_inside = is_in_range(part, disp);
    if (part->bytes == 0 || shape->count <= 0 || shape->datatype == HW_DATATYPE_NULL)
        return HW_RMA_OF_TARGET;
    if (shape->class == HW_RMA_SINGLE || hw_real_type_is_basic(shape->datatype, &size))
        return is_begin_inside ? HW_RMA_OF_GHOST : HW_RMA_OF_TARGET;
    if (hw_bottom.Type_get_extent_x(shape->datatype, &lb, &extent) != MPI_SUCCESS ||
        hw_bottom.Type_get_true_extent_x(shape->datatype, &true_lb, &true_extent) != MPI_SUCCESS ||
        true_extent <= 0)
        return HW_RMA_OF_TARGET;
    MPI_Count step = extent * (shape->count - 1);
    MPI_Aint first = disp + (MPI_Aint)(true_lb + (step < 0 ? step : 0));
    MPI_Aint last = disp + (MPI_Aint)(true_lb + true_extent + (step > 0 ? step : 0)) - 1;
    if (is_in_range(part, first) && is_in_range(part, last))
        return HW_RMA_OF_GHOST;
    return last < part->base || first >= part->base + part->bytes ? HW_RMA_OF_TARGET : HW_RMA_OWNERS;
}

bool hw_rma_dynamic_choose(struct hw_rma_window *window, MPI_Win *win, int *rank, MPI_Aint *disp,
                           const struct hw_rma_shape *shape)
{
    struct hw_rma_target *target = &window->targets[*rank];
    enum hw_rma_dynamic_owner owner = find_owner(&window->dynamic->parts[*rank], *disp, shape);
    if (owner == HW_RMA_OF_GHOST && *disp + target->offset < 0)
        owner = HW_RMA_OWNERS; /* a datatype of absolute addresses; pieces.c makes another of it */
    /* Such Put and Get go to the target, who has all of it attached: they have no order or atomicity that
     * another path could break (MPI-4.1 section 12.7.2). */
    if (owner == HW_RMA_OF_TARGET || (owner == HW_RMA_OWNERS && shape->class != HW_RMA_ACCUMULATE)) {
        /* What puts nothing needs no confirmation, for which the target must have attached something. */
        hw_rma_dynamic_use(window, *rank, shape->count > 0 ? shape->class : HW_RMA_GET);
        *rank = hw_rma_dynamic_rank(window, *rank);
        return false;
    }
    hw_ghost_bell_ring(target->bell);
    if (owner == HW_RMA_OWNERS) {
        hw_rma_dynamic_use(window, *rank, shape->class);
        *rank = HW_RMA_SEVERAL;
        return true;
    }
    *disp += target->offset;
    *rank = target->ghost;
    *win = window->win;
    return true;
}

/* ---- completion ---- */

/* As for what ghosts take (confirm_puts in epoch.c): a Get behind a Put on the same connection. */
static int confirm(struct hw_rma_window *window, int rank)
{
    static char nobody_reads;
    struct part *part = &window->dynamic->parts[rank];
    if (part->landing == 0 || !hw_atomic_load_relaxed(&part->has_put))
        return MPI_SUCCESS;
    if (!window->is_multithreaded)
        hw_atomic_store_relaxed(&part->has_put, 0);
    return hw_real.Get(&nobody_reads, 1, HW_BYTE, hw_rma_dynamic_rank(window, rank), part->landing, 1,
                       HW_BYTE, window->handle);
}

int hw_rma_dynamic_flush(struct hw_rma_window *window, int target_rank, bool is_local)
{
    struct part *part = &window->dynamic->parts[target_rank];
    if (!window->is_multithreaded &&
        hw_atomic_load_relaxed(&part->dirty) != hw_atomic_load_relaxed(&window->generation))
        return MPI_SUCCESS;
    if (is_local)
        return hw_real.Win_flush_local(hw_rma_dynamic_rank(window, target_rank), window->handle);
    int rc = confirm(window, target_rank);
    if (rc == MPI_SUCCESS)
        rc = hw_real.Win_flush(hw_rma_dynamic_rank(window, target_rank), window->handle);
    if (rc == MPI_SUCCESS)
        hw_atomic_store_relaxed(&part->dirty, 0);
    return rc;
}

int hw_rma_dynamic_flush_all(struct hw_rma_window *window, bool is_local)
{
    struct hw_rma_dynamic *dynamic = window->dynamic;
    _Atomic uint32_t *has = is_local ? &dynamic->has_unready : &dynamic->has_ops;
    int rc = MPI_SUCCESS;
    if (!window->is_multithreaded && !hw_atomic_load_relaxed(has))
        return MPI_SUCCESS;
    for (int i = 0; i < window->size && rc == MPI_SUCCESS && !is_local; i++)
        rc = confirm(window, i);
    if (rc == MPI_SUCCESS)
        rc = is_local ? hw_real.Win_flush_local_all(window->handle) : hw_real.Win_flush_all(window->handle);
    if (rc != MPI_SUCCESS)
        return rc;
    hw_atomic_store_relaxed(&dynamic->has_unready, 0);
    if (!is_local)
        hw_atomic_store_relaxed(&dynamic->has_ops, 0);
    return rc;
}
