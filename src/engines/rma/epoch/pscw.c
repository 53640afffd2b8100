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
    if (group == HW_GROUP_NULL) /* the MPI would raise it at MPI_COMM_WORLD */
        return MPI_ERR_GROUP;
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

/* With its requests, none of them posted, if no exposure epoch is open; takes them over. */
static bool begin_exposure(struct hw_rma_window *window, MPI_Request *requests, int count)
{
    for (int i = 0; i < count; i++)
        requests[i] = HW_REQUEST_NULL;
    pthread_mutex_lock(&window->mutex);
    bool is_right = window->post_count < 0;
    if (is_right) {
        window->post_requests = requests;
        window->post_count = count;
    }
    pthread_mutex_unlock(&window->mutex);
    return is_right;
}

/* Those that the thread which ends it waits for; their number, or -1: there is no exposure epoch. */
static int exposure_of(struct hw_rma_window *window, MPI_Request **requests)
{
    pthread_mutex_lock(&window->mutex);
    int count = window->post_count;
    *requests = window->post_requests;
    pthread_mutex_unlock(&window->mutex);
    return count;
}

static void end_exposure(struct hw_rma_window *window)
{
    pthread_mutex_lock(&window->mutex);
    MPI_Request *requests = window->post_requests;
    window->post_requests = NULL;
    window->post_count = -1;
    pthread_mutex_unlock(&window->mutex);
    free(requests);
}

/* An epoch that could not begin: what was posted for it must take no message of a later one. */
static void take_back_exposure(struct hw_rma_window *window, MPI_Request *requests, int count)
{
    for (int i = 0; i < count; i++)
        if (requests[i] != HW_REQUEST_NULL) {
            hw_bottom.Cancel(&requests[i]);
            hw_bottom.Request_free(&requests[i]);
        }
    end_exposure(window);
}

/* Codes of errors are already raised. */
static int expose(struct hw_rma_window *window, const int *ranks, MPI_Request *requests, int count,
                  bool has_to_signal)
{
    int rc = hw_rma_synchronise(window);
    for (int i = 0; rc == MPI_SUCCESS && i < count; i++) {
        MPI_Request request = HW_REQUEST_NULL;
        rc = hw_bottom.Irecv(NULL, 0, HW_BYTE, ranks[i], pscw_tag(window, HW_RMA_PSCW_COMPLETE),
                             window->users, &request);
        if (rc == MPI_SUCCESS) /* else nobody says what became of it */
            requests[i] = request;
        else
            hw_rma_raise(window, rc);
    }
    for (int i = 0; rc == MPI_SUCCESS && i < count && has_to_signal; i++)
        rc = hw_rma_raise_if(window, signal(window, ranks[i], HW_RMA_PSCW_POST));
    return rc;
}

int hw_rma_post(struct hw_rma_window *window, MPI_Group group, int assertion)
{
    int *ranks, count;
    MPI_Request *requests;
    if (exposure_of(window, &requests) >= 0)
        return hw_rma_raise(window, MPI_ERR_RMA_SYNC);
    if (!hw_rma_epoch_is_allowed(window, HW_RMA_EPOCH_PSCW))
        return hw_rma_epoch_refuse(window, "MPI_Win_post");
    int rc = ranks_of(window, group, &ranks, &count);
    if (rc != MPI_SUCCESS)
        return hw_rma_raise(window, rc);
    requests = calloc((size_t)count + 1, sizeof *requests);
    if (requests == NULL) {
        rc = hw_rma_raise(window, MPI_ERR_NO_MEM);
    } else if (!begin_exposure(window, requests, count)) {
        free(requests);
        rc = hw_rma_raise(window, MPI_ERR_RMA_SYNC);
    } else {
        rc = expose(window, ranks, requests, count, !(assertion & MPI_MODE_NOCHECK));
        if (rc != MPI_SUCCESS)
            take_back_exposure(window, requests, count);
    }
    free(ranks);
    return rc;
}

/* Takes the ranks over, if no access epoch is open. */
static bool begin_access(struct hw_rma_window *window, int *ranks, int count)
{
    pthread_mutex_lock(&window->mutex);
    bool is_right = window->start_count < 0 && !hw_rma_is_passive(window);
    if (is_right) {
        window->start_ranks = ranks;
        window->start_count = count;
    }
    pthread_mutex_unlock(&window->mutex);
    return is_right;
}

/* Gives the ranks back, which the caller frees; their number, or -1: there was no access epoch. */
static int end_access(struct hw_rma_window *window, int **ranks)
{
    pthread_mutex_lock(&window->mutex);
    int count = window->start_count;
    *ranks = window->start_ranks;
    window->start_ranks = NULL;
    window->start_count = -1;
    pthread_mutex_unlock(&window->mutex);
    return count;
}

