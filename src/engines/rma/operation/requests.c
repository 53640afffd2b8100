/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/rma/operation/requests.h"

#include "objects/request.h"

atomic_bool hw_rma_requests_are_near;

static _Thread_local bool is_waiting;

void hw_rma_requests_waits(unsigned looked)
{
    (void)looked;
    if (!hw_atomic_load_relaxed(&hw_rma_requests_are_near))
        return;
    is_waiting = true;
    hw_ghost_bells_wait_begin();
}

/* A program that asks again and again waits, too. */
void hw_rma_requests_returned(uint64_t blocked_ns, int still_pending)
{
    (void)blocked_ns;
    bool is_near = hw_atomic_load_relaxed(&hw_rma_requests_are_near);
    if (is_waiting)
        hw_ghost_bells_wait_end();
    else if (is_near && still_pending > 0)
        hw_ghost_bells_ring();
    is_waiting = false;
    if (is_near && hw_atomic_load_relaxed(&hw_request_one_sided) == 0)
        hw_atomic_store_relaxed(&hw_rma_requests_are_near, false);
}
