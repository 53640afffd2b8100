/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/rma/epoch/owed.h"

#include "base/atomic.h"
#include "engines/rma/epoch/arrival.h"
#include "engines/rma/window/facts.h"
#include "profile/calls/calls.h"
#include "profile/record/counters.h"
#include "progress/wire.h"
#include "real/constants.h"
#include "real/extensions.h"
#include "world/world.h"

#ifdef __x86_64__
enum { WRITES_IN_ORDER = true };
#else
enum { WRITES_IN_ORDER = false };
#endif

enum transport { NOT_KNOWN, KEEPS_ORDER, MAY_NOT };

static bool may_owe;
static enum transport transport;
static struct hw_rma_window *owed_window;
static struct hw_rma_target *owed_target;
static enum hw_rma_route owed_route; /* to the target's ghost, or its owner */

void hw_rma_owed_open(void)
{
    int level = HW_THREAD_MULTIPLE;
    hw_bottom.Query_thread(&level);
    /* A profile tells for what each call waits. */
    may_owe = WRITES_IN_ORDER && hw_rma_needs_confirmation && level <= HW_THREAD_FUNNELED &&
              !hw_profile_is_on() && hw_real_extension_used() == NULL;
}

void hw_rma_owed_stop(void) { may_owe = false; }

/* The member of the shadow window at which TARGET's memory is reached by ROUTE. */
static int member_of(const struct hw_rma_target *target, enum hw_rma_route route)
{
    return route == HW_RMA_ROUTE_OWNER ? target->owner.rank : target->ghost;
}

/* The first confirmation shows on what it travels: its answer is counted by TCP, or by nothing. */
static int confirm_first(struct hw_rma_window *window, struct hw_rma_target *target, enum hw_rma_route route)
{
    struct hw_profile_wire before, after;
    bool is_read = hw_wire_read(&before, true);
    int rc = hw_rma_arrival_flush_route(window, target, route, HW_RMA_AT_TARGET);
    is_read = is_read && hw_wire_read(&after, false);
    transport = is_read && after.received_bytes > before.received_bytes ? KEEPS_ORDER : MAY_NOT;
    return rc;
}

bool hw_rma_owed_allows(const struct hw_rma_window *window, const struct hw_rma_target *target)
{
    return may_owe && transport != MAY_NOT && !hw_rma_may_have_threads() && window->spread == NULL &&
           window->dynamic == NULL && target->node != hw_world_own_node();
}

static void pay(void)
{
    if (!hw_inside_is_owing)
        return;
    hw_inside_is_owing = false;
    hw_rma_arrival_flush_route(owed_window, owed_target, owed_route, HW_RMA_AT_TARGET);
}

static bool has_puts(const struct hw_rma_window *window, const struct hw_rma_target *target,
                     enum hw_rma_route route)
{
    return route == HW_RMA_ROUTE_OWNER ? hw_atomic_load_relaxed(&target->owner.has_puts) != 0
                                       : hw_atomic_load_relaxed(&window->sent[target->ghost].has_puts) != 0;
}

int hw_rma_owe(struct hw_rma_window *window, struct hw_rma_target *target, enum hw_rma_route route)
{
    if (!has_puts(window, target, route))
        return MPI_SUCCESS;
    if (transport == NOT_KNOWN)
        return confirm_first(window, target, route);
    hw_rma_owed_before_going_to(member_of(target, route));
    HW_COUNT(confirmations_owed);
    owed_window = window;
    owed_target = target;
    owed_route = route;
    hw_inside_owe(pay);
    return MPI_SUCCESS;
}

void hw_rma_owed_go_on(const struct hw_rma_window *window, int rank)
{
    bool may_go_behind = window == owed_window && (unsigned)rank < (unsigned)window->size &&
                         window->targets[rank].memory == NULL &&
                         member_of(&window->targets[rank], owed_route) == member_of(owed_target, owed_route);
    if (!may_go_behind)
        pay();
}

void hw_rma_owed_go_to(int member)
{
    if (member != member_of(owed_target, owed_route))
        pay();
}
