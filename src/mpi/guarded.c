/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/guarded.h"

#include "real/constants.h"

#include <stdlib.h>
#include <string.h>

bool hw_guarded_are_ready(const struct hw_request_taken *taken)
{
    bool are_ready = true;
    for (int i = 0; i < taken->count; i++) {
        const struct hw_request_item *item = &taken->items[i];
        if (item->guard && item->guard->look(item->guarded, item->handle) < HW_REQUEST_READY)
            are_ready = false;
    }
    return are_ready;
}

void hw_guarded_settle(const struct hw_request_taken *taken)
{
    for (int i = 0; i < taken->count; i++)
        if (taken->items[i].guard)
            taken->items[i].guard->settle(taken->items[i].guarded, taken->items[i].handle);
}

/* The door's array without those that the MPI may not complete yet. */
struct masked {
    MPI_Request *requests;
    MPI_Request inline_requests[32];
    int masked_count;
    bool is_empty; /* nothing is left for the MPI to complete */
    int itself;    /* place of one that is complete without the MPI; -1: none */
    const struct hw_request_item *moving;
};

/* wants_one: once one may be completed the others are not looked at. */
static bool mask(struct masked *masked, const struct hw_request_taken *taken, int count,
                 const MPI_Request requests[], bool wants_one)
{
    bool is_found = false;
    enum { ROOM = sizeof masked->inline_requests / sizeof masked->inline_requests[0] };
    masked->requests = masked->inline_requests;
    if (count > ROOM && (masked->requests = malloc((size_t)count * sizeof(MPI_Request))) == NULL)
        return false;
    memcpy(masked->requests, requests, (size_t)count * sizeof(MPI_Request));
    masked->masked_count = 0;
    masked->itself = -1;
    masked->moving = NULL;
    for (int i = 0; i < taken->count; i++) {
        const struct hw_request_item *item = &taken->items[i];
        if (item->guard == NULL)
            continue;
        enum hw_request_readiness is =
            is_found ? HW_REQUEST_OPEN : item->guard->look(item->guarded, item->handle);
        is_found = is_found || (wants_one && is >= HW_REQUEST_READY);
        if (is == HW_REQUEST_READY)
            continue;
        if (is == HW_REQUEST_ITSELF && masked->itself < 0)
            masked->itself = item->index;
        if (is == HW_REQUEST_MOVING)
            masked->moving = item;
        masked->requests[item->index] = HW_REQUEST_NULL;
        masked->masked_count++;
    }
    masked->is_empty = true;
    for (int i = 0; i < count; i++)
        if (masked->requests[i] != HW_REQUEST_NULL)
            masked->is_empty = false;
    return true;
}

static void unmask(struct masked *masked)
{
    if (masked->requests != masked->inline_requests)
        free(masked->requests);
}

static int no_memory(void)
{
    hw_bottom.Comm_call_errhandler(HW_COMM_WORLD, MPI_ERR_NO_MEM);
    return MPI_ERR_NO_MEM;
}

/* A look at all. Sets *is_over if the door has an answer. */
static int look_any(struct masked *masked, bool is_kept, int count, MPI_Request requests[], int *index,
                    MPI_Status *status, bool *is_over)
{
    int flag = 0;
    *is_over = true;
    if (masked->itself >= 0) {
        *index = masked->itself;
        memset(status, 0, sizeof *status);
        return MPI_SUCCESS;
    }
    if (is_kept) {
        int rc = hw_real.Request_get_status_any(count, masked->requests, index, &flag, status);
        *is_over = rc != MPI_SUCCESS || (flag && *index != HW_UNDEFINED) || masked->masked_count == 0;
        return rc;
    }
    int rc = hw_real.Testany(count, masked->requests, index, &flag, status);
    if (rc == MPI_SUCCESS && !flag)
        *index = HW_UNDEFINED;
    if (*index != HW_UNDEFINED && *index >= 0 && *index < count)
        requests[*index] = masked->requests[*index];
    /* All that are left were masked; or there are none at all. */
    *is_over = rc != MPI_SUCCESS || (flag && (*index != HW_UNDEFINED || masked->masked_count == 0));
    return rc;
}

