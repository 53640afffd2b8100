/* SPDX-License-Identifier: BSD-3-Clause */
/* The doors: every call through which a request is completed, freed, cancelled or inspected
 * (MPI-4.1 sections 3.7.3 to 3.7.6 and 3.8.4).
 *
 * While the tracker knows nothing the entry makes the real call itself, after one load. Otherwise a door
 * takes its requests from what is pending, makes the real call, and hands back what still is. */
#include "base/clock.h"
#include "engines/engine.h"
#include "hooks.h"
#include "objects/request.h"

struct door {
    struct hw_request_taken taken;
    uint64_t entered_ns;
};

/* True if any of the requests is tracked and active: leave_door must follow. */
static inline bool enter_door(struct door *door, int count, const MPI_Request *requests)
{
    if (!hw_request_take(count, requests, &door->taken))
        return false;
    door->entered_ns = hw_clock_now_ns();
    return true;
}

/* Likewise for a call that completes nothing: Cancel and Request_get_status*. */
static inline bool enter_side_door(struct door *door, int count, const MPI_Request *requests)
{
    if (!hw_request_borrow(count, requests, &door->taken))
        return false;
    door->entered_ns = hw_clock_now_ns();
    return true;
}

static void leave_door(struct door *door, const MPI_Request *requests, bool is_blocking)
{
    uint64_t blocked_ns = is_blocking ? hw_clock_now_ns() - door->entered_ns : 0;
    int still_pending = hw_request_return(&door->taken, requests);
    hw_engines_returned(blocked_ns, still_pending);
}

enum { BLOCKING = true, NONBLOCKING = false };

int hw_wait(MPI_Request *request, MPI_Status *status)
{
    struct door door;
    if (!enter_door(&door, 1, request))
        return hw_real.Wait(request, status);
    int rc = hw_real.Wait(request, status);
    hw_request_mark_all_complete(&door.taken);
    leave_door(&door, request, BLOCKING);
    return rc;
}

int hw_waitall(int count, MPI_Request requests[], MPI_Status statuses[])
{
    struct door door;
    if (!enter_door(&door, count, requests))
        return hw_real.Waitall(count, requests, statuses);
    int rc = hw_real.Waitall(count, requests, statuses);
    if (rc == MPI_SUCCESS)
        hw_request_mark_all_complete(&door.taken);
    leave_door(&door, requests, BLOCKING);
    return rc;
}

int hw_waitany(int count, MPI_Request requests[], int *index, MPI_Status *status)
{
    struct door door;
    if (!enter_door(&door, count, requests))
        return hw_real.Waitany(count, requests, index, status);
    int rc = hw_real.Waitany(count, requests, index, status);
    if (index != NULL)
        hw_request_mark_complete(&door.taken, *index);
    leave_door(&door, requests, BLOCKING);
    return rc;
}

static void mark_some(struct hw_request_taken *taken, int count, const int indices[])
{
    for (int i = 0; count != MPI_UNDEFINED && i < count; i++)
        hw_request_mark_complete(taken, indices[i]);
}

int hw_waitsome(int count, MPI_Request requests[], int *outcount, int indices[], MPI_Status statuses[])
{
    struct door door;
    if (!enter_door(&door, count, requests))
        return hw_real.Waitsome(count, requests, outcount, indices, statuses);
    int rc = hw_real.Waitsome(count, requests, outcount, indices, statuses);
    if (rc == MPI_SUCCESS)
        mark_some(&door.taken, *outcount, indices);
    leave_door(&door, requests, BLOCKING);
    return rc;
}

int hw_test(MPI_Request *request, int *flag, MPI_Status *status)
{
    struct door door;
    if (!enter_door(&door, 1, request))
        return hw_real.Test(request, flag, status);
    int rc = hw_real.Test(request, flag, status);
    if (rc == MPI_SUCCESS && *flag)
        hw_request_mark_all_complete(&door.taken);
    leave_door(&door, request, NONBLOCKING);
    return rc;
}

