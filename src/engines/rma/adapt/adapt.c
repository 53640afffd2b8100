/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/rma/adapt/adapt.h"

#include "base/clock.h"
#include "base/options.h"
#include "engines/rma/adapt/told.h"
#include "engines/rma/window/adapting.h"
#include "ghost/rates.h"
#include "profile/record/counters.h"
#include "world/world.h"

#include <stdlib.h>

/* What a process proposes that does not measure: each has one vote. */
enum { VOTE_NS = 1000 };

/* What the first member proposes while it looks at the other route outweighs all others, of which each
 * proposes PROPOSAL_MAX at most. */
#define PROPOSAL_MAX (INT64_C(1) << 40)
#define COMMAND (INT64_C(1) << 62)

/* Of one operation: so that the sum over a job's members is a number. */
#define FORESEEN_MAX (INT64_C(1) << 32)

/* A look at the other route of accumulates that finds no operation is given up after so many agreements. */
enum { LOOK_AGREEMENTS = 8 };

static bool adapts(const struct hw_rma_window *window)
{
    return hw_options.adapt > HW_OPTION_ADAPT_GUIDED && hw_options.adapt_draw == 0 &&
           window->routes.may_use_owner && !window->is_multithreaded && !window->dynamic;
}

static void make(struct hw_rma_window *window)
{
    if (!adapts(window))
        return;
    window->adapt = calloc(1, sizeof *window->adapt);
    if (window->adapt && hw_rma_adapt_measures(window))
        hw_rma_measure_make(window);
}

static void end(struct hw_rma_window *window)
{
    for (int i = 0; window->adapt && i < HW_ROUTE_CLASSES; i++)
        free(window->adapt->classes[i]);
    free(window->adapt);
    window->adapt = NULL;
    hw_atomic_store_relaxed(&window->is_watched, 0);
}

bool hw_rma_adapt_measures(const struct hw_rma_window *window)
{
    return hw_options.adapt == HW_OPTION_ADAPT_AUTO && window->adapt && !hw_rma_route_is_said(window);
}

static uint8_t byte_of(const struct hw_rma_window *window, int rank)
{
    return hw_ghost_rates_read(hw_world.processes[window->targets[rank].process].user_rank);
}

/* By what the table says of each target. */
static void follow_table(struct hw_rma_window *window)
{
    int changed = -1;
    for (int i = 0; i < window->size; i++) {
        enum hw_rate_says says = hw_rate_byte_says(byte_of(window, i));
        uint32_t route = says == HW_RATE_OWNER ? HW_RMA_ROUTE_OWNER : HW_RMA_ROUTE_GHOST;
        if (says == HW_RATE_NOTHING || hw_atomic_load_relaxed(&window->targets[i].route) == route)
            continue;
        hw_atomic_store_relaxed(&window->targets[i].route, route);
        changed = i;
    }
    if (changed < 0)
        return;
    struct hw_rma_change change = {
        .window = window->id,
        .size_class = -1,
        .share_percent = hw_rate_byte_percent(byte_of(window, changed)),
        .route = (enum hw_rma_route)hw_atomic_load_relaxed(&window->targets[changed].route),
        .cause = HW_RMA_CAUSE_SHARE};
    hw_rma_told_add(&change);
}

void hw_rma_adapt_follow(struct hw_rma_window *window)
{
    uint32_t generation = hw_ghost_rates_generation();
    if (hw_options.adapt != HW_OPTION_ADAPT_GLOBAL || window->adapt->generation == generation ||
        hw_rma_route_is_said(window))
        return;
    window->adapt->generation = generation;
    follow_table(window);
}

/* ---- proposals ---- */

static int64_t vote(const struct hw_rma_window *window)
{
    enum hw_rate_says says = hw_rate_byte_says(byte_of(window, window->rank));
    return says == HW_RATE_NOTHING ? 0 : says == HW_RATE_OWNER ? -VOTE_NS : VOTE_NS;
}

/* What others say of accumulates whose other route is not known: Put and Get on the window, else the share of
 * time in MPI. To the ghost by which a window did not begin only what accumulates take themselves may lead:
 * until members meet again, and it is known, much may have changed. To owners that share cores only a look
 * leads: Put and Get within a node do without the owner, and accumulates wait for its turn. */
static int64_t hinted_gain(const struct hw_rma_window *window)
{
    const struct hw_rma_adapt *adapt = window->adapt;
    int64_t moves = hw_rma_measure_moves_gain_ns(adapt), votes = vote(window);
    int64_t gain = moves ? moves : votes;
    bool is_vain = gain > 0 ? adapt->first_way == HW_ROUTE_OWNER : hw_rma_measure_turn_ns() > 0;
    return is_vain ? 0 : gain;
}