int hw_guarded_any(const struct hw_request_taken *taken, struct hw_guarded_any how, int count,
                   MPI_Request requests[], int *index, int *flag, MPI_Status *status)
{
    for (;;) {
        struct masked masked;
        bool is_over;
        if (!mask(&masked, taken, count, requests, true))
            return no_memory();
        int rc = look_any(&masked, how.is_kept, count, requests, index, status, &is_over);
        unmask(&masked);
        *flag = is_over;
        if (is_over || !how.is_blocking)
            return rc;
        if (masked.moving && masked.is_empty)
            masked.moving->guard->pause(masked.moving->guarded);
    }
}

static int look_some(struct masked *masked, int count, MPI_Request requests[], int *outcount, int indices[],
                     MPI_Status statuses[])
{
    if (masked->itself >= 0) {
        *outcount = 1;
        indices[0] = masked->itself;
        memset(&statuses[0], 0, sizeof statuses[0]);
        return MPI_SUCCESS;
    }
    int rc = hw_real.Testsome(count, masked->requests, outcount, indices, statuses);
    for (int i = 0; *outcount != HW_UNDEFINED && i < *outcount; i++)
        requests[indices[i]] = masked->requests[indices[i]];
    if (rc == MPI_SUCCESS && *outcount == HW_UNDEFINED && masked->masked_count > 0)
        *outcount = 0;
    return rc;
}

int hw_guarded_some(const struct hw_request_taken *taken, bool is_blocking, int count, MPI_Request requests[],
                    int *outcount, int indices[], MPI_Status statuses[])
{
    for (;;) {
        struct masked masked;
        if (!mask(&masked, taken, count, requests, false))
            return no_memory();
        int rc = look_some(&masked, count, requests, outcount, indices, statuses);
        unmask(&masked);
        if (rc != MPI_SUCCESS || *outcount != 0 || !is_blocking)
            return rc;
        if (masked.moving && masked.is_empty)
            masked.moving->guard->pause(masked.moving->guarded);
    }
}

/* Of a door with an array of statuses, the first time that one of them gets an error of ours. */
static int in_status(int count, MPI_Status *statuses, int rc)
{
    if (rc != MPI_SUCCESS)
        return rc;
    for (int i = 0; i < count; i++)
        statuses[i].MPI_ERROR = MPI_SUCCESS;
    return MPI_ERR_IN_STATUS;
}

int hw_guarded_amend(struct hw_request_taken *taken, const MPI_Request *requests, int count,
                     MPI_Status *statuses, int rc)
{
    for (int i = 0; i < taken->count; i++) {
        struct hw_request_item *item = &taken->items[i];
        bool is_complete =
            item->is_complete || (!taken->is_borrowed && requests[item->index] != item->handle);
        if (item->guard == NULL || !is_complete)
            continue;
        int had = item->is_complete ? item->error : rc;
        int error = item->guard->amend(item->guarded, (MPI_Status *)(uintptr_t)item->status, had);
        item->error = error;
        if (error == had)
            continue;
        if (statuses == NULL) {
            rc = error;
            continue;
        }
        rc = in_status(count, statuses, rc);
        if (item->status)
            ((MPI_Status *)(uintptr_t)item->status)->MPI_ERROR = error;
    }
    return rc;
}

int hw_guarded_show(const struct hw_request_taken *taken, int index, MPI_Status *status, int rc)
{
    for (int i = 0; i < taken->count && rc == MPI_SUCCESS; i++) {
        const struct hw_request_item *item = &taken->items[i];
        if (item->guard && item->index == index)
            rc = item->guard->amend(item->guarded, status, rc);
    }
    return rc;
}

bool hw_guarded_is_cancellable(const struct hw_request_taken *taken)
{
    for (int i = 0; i < taken->count; i++)
        if (taken->items[i].guard && !taken->items[i].guard->is_cancellable(taken->items[i].guarded))
            return false;
    return true;
}
