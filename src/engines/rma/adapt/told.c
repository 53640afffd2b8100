/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/rma/adapt/told.h"

#include "base/atomic.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/options.h"
#include "engines/rma/adapt/adapt.h"
#include "ghost/bell.h"
#include "ghost/rates.h"
#include "profile/record/counters.h"
#include "profile/record/fields.h"
#include "world/world.h"

#include <inttypes.h>
#include <stdio.h>

/* Changes beyond are counted (routes_changed, put_routes_changed), not kept. */
enum { CHANGES_MAX = 256 };

static struct hw_rma_change changes[CHANGES_MAX];
static atomic_uint change_count; /* release, after a change was written */
static uint64_t opened_ns;

static const char *const route_names[] = {[HW_RMA_ROUTE_GHOST] = "ghost", [HW_RMA_ROUTE_OWNER] = "owner"};
static const char *const cause_names[] = {[HW_RMA_CAUSE_MEASURED] = "measured",
                                          [HW_RMA_CAUSE_SHARE] = "share",
                                          [HW_RMA_CAUSE_AGREED] = "agreed",
                                          [HW_RMA_CAUSE_CONTROL] = "control"};

void hw_rma_told_open(void) { opened_ns = hw_clock_now_ns(); }

void hw_rma_told_add(const struct hw_rma_change *change)
{
    unsigned count = hw_atomic_load_relaxed(&change_count);
    if (!change->is_accumulate)
        HW_COUNT(put_routes_changed);
    if (count == CHANGES_MAX)
        return;
    changes[count] = *change;
    changes[count].now_ns = hw_clock_now_ns();
    hw_atomic_store_release(&change_count, count + 1);
}

void hw_rma_told_change(const struct hw_rma_window *window, unsigned class, const struct hw_route *route,
                        int share_percent)
{
    struct hw_rma_change change = {.window = window->id,
                                   .ghost_ns = hw_route_ns(route, HW_ROUTE_GHOST),
                                   .owner_ns = hw_route_ns(route, HW_ROUTE_OWNER),
                                   .size_class = (int)(class % HW_ROUTE_SIZES),
                                   .share_percent = share_percent,
                                   .route =
                                       route->way == HW_ROUTE_OWNER ? HW_RMA_ROUTE_OWNER : HW_RMA_ROUTE_GHOST,
                                   .cause = HW_RMA_CAUSE_MEASURED};
    hw_rma_told_add(&change);
}

static void write_all(struct hw_record_list *list, const void *unused)
{
    (void)unused;
    unsigned count = hw_atomic_load_acquire(&change_count);
    for (unsigned i = 0; i < count; i++) {
        const struct hw_rma_change *one = &changes[i];
        struct hw_record_route route = {.at_s = (double)(one->now_ns - opened_ns) / (double)HW_NS_PER_S,
                                        .window = one->window,
                                        .operations = one->is_accumulate ? "accumulates" : "Put and Get",
                                        .size_class = one->size_class,
                                        .route = route_names[one->route],
                                        .cause = cause_names[one->cause],
                                        .ghost_ns = one->ghost_ns,
                                        .owner_ns = one->owner_ns,
                                        .share_percent = one->share_percent};
        hw_record_add_route(list, &route);
    }
}

void hw_rma_told_describe(struct hw_record_facts *facts)
{
    const struct hw_ghost_rates *rates = hw_ghost_rates();
    if (rates) {
        hw_atomic_store_relaxed(&hw_counters.rate_looks, hw_atomic_load_relaxed(&rates->looks));
        hw_atomic_store_relaxed(&hw_counters.rate_exchanges, hw_atomic_load_relaxed(&rates->exchanges));
    }
    if (hw_atomic_load_acquire(&change_count) > 0)
        facts->routes.write = write_all;
}

/* Why the last change was made. */
static void say_last(char *text, size_t capacity)
{
    unsigned count = hw_atomic_load_acquire(&change_count);
    if (count == 0) {
        snprintf(text, capacity, "no route was changed");
        return;
    }
    const struct hw_rma_change *last = &changes[count - 1];
    int length = snprintf(text, capacity, "the last change: %s to the %s after %.3f s (%s",
                          last->is_accumulate ? "accumulates" : "Put and Get", route_names[last->route],
                          (double)(last->now_ns - opened_ns) / (double)HW_NS_PER_S, cause_names[last->cause]);
    if (length > 0 && last->ghost_ns && last->owner_ns)
        length += snprintf(text + length, capacity - (size_t)length,
                           ": an operation took %.1f us by the ghost, %.1f us by the owner",
                           (double)last->ghost_ns / 1e3, (double)last->owner_ns / 1e3);
    if (length > 0 && last->share_percent >= 0)
        length += snprintf(text + length, capacity - (size_t)length, ": %d %% of the time in MPI",
                           last->share_percent);
    if (length > 0)
        snprintf(text + length, capacity - (size_t)length, ")");
}

void hw_rma_adapt_tell(void)
{
    char last[256];
    uint64_t owners = hw_atomic_load_relaxed(&hw_counters.operations_to_owners);
    uint64_t ghosts = hw_atomic_load_relaxed(&hw_counters.operations_redirected);
    if (hw_options.adapt <= HW_OPTION_ADAPT_GUIDED || hw_world.user_rank != 0)
        return;
    say_last(last, sizeof last);
    hw_log_info("HEADWAY_ADAPT=%s: process 0 made %" PRIu64 " operations by ghosts and %" PRIu64
                " by owners; %s",
                hw_options.adapt == HW_OPTION_ADAPT_AUTO     ? "auto"
                : hw_options.adapt == HW_OPTION_ADAPT_GLOBAL ? "global"
                                                             : "local",
                ghosts, owners, last);
}
