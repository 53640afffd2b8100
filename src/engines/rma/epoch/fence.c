/* SPDX-License-Identifier: BSD-3-Clause */
/* Fences (MPI-4.1 section 12.5.1). */
#include "engines/rma/epoch/access.h"
#include "engines/rma/epoch/epoch.h"
#include "engines/rma/epoch/flush.h"
#include "engines/rma/window/agree.h"
#include "engines/rma/window/epoch_type.h"
#include "real/constants.h"

/* All have flushed everything. */
static int meet(struct hw_rma_window *window)
{
    return window->routes.may_change ? hw_rma_agree(window, true) : hw_bottom.Barrier(window->users);
}

/* Up to where the members meet; codes are raised. */
static int begin(struct hw_rma_window *window)
{
    if (hw_rma_is_passive(window))
        return hw_rma_raise(window, MPI_ERR_RMA_SYNC);
    if (!hw_rma_epoch_is_allowed(window, HW_RMA_EPOCH_FENCE))
        return hw_rma_epoch_refuse(window, "MPI_Win_fence");
    return MPI_SUCCESS;
}

static int flush(struct hw_rma_window *window)
{
    int rc = hw_rma_flush_everything(window);
    return rc == MPI_SUCCESS ? hw_rma_synchronise(window) : rc;
}

static void set_open(struct hw_rma_window *window, bool is_open)
{
    pthread_mutex_lock(&window->mutex);
    window->is_fence = is_open;
    hw_rma_access_publish(window);
    pthread_mutex_unlock(&window->mutex);
}

int hw_rma_fence(struct hw_rma_window *window, int assertion)
{
    int rc = begin(window);
    if (rc != MPI_SUCCESS)
        return rc;
    rc = flush(window);
    int met = meet(window); /* whatever failed: the others wait for this process */
    if (rc == MPI_SUCCESS)
        rc = hw_rma_raise_if(window, met);
    if (rc == MPI_SUCCESS)
        rc = hw_rma_synchronise(window);
    set_open(window, !(assertion & MPI_MODE_NOSUCCEED));
    return rc;
}

int hw_rma_fence_begin(struct hw_rma_window *window, MPI_Request *request)
{
    MPI_Request barrier;
    *request = HW_REQUEST_NULL;
    int rc = begin(window);
    if (rc != MPI_SUCCESS)
        return rc;
    set_open(window, false);
    rc = flush(window);
    int met = hw_bottom.Ibarrier(window->users, &barrier); /* as above */
    if (met == MPI_SUCCESS)
        *request = barrier;
    return rc == MPI_SUCCESS ? hw_rma_raise_if(window, met) : rc;
}

void hw_rma_fence_opened(struct hw_rma_window *window, int assertion)
{
    hw_rma_synchronise(window);
    set_open(window, !(assertion & MPI_MODE_NOSUCCEED));
}
