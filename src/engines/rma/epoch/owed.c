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
static int owed_ghost;

void hw_rma_owed_open(void)
{
    int level = HW_THREAD_MULTIPLE;
    hw_bottom.Query_thread(&level);
    /* A profile tells for what each call waits. */
    may_owe = WRITES_IN_ORDER && hw_rma_needs_confirmation && level <= HW_THREAD_FUNNELED &&
              !hw_profile_is_on() && hw_real_extension_used() == NULL;
}

void hw_rma_owed_stop(void) { may_owe = false; }

/* Waits until what was put has arrived at GHOST, which was flushed. */
static int confirm(struct hw_rma_window *window, int ghost)
{
    return hw_rma_arrival_flush(window, ghost, NULL, HW_RMA_AT_TARGET);
}

/* The first confirmation shows on what it travels: its answer is counted by TCP, or by nothing. */
static int confirm_first(struct hw_rma_window *window, int ghost)
{
    struct hw_profile_wire before, after;
    bool is_read = hw_wire_read(&before, true);
    int rc = confirm(window, ghost);
    is_read = is_read && hw_wire_read(&after, false);
    transport = is_read && after.received_bytes > before.received_bytes ? KEEPS_ORDER : MAY_NOT;
    return rc;
}

bool hw_rma_owed_allows(const struct hw_rma_window *window, const struct hw_rma_target *target)
{
    return may_owe && transport != MAY_NOT && !hw_rma_may_have_threads() && window->spread == NULL &&
           window->dynamic == NULL && target->node != hw_world_own_node() &&
           hw_atomic_load_relaxed(&window->has_puts[target->ghost]) != 0;
}

static void pay(void)
{
    if (!hw_inside_is_owing)
        return;
    hw_inside_is_owing = false;
    confirm(owed_window, owed_ghost);
}

int hw_rma_owe(struct hw_rma_window *window, int ghost)
{
    if (transport == NOT_KNOWN)
        return confirm_first(window, ghost);
    HW_COUNT(confirmations_owed);
    owed_window = window;
    owed_ghost = ghost;
    hw_inside_owe(pay);
    return MPI_SUCCESS;
}

void hw_rma_owed_go_on(const struct hw_rma_window *window, int rank)
{
    bool goes_behind = window == owed_window && (unsigned)rank < (unsigned)window->size &&
                       window->targets[rank].ghost == owed_ghost && window->targets[rank].memory == NULL &&
                       hw_atomic_load_relaxed(&window->targets[rank].route) == HW_RMA_ROUTE_GHOST &&
                       !hw_rma_is_owner_dirty(window, &window->targets[rank]);
    if (!goes_behind)
        pay();
}
