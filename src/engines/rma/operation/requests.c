/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/rma/operation/requests.h"

#include "objects/request.h"
#include "world/world.h"

atomic_bool hw_rma_requests_are_near;

static _Thread_local bool is_waiting;

static void each_bell(void (*tell)(struct hw_ghost_bell *bell))
{
    for (int i = 0; i < hw_world.own_node->ghost_count; i++)
        tell(hw_ghost_bell_of(i));
}

static void begin(struct hw_ghost_bell *bell) { hw_ghost_bell_wait_begin(bell); }
static void end(struct hw_ghost_bell *bell) { hw_ghost_bell_wait_end(bell); }
static void ring(struct hw_ghost_bell *bell) { hw_ghost_bell_ring(bell); }

void hw_rma_requests_waits(void)
{
    if (!hw_atomic_load_relaxed(&hw_rma_requests_are_near))
        return;
    is_waiting = true;
    each_bell(begin);
}

/* A program that asks again and again waits, too. */
void hw_rma_requests_returned(uint64_t blocked_ns, int still_pending)
{
    (void)blocked_ns;
    bool is_near = hw_atomic_load_relaxed(&hw_rma_requests_are_near);
    if (is_waiting)
        each_bell(end);
    else if (is_near && still_pending > 0)
        each_bell(ring);
    is_waiting = false;
    if (is_near && hw_atomic_load_relaxed(&hw_request_one_sided) == 0)
        hw_atomic_store_relaxed(&hw_rma_requests_are_near, false);
}