int hw_rma_start_begin(struct hw_rma_window *window, MPI_Group group, const int **targets, int *target_count)
{
    int *ranks, count;
    pthread_mutex_lock(&window->mutex);
    bool is_right = window->start_count < 0 && !hw_rma_is_passive(window);
    pthread_mutex_unlock(&window->mutex);
    if (!is_right)
        return hw_rma_raise(window, MPI_ERR_RMA_SYNC);
    if (!hw_rma_epoch_is_allowed(window, HW_RMA_EPOCH_PSCW))
        return hw_rma_epoch_refuse(window, "MPI_Win_start");
    int rc = ranks_of(window, group, &ranks, &count);
    if (rc != MPI_SUCCESS)
        return hw_rma_raise(window, rc);
    if (!begin_access(window, ranks, count)) {
        free(ranks);
        return hw_rma_raise(window, MPI_ERR_RMA_SYNC);
    }
    *targets = ranks;
    *target_count = count;
    return MPI_SUCCESS;
}

int hw_rma_start_expect(const struct hw_rma_window *window, int rank, MPI_Request *request)
{
    return hw_bottom.Irecv(NULL, 0, HW_BYTE, rank, pscw_tag(window, HW_RMA_PSCW_POST), window->users,
                           request);
}

void hw_rma_start_opened(struct hw_rma_window *window, int rank)
{
    hw_rma_access_change(window, rank, HW_RMA_ACCESS_NONE, HW_RMA_ACCESS_STARTED);
}

void hw_rma_start_fail(struct hw_rma_window *window)
{
    int *ranks;
    end_access(window, &ranks);
    free(ranks);
}

int hw_rma_start_access(struct hw_rma_window *window, MPI_Group group, int assertion)
{
    const int *ranks = NULL;
    int count = 0, rc = hw_rma_start_begin(window, group, &ranks, &count);
    if (rc != MPI_SUCCESS)
        return rc;
    for (int i = 0; rc == MPI_SUCCESS && i < count && !(assertion & MPI_MODE_NOCHECK); i++)
        rc = hw_bottom.Recv(NULL, 0, HW_BYTE, ranks[i], pscw_tag(window, HW_RMA_PSCW_POST), window->users,
                            HW_STATUS_IGNORE);
    for (int i = 0; rc == MPI_SUCCESS && i < count; i++)
        hw_rma_start_opened(window, ranks[i]);
    if (rc != MPI_SUCCESS)
        hw_rma_start_fail(window);
    return hw_rma_raise_if(window, rc);
}

int hw_rma_complete(struct hw_rma_window *window)
{
    int *ranks, count = end_access(window, &ranks), rc = MPI_SUCCESS;
    if (count < 0)
        return hw_rma_raise(window, MPI_ERR_RMA_SYNC);
    for (int i = 0; rc == MPI_SUCCESS && i < count; i++)
        rc = hw_rma_flush_target(window, ranks[i], HW_RMA_AT_TARGET);
    /* Whatever failed: no epoch remains, so no target may remain open, nor wait for this process. */
    for (int i = 0; i < count; i++) {
        hw_rma_access_change(window, ranks[i], HW_RMA_ACCESS_STARTED, HW_RMA_ACCESS_NONE);
        int signalled = signal(window, ranks[i], HW_RMA_PSCW_COMPLETE);
        if (rc == MPI_SUCCESS)
            rc = hw_rma_raise_if(window, signalled);
    }
    free(ranks);
    return rc;
}

int hw_rma_wait(struct hw_rma_window *window)
{
    MPI_Request *requests;
    int count = exposure_of(window, &requests);
    if (count < 0)
        return hw_rma_raise(window, MPI_ERR_RMA_SYNC);
    int rc = hw_bottom.Waitall(count, requests, HW_STATUSES_IGNORE);
    if (rc != MPI_SUCCESS)
        return hw_rma_raise(window, rc);
    end_exposure(window);
    return hw_rma_synchronise(window);
}

int hw_rma_test(struct hw_rma_window *window, int *flag)
{
    MPI_Request *requests;
    int count = exposure_of(window, &requests);
    if (count < 0)
        return hw_rma_raise(window, MPI_ERR_RMA_SYNC);
    int rc = hw_bottom.Testall(count, requests, flag, HW_STATUSES_IGNORE);
    if (rc != MPI_SUCCESS)
        return hw_rma_raise(window, rc);
    if (!*flag)
        return MPI_SUCCESS;
    end_exposure(window);
    return hw_rma_synchronise(window);
}
