/* SPDX-License-Identifier: BSD-3-Clause */
/* How the progress thread asks the MPI about pending requests. */
#include "objects/request_poll.h"

#include "base/atomic.h"
#include "real/quirks.h"

enum { MAX_COMPLETED_PER_POLL = 16 };

static _Atomic int asking = HW_REQUEST_ASK; /* enum hw_request_asking */

void hw_request_allow_asking(enum hw_request_asking how) { hw_atomic_store_seq_cst(&asking, how); }

/* Sets *has_polled if asking made progress. It does in the place of this very request, which no other poll
 * may reach (MPICH with several VCIs): so it is asked plainly only where it must be. */
static bool ask(MPI_Request handle, bool is_plainly, bool *has_polled)
{
    if (is_plainly)
        return hw_real_request_is_complete(handle) != 0;
    int flag = 0;
    int rc = hw_bottom.Request_get_status(handle, &flag, HW_STATUS_IGNORE);
    /* An error belongs to the program: it will see it at its own door. Nothing left to progress. */
    bool is_complete = rc != MPI_SUCCESS || flag;
    *has_polled = !is_complete;
    return is_complete;
}

/* Of the two communicators at which asking may raise an error. Nobody else is in MPI. */
static void set_handlers(MPI_Errhandler handler)
{
    hw_bottom.Comm_set_errhandler(HW_COMM_WORLD, handler);
    hw_bottom.Comm_set_errhandler(HW_COMM_SELF, handler);
}

static int ask_about_all(int how, bool *has_polled)
{
    int completed = 0;
    MPI_Request handle;
    bool is_plainly;
    while (completed < MAX_COMPLETED_PER_POLL && hw_request_choose(how, &handle, &is_plainly) &&
           ask(handle, is_plainly, has_polled)) {
        hw_request_mark_done(handle);
        completed++;
    }
    if (completed == MAX_COMPLETED_PER_POLL)
        *has_polled = true;
    return completed;
}

int hw_request_poll(bool *has_polled)
{
    int how = hw_atomic_load_seq_cst(&asking);
    *has_polled = false;
    /* Where the MPI can be asked without raising errors, handlers are no reason not to ask. */
    if (how == HW_REQUEST_ASK_NOT && !hw_real_request_is_complete)
        return 0;
    if (how != HW_REQUEST_ASK_MUTED)
        return ask_about_all(how, has_polled);
    set_handlers(HW_ERRORS_RETURN);
    int completed = ask_about_all(how, has_polled);
    set_handlers(HW_ERRORS_ARE_FATAL);
    return completed;
}