int hw_testall(int count, MPI_Request requests[], int *flag, MPI_Status statuses[])
{
    struct door door;
    if (!enter_door(&door, count, requests))
        return hw_real.Testall(count, requests, flag, statuses);
    int rc = hw_real.Testall(count, requests, flag, statuses);
    if (rc == MPI_SUCCESS && *flag)
        hw_request_mark_all_complete(&door.taken);
    leave_door(&door, requests, NONBLOCKING);
    return rc;
}

int hw_testany(int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status)
{
    struct door door;
    if (!enter_door(&door, count, requests))
        return hw_real.Testany(count, requests, index, flag, status);
    int rc = hw_real.Testany(count, requests, index, flag, status);
    if (rc == MPI_SUCCESS && *flag)
        hw_request_mark_complete(&door.taken, *index);
    leave_door(&door, requests, NONBLOCKING);
    return rc;
}

int hw_testsome(int count, MPI_Request requests[], int *outcount, int indices[], MPI_Status statuses[])
{
    struct door door;
    if (!enter_door(&door, count, requests))
        return hw_real.Testsome(count, requests, outcount, indices, statuses);
    int rc = hw_real.Testsome(count, requests, outcount, indices, statuses);
    if (rc == MPI_SUCCESS)
        mark_some(&door.taken, *outcount, indices);
    leave_door(&door, requests, NONBLOCKING);
    return rc;
}

int hw_request_get_status(MPI_Request request, int *flag, MPI_Status *status)
{
    struct door door;
    if (!enter_side_door(&door, 1, &request))
        return hw_real.Request_get_status(request, flag, status);
    int rc = hw_real.Request_get_status(request, flag, status);
    if (rc == MPI_SUCCESS && *flag)
        hw_request_mark_all_complete(&door.taken);
    leave_door(&door, &request, NONBLOCKING);
    return rc;
}

int hw_request_get_status_all(int count, const MPI_Request requests[], int *flag, MPI_Status statuses[])
{
    struct door door;
    if (!enter_side_door(&door, count, requests))
        return hw_real.Request_get_status_all(count, requests, flag, statuses);
    int rc = hw_real.Request_get_status_all(count, requests, flag, statuses);
    if (rc == MPI_SUCCESS && *flag)
        hw_request_mark_all_complete(&door.taken);
    leave_door(&door, requests, NONBLOCKING);
    return rc;
}

int hw_request_get_status_any(int count, const MPI_Request requests[], int *index, int *flag,
                              MPI_Status *status)
{
    struct door door;
    if (!enter_side_door(&door, count, requests))
        return hw_real.Request_get_status_any(count, requests, index, flag, status);
    int rc = hw_real.Request_get_status_any(count, requests, index, flag, status);
    if (rc == MPI_SUCCESS && *flag)
        hw_request_mark_complete(&door.taken, *index);
    leave_door(&door, requests, NONBLOCKING);
    return rc;
}

int hw_request_get_status_some(int count, const MPI_Request requests[], int *outcount, int indices[],
                               MPI_Status statuses[])
{
    struct door door;
    if (!enter_side_door(&door, count, requests))
        return hw_real.Request_get_status_some(count, requests, outcount, indices, statuses);
    int rc = hw_real.Request_get_status_some(count, requests, outcount, indices, statuses);
    if (rc == MPI_SUCCESS)
        mark_some(&door.taken, *outcount, indices);
    leave_door(&door, requests, NONBLOCKING);
    return rc;
}

int hw_cancel(MPI_Request *request)
{
    struct door door;
    if (!enter_side_door(&door, 1, request))
        return hw_real.Cancel(request);
    int rc = hw_real.Cancel(request);
    leave_door(&door, request, NONBLOCKING);
    return rc;
}

int hw_request_free(MPI_Request *request)
{
    hw_request_drop(1, request);
    int rc = hw_real.Request_free(request);
    hw_engines_returned(0, 0);
    return rc;
}