/* What operations since the last agreement would have cost more, or less, by the other route. */
static int64_t measured_gain(const struct hw_rma_window *window)
{
    struct hw_rma_measured_accumulates *measured = &window->adapt->measured;
    int64_t ghost = (int64_t)measured->ns[HW_ROUTE_GHOST], owner = (int64_t)measured->ns[HW_ROUTE_OWNER];
    int64_t operations = (int64_t)measured->operations, gain = 0;
    int64_t each = ghost && owner ? owner - ghost : hinted_gain(window);
    measured->operations = 0;
    if (__builtin_mul_overflow(each, operations, &gain) || gain > PROPOSAL_MAX)
        return each > 0 ? PROPOSAL_MAX : -PROPOSAL_MAX;
    return gain < -PROPOSAL_MAX ? -PROPOSAL_MAX : gain;
}

/* Of the first member: that it must look at the other route, 0: it need not. */
static int64_t command(struct hw_rma_adapt *adapt)
{
    if (adapt->accumulates.phase != HW_ROUTE_CONTROL) {
        adapt->proposals = 0;
        return 0;
    }
    bool is_dear = adapt->proposals == 0 && !hw_rma_measure_can_look(adapt);
    if (is_dear || ++adapt->proposals > LOOK_AGREEMENTS) {
        hw_route_use(&adapt->accumulates, adapt->accumulates.way);
        adapt->proposals = 0;
        return 0;
    }
    return hw_route_next(&adapt->accumulates) == HW_ROUTE_OWNER ? -COMMAND : COMMAND;
}

static int64_t propose(struct hw_rma_window *window)
{
    if (window->adapt == NULL)
        return 0;
    if (hw_options.adapt != HW_OPTION_ADAPT_AUTO)
        return vote(window);
    int64_t commanded = window->rank == 0 ? command(window->adapt) : 0;
    return commanded ? commanded : measured_gain(window);
}

/* A program that never meets on a window keeps the route that its accumulates begin with. So a window begins
 * as the last one showed that knows both routes. What Put and Get showed leads no further than with
 * hinted_gain(), and to owners alone. */
static int64_t foresee(void)
{
    if (hw_options.adapt != HW_OPTION_ADAPT_AUTO)
        return 0;
    int64_t shown = hw_rma_measure_shown_ns(false), moves = hw_rma_measure_shown_ns(true);
    int64_t gain = shown ? shown : moves < 0 && hw_rma_measure_turn_ns() == 0 ? moves : 0;
    return gain > FORESEEN_MAX ? FORESEEN_MAX : gain < -FORESEEN_MAX ? -FORESEEN_MAX : gain;
}

/* ---- after an agreement ---- */

static void tell_agreed(const struct hw_rma_window *window, enum hw_rma_route route)
{
    const struct hw_rma_adapt *adapt = window->adapt;
    bool is_auto = hw_options.adapt == HW_OPTION_ADAPT_AUTO, is_look = adapt->proposals > 0;
    struct hw_rma_change change = {.window = window->id,
                                   .ghost_ns = adapt->measured.ns[HW_ROUTE_GHOST],
                                   .owner_ns = adapt->measured.ns[HW_ROUTE_OWNER],
                                   .is_accumulate = true,
                                   .size_class = -1,
                                   .share_percent = hw_rate_byte_percent(byte_of(window, window->rank)),
                                   .route = route,
                                   .cause = !is_auto  ? HW_RMA_CAUSE_SHARE
                                            : is_look ? HW_RMA_CAUSE_CONTROL
                                                      : HW_RMA_CAUSE_AGREED};
    hw_rma_told_add(&change);
}

static void agreed(struct hw_rma_window *window, enum hw_rma_route before, int parts)
{
    if (window->adapt == NULL)
        return;
    enum hw_rma_route route = (enum hw_rma_route)hw_atomic_load_relaxed(&window->routes.accumulate);
    if (hw_options.adapt == HW_OPTION_ADAPT_LOCAL && !hw_rma_route_is_said(window))
        for (int i = 0; i < window->size; i++)
            hw_atomic_store_relaxed(&window->targets[i].route, (uint32_t)route);
    if (hw_options.adapt == HW_OPTION_ADAPT_AUTO)
        hw_rma_measure_agreed(window, route != before, parts);
    if (hw_options.adapt == HW_OPTION_ADAPT_AUTO && window->adapt->accumulates.phase != HW_ROUTE_CONTROL)
        hw_route_use(&window->adapt->accumulates,
                     route == HW_RMA_ROUTE_OWNER ? HW_ROUTE_OWNER : HW_ROUTE_GHOST);
    if (route != before)
        tell_agreed(window, route);
}

void hw_rma_adapt_open(void)
{
    static const struct hw_rma_adapting all = {make, end, propose, foresee, agreed};
    if (hw_options.adapt > HW_OPTION_ADAPT_GUIDED)
        hw_rma_adapting = &all;
    hw_rma_measure_open();
    hw_rma_told_open();
}
