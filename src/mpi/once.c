/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/once.h"

#include "real/constants.h"
#include "real/quirks.h"

bool hw_once_must_be_single(const struct hw_request_taken *taken)
{
    return taken->once > 0 && hw_real_loses_errors_of_persistent();
}

/* From the program's array, while the MPI completes the others. */
static void hide(const struct hw_request_taken *taken, MPI_Request requests[])
{
    for (int i = 0; i < taken->count; i++)
        if (taken->items[i].is_once)
            requests[taken->items[i].index] = HW_REQUEST_NULL;
}

static void show(const struct hw_request_taken *taken, MPI_Request requests[])
{
    for (int i = 0; i < taken->count; i++)
        if (taken->items[i].is_once)
            requests[taken->items[i].index] = taken->items[i].handle;
}

/* Waits for those of ours, which are shown, and returns what the door returns. `rc`: what came of the others.
 */
static int wait_for_each(struct hw_request_taken *taken, int count, MPI_Request requests[],
                         MPI_Status statuses[], int rc)
{
    for (int i = 0; i < taken->count; i++) {
        if (!taken->items[i].is_once)
            continue;
        int index = taken->items[i].index;
        int error = hw_real.Wait(&requests[index], &statuses[index]);
        if (error != MPI_SUCCESS && rc == MPI_SUCCESS) {
            for (int other = 0; other < count; other++)
                statuses[other].MPI_ERROR = MPI_SUCCESS;
            rc = MPI_ERR_IN_STATUS;
        }
        statuses[index].MPI_ERROR = error;
        hw_request_mark_complete(taken, index, &statuses[index], error);
    }
    return rc;
}

int hw_once_waitall(struct hw_request_taken *taken, int count, MPI_Request requests[], MPI_Status statuses[])
{
    hide(taken, requests);
    int rc = hw_real.Waitall(count, requests, statuses);
    show(taken, requests);
    return wait_for_each(taken, count, requests, statuses, rc);
}

int hw_once_testall(struct hw_request_taken *taken, int count, MPI_Request requests[], int *flag,
                    MPI_Status statuses[])
{
    *flag = 0;
    for (int i = 0; i < taken->count; i++) {
        int is_complete = 1;
        if (taken->items[i].is_once)
            hw_real.Request_get_status(taken->items[i].handle, &is_complete, HW_STATUS_IGNORE);
        if (!is_complete)
            return MPI_SUCCESS;
    }
    hide(taken, requests);
    int rc = hw_real.Testall(count, requests, flag, statuses);
    show(taken, requests);
    return *flag ? wait_for_each(taken, count, requests, statuses, rc) : rc;
}

int hw_once_testany(const struct hw_request_taken *taken, int count, MPI_Request requests[], int *index,
                    int *flag, MPI_Status *status)
{
    for (int i = 0; i < taken->count; i++) {
        if (!taken->items[i].is_once)
            continue;
        *index = taken->items[i].index;
        int rc = hw_real.Test(&requests[*index], flag, status);
        if (rc != MPI_SUCCESS || *flag)
            return rc;
    }
    hide(taken, requests);
    int rc = hw_real.Testany(count, requests, index, flag, status);
    show(taken, requests);
    if (rc == MPI_SUCCESS && *index == HW_UNDEFINED)
        *flag = 0; /* those of ours are active */
    return rc;
}
