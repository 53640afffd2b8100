/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/rma/epoch/access.h"

#include "base/atomic.h"

bool hw_rma_access_change(struct hw_rma_window *window, int rank, uint32_t from, uint32_t to)
{
    pthread_mutex_lock(&window->mutex);
    bool is_right = hw_rma_access_of(window, rank) == from;
    if (is_right)
        hw_atomic_store_relaxed(&window->targets[rank].access, to);
    pthread_mutex_unlock(&window->mutex);
    return is_right;
}

void hw_rma_access_publish(struct hw_rma_window *window)
{
    hw_atomic_store_relaxed(&window->is_open, window->is_fence || window->is_nocheck_all);
}
