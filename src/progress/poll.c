/* SPDX-License-Identifier: BSD-3-Clause */
#include "progress/poll.h"

#include "base/log.h"
#include "real/constants.h"
#include "real/real.h"

static MPI_Comm comm;
static MPI_Request request;
static char byte;
static bool is_open;

enum hw_status hw_poll_open(void)
{
    /* No duplicate: it would have the program's attributes, whose callbacks would run. */
    if (hw_bottom.Comm_split(HW_COMM_SELF, 0, 0, &comm) != MPI_SUCCESS)
        return HW_MPI;
    request = HW_REQUEST_NULL;
    is_open = true;
    return HW_OK;
}

bool hw_poll_is_open(void) { return is_open; }

static void post(void)
{
    if (hw_bottom.Irecv(&byte, 1, HW_BYTE, 0, 0, comm, &request) == MPI_SUCCESS)
        return;
    hw_log_warn("no private receive to poll with: only operations with a request are progressed");
    hw_poll_close();
}

void hw_poll(void)
{
    int flag;
    if (is_open && request == HW_REQUEST_NULL)
        post();
    if (is_open)
        hw_bottom.Test(&request, &flag, HW_STATUS_IGNORE);
}

void hw_poll_close(void)
{
    if (!is_open)
        return;
    is_open = false;
    if (request != HW_REQUEST_NULL) {
        hw_bottom.Cancel(&request);
        hw_bottom.Wait(&request, HW_STATUS_IGNORE);
    }
    hw_bottom.Comm_free(&comm);
}
