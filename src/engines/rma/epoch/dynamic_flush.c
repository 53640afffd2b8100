/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/rma/epoch/dynamic_flush.h"

#include "base/atomic.h"
#include "engines/rma/window/dynamic.h"
#include "real/constants.h"

/* As for what ghosts take (arrival.c): a Get behind a Put on the same connection. */
static int confirm(struct hw_rma_window *window, int rank)
{
    static char nobody_reads;
    struct hw_rma_dynamic_part *part = &window->dynamic->parts[rank];
    if (part->landing == 0 || !hw_atomic_load_relaxed(&part->has_put))
        return MPI_SUCCESS;
    if (!window->is_multithreaded)
        hw_atomic_store_relaxed(&part->has_put, 0);
    return hw_real.Get(&nobody_reads, 1, HW_BYTE, hw_rma_dynamic_rank(window, rank), part->landing, 1,
                       HW_BYTE, window->handle);
}

int hw_rma_dynamic_flush(struct hw_rma_window *window, int target_rank, bool is_local)
{
    struct hw_rma_dynamic_part *part = &window->dynamic->parts[target_rank];
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
