/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/looking.h"

#include "base/clock.h"
#include "engines/engine.h"
#include "real/quirks.h"

/* What a door that looks has found complete: those at `indices`, or the first where that is NULL. */
struct found {
    int count;
    const int *indices;
    bool is_known; /* no others are, as far as the call tells */
};

/* Ends the look of a door. `began_ns`: of one that waits, when it began; else 0. */
static int leave_look(enum hw_request_looking is, uint64_t began_ns, const MPI_Request *requests,
                      struct found found, int rc)
{
    bool is_pending;
    if (is != HW_REQUEST_LOOKS)
        return rc;
    uint64_t blocked_ns = began_ns ? hw_clock_now_ns() - began_ns : 0;
    if (!found.is_known)
        hw_request_look_untold(requests);
    bool are_all = rc == MPI_SUCCESS && !HW_REAL_MAY_HIDE_ERRORS;
    bool is_followed = hw_request_looked(requests, found.count, found.indices, are_all, &is_pending);
    if (is_followed || began_ns)
        hw_engines_returned(blocked_ns, is_pending);
    return rc;
}

int hw_looking_test(enum hw_request_looking is, MPI_Request *request, int *flag, MPI_Status *status)
{
    int rc = hw_real.Test(request, flag, status);
    return leave_look(is, 0, request, (struct found){!rc && *flag, NULL, !rc}, rc);
}

int hw_looking_testany(enum hw_request_looking is, int count, MPI_Request requests[], int *index, int *flag,
                       MPI_Status *status)
{
    int rc = hw_real.Testany(count, requests, index, flag, status);
    return leave_look(is, 0, requests, (struct found){!rc && *flag, index, !rc}, rc);
}

int hw_looking_testall(enum hw_request_looking is, int count, MPI_Request requests[], int *flag,
                       MPI_Status statuses[])
{
    int rc = hw_real.Testall(count, requests, flag, statuses);
    bool tells_each = rc == MPI_ERR_IN_STATUS && statuses != HW_STATUSES_IGNORE;
    for (int i = 0; is == HW_REQUEST_LOOKS && tells_each && i < count; i++)
        if (statuses[i].MPI_ERROR != MPI_ERR_PENDING)
            hw_request_look_found(requests, i);
    bool are_all = rc == MPI_SUCCESS && *flag;
    return leave_look(is, 0, requests, (struct found){are_all ? count : 0, NULL, !rc || tells_each}, rc);
}

static struct found found_some(int rc, const int *outcount, const int *indices, const MPI_Status *statuses)
{
    bool is_known = rc == MPI_SUCCESS || (rc == MPI_ERR_IN_STATUS && statuses != HW_STATUSES_IGNORE);
    return (struct found){is_known && *outcount != MPI_UNDEFINED ? *outcount : 0, indices, is_known};
}

int hw_looking_testsome(enum hw_request_looking is, int count, MPI_Request requests[], int *outcount,
                        int indices[], MPI_Status statuses[])
{
    int rc = hw_real.Testsome(count, requests, outcount, indices, statuses);
    return leave_look(is, 0, requests, found_some(rc, outcount, indices, statuses), rc);
}

/* Returns when it began. */
static uint64_t wait_looking(enum hw_request_looking is, int count)
{
    if (is != HW_REQUEST_LOOKS)
        return 0;
    hw_engines_waits((unsigned)count);
    return hw_clock_now_ns();
}

int hw_looking_waitany(enum hw_request_looking is, int count, MPI_Request requests[], int *index,
                       MPI_Status *status)
{
    uint64_t began_ns = wait_looking(is, count);
    int rc = hw_real.Waitany(count, requests, index, status);
    return leave_look(is, began_ns, requests, (struct found){!rc, index, !rc}, rc);
}

int hw_looking_waitsome(enum hw_request_looking is, int count, MPI_Request requests[], int *outcount,
                        int indices[], MPI_Status statuses[])
{
    uint64_t began_ns = wait_looking(is, count);
    int rc = hw_real.Waitsome(count, requests, outcount, indices, statuses);
    return leave_look(is, began_ns, requests, found_some(rc, outcount, indices, statuses), rc);
}
