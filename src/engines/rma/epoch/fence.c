/* SPDX-License-Identifier: BSD-3-Clause */
/* Fences (MPI-4.1 section 12.5.1). */
#include "engines/rma/epoch/access.h"
#include "engines/rma/epoch/epoch.h"
#include "engines/rma/epoch/flush.h"
#include "engines/rma/window/agree.h"
#include "engines/rma/window/epoch_type.h"

/* All have flushed everything. */
static int meet(struct hw_rma_window *window)
{
    return window->routes.may_change ? hw_rma_agree(window, true) : hw_bottom.Barrier(window->users);
}

int hw_rma_fence(struct hw_rma_window *window, int assertion)
{
    if (hw_rma_is_passive(window))
        return hw_rma_raise(window, MPI_ERR_RMA_SYNC);
    if (!hw_rma_epoch_is_allowed(window, HW_RMA_EPOCH_FENCE))
        return hw_rma_epoch_refuse(window, "MPI_Win_fence");
    int rc = hw_rma_flush_everything(window);
    if (rc == MPI_SUCCESS)
        rc = hw_rma_synchronise(window);
    if (rc == MPI_SUCCESS)
        rc = hw_rma_raise_if(window, meet(window));
    if (rc == MPI_SUCCESS)
        rc = hw_rma_synchronise(window);
    pthread_mutex_lock(&window->mutex);
    window->is_fence = !(assertion & MPI_MODE_NOSUCCEED);
    hw_rma_access_publish(window);
    pthread_mutex_unlock(&window->mutex);
    return rc;
}
