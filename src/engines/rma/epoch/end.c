/* SPDX-License-Identifier: BSD-3-Clause */
/* What the program left open in MPI_Finalize. */
#include "base/atomic.h"
#include "engines/rma/epoch/access.h"
#include "engines/rma/epoch/epoch.h"

void hw_rma_epochs_end(struct hw_rma_window *window)
{
    if (hw_atomic_load_relaxed(&window->is_lock_all))
        hw_rma_unlock_all(window);
    for (int rank = 0; rank < window->size && hw_atomic_load_relaxed(&window->lock_count) > 0; rank++)
        if (hw_rma_access_of(window, rank) != HW_RMA_ACCESS_NONE)
            hw_rma_unlock(window, rank);
    pthread_mutex_lock(&window->mutex);
    bool is_started = window->start_count >= 0, is_posted = window->post_count >= 0;
    pthread_mutex_unlock(&window->mutex);
    if (is_started)
        hw_rma_complete(window);
    if (is_posted)
        hw_rma_wait(window);
}
