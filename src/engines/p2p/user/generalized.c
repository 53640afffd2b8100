/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/p2p/user/generalized.h"

#include "real/constants.h"

/* Their memory is the attachment's, and MPI_Cancel is the guard's. */
static int forget(void *extra)
{
    (void)extra;
    return MPI_SUCCESS;
}

static int cancel(void *extra, int is_complete)
{
    (void)extra, (void)is_complete;
    return MPI_SUCCESS;
}

int hw_p2p_generalized_start(int (*query)(void *extra, MPI_Status *status), void *extra, MPI_Request *request)
{
    return hw_bottom.Grequest_start(query, forget, cancel, extra, request);
}

void hw_p2p_generalized_tell_sent(MPI_Status *status, bool is_cancelled)
{
    hw_bottom.Status_set_elements(status, HW_BYTE, 0);
    hw_bottom.Status_set_cancelled(status, is_cancelled);
    status->MPI_SOURCE = HW_UNDEFINED;
    status->MPI_TAG = HW_UNDEFINED;
}
