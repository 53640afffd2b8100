/* SPDX-License-Identifier: BSD-3-Clause */
/* Post, start, complete and wait (MPI-4.1 section 12.5.2). */
#include "engines/rma/epoch/access.h"
#include "engines/rma/epoch/epoch.h"
#include "engines/rma/epoch/flush.h"
#include "engines/rma/window/epoch_type.h"
#include "real/constants.h"

#include <stdlib.h>

static int pscw_tag(const struct hw_rma_window *window, enum hw_rma_pscw what)
{
    return window->number * 2 + (int)what;
}

/* Nobody waits here for the message: the receiver may post its receive much later. */
static int signal(const struct hw_rma_window *window, int rank, enum hw_rma_pscw what)
{
    MPI_Request request;
    int rc = hw_bottom.Isend(NULL, 0, HW_BYTE, rank, pscw_tag(window, what), window->users, &request);
    return rc == MPI_SUCCESS ? hw_bottom.Request_free(&request) : rc;
}

/* The members of a group, as ranks of the window; the caller frees them. */
static int ranks_of(const struct hw_rma_window *window, MPI_Group group, int **ranks, int *count)
{
    int rc = hw_bottom.Group_size(group, count);
    if (rc != MPI_SUCCESS)
        return rc;
    int *own = malloc(((size_t)*count + 1) * sizeof *own);
    *ranks = malloc(((size_t)*count + 1) * sizeof **ranks);
    if (own == NULL || *ranks == NULL)
        rc = MPI_ERR_NO_MEM;
    for (int i = 0; rc == MPI_SUCCESS && i < *count; i++)
        own[i] = i;
    if (rc == MPI_SUCCESS)
        rc = hw_bottom.Group_translate_ranks(group, *count, own, window->group, *ranks);
    free(own);
    for (int i = 0; rc == MPI_SUCCESS && i < *count; i++)
        if ((*ranks)[i] == HW_UNDEFINED)
            rc = MPI_ERR_GROUP;
    if (rc != MPI_SUCCESS) {
        free(*ranks);
        *ranks = NULL;
    }
    return rc;
}

int hw_rma_post(struct hw_rma_window *window, MPI_Group group, int assertion)
{
    int *ranks, count;
    if (window->post_count >= 0)
        return hw_rma_raise(window, MPI_ERR_RMA_SYNC);
    if (!hw_rma_epoch_is_allowed(window, HW_RMA_EPOCH_PSCW))
        return hw_rma_epoch_refuse(window, "MPI_Win_post");
    int rc = ranks_of(window, group, &ranks, &count);
    if (rc != MPI_SUCCESS)
        return hw_rma_raise(window, rc);
    window->post_requests = calloc((size_t)count + 1, sizeof(MPI_Request));
    window->post_count = count;
    rc = window->post_requests ? hw_rma_synchronise(window) : MPI_ERR_NO_MEM;
    for (int i = 0; rc == MPI_SUCCESS && i < count; i++)
        rc = hw_bottom.Irecv(NULL, 0, HW_BYTE, ranks[i], pscw_tag(window, HW_RMA_PSCW_COMPLETE),
                             window->users, &window->post_requests[i]);
    for (int i = 0; rc == MPI_SUCCESS && i < count && !(assertion & MPI_MODE_NOCHECK); i++)
        rc = signal(window, ranks[i], HW_RMA_PSCW_POST);
    free(ranks);
    return hw_rma_raise_if(window, rc);
}

int hw_rma_start_access(struct hw_rma_window *window, MPI_Group group, int assertion)
{
    int *ranks, count;
    if (window->start_count >= 0 || window->is_lock_all || window->lock_count > 0)
        return hw_rma_raise(window, MPI_ERR_RMA_SYNC);
    if (!hw_rma_epoch_is_allowed(window, HW_RMA_EPOCH_PSCW))
        return hw_rma_epoch_refuse(window, "MPI_Win_start");
    int rc = ranks_of(window, group, &ranks, &count);
    if (rc != MPI_SUCCESS)
        return hw_rma_raise(window, rc);
    for (int i = 0; rc == MPI_SUCCESS && i < count && !(assertion & MPI_MODE_NOCHECK); i++)
        rc = hw_bottom.Recv(NULL, 0, HW_BYTE, ranks[i], pscw_tag(window, HW_RMA_PSCW_POST), window->users,
                            HW_STATUS_IGNORE);
    window->start_ranks = ranks;
    window->start_count = count;
    for (int i = 0; i < count; i++)
        hw_rma_access_change(window, ranks[i], HW_RMA_ACCESS_NONE, HW_RMA_ACCESS_STARTED);
    return hw_rma_raise_if(window, rc);
}

int hw_rma_complete(struct hw_rma_window *window)
{
    if (window->start_count < 0)
        return hw_rma_raise(window, MPI_ERR_RMA_SYNC);
    int rc = MPI_SUCCESS;
    for (int i = 0; rc == MPI_SUCCESS && i < window->start_count; i++)
        rc = hw_rma_flush_target(window, window->start_ranks[i], HW_RMA_AT_TARGET);
    for (int i = 0; rc == MPI_SUCCESS && i < window->start_count; i++) {
        hw_rma_access_change(window, window->start_ranks[i], HW_RMA_ACCESS_STARTED, HW_RMA_ACCESS_NONE);
        rc = hw_rma_raise_if(window, signal(window, window->start_ranks[i], HW_RMA_PSCW_COMPLETE));
    }
    free(window->start_ranks);
    window->start_ranks = NULL;
    window->start_count = -1;
    return rc;
}

static int end_exposure(struct hw_rma_window *window)
{
    free(window->post_requests);
    window->post_requests = NULL;
    window->post_count = -1;
    return hw_rma_synchronise(window);
}

int hw_rma_wait(struct hw_rma_window *window)
{
    if (window->post_count < 0)
        return hw_rma_raise(window, MPI_ERR_RMA_SYNC);
    int rc = hw_bottom.Waitall(window->post_count, window->post_requests, HW_STATUSES_IGNORE);
    return rc == MPI_SUCCESS ? end_exposure(window) : hw_rma_raise(window, rc);
}

int hw_rma_test(struct hw_rma_window *window, int *flag)
{
    if (window->post_count < 0)
        return hw_rma_raise(window, MPI_ERR_RMA_SYNC);
    int rc = hw_bottom.Testall(window->post_count, window->post_requests, flag, HW_STATUSES_IGNORE);
    if (rc != MPI_SUCCESS)
        return hw_rma_raise(window, rc);
    return *flag ? end_exposure(window) : MPI_SUCCESS;
}
