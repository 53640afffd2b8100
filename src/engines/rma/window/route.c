/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/rma/window/route.h"

#include "base/dice.h"
#include "base/options.h"
#include "engines/engine.h"
#include "engines/rma/window/adapting.h"
#include "engines/rma/window/facts.h"
#include "engines/rma/window/plan.h"
#include "engines/rma/window/window.h"
#include "engines/rma/window/wish.h"
#include "world/world.h"

const struct hw_rma_adapting *hw_rma_adapting;

/* Where operations may go to any ghost of a node (spread.h), owners are not among the choices. */
bool hw_rma_route_may_use_owner(void)
{
    return hw_options.adapt != HW_OPTION_ADAPT_OFF &&
           hw_options.ghost_binding == HW_OPTION_GHOST_BINDING_RANK &&
           hw_options.ghost_balance == HW_OPTION_GHOST_BALANCE_OFF;
}

static bool is_drawn(void) { return hw_options.adapt_draw != 0; }

/* A program that says itself where its routes change has no need of it. A thread may have operations under
 * way while another is in a barrier. */
bool hw_rma_route_changes_at_barriers(void)
{
    return hw_rma_route_may_use_owner() && !hw_rma_may_have_threads() &&
           (hw_options.adapt > HW_OPTION_ADAPT_GUIDED || is_drawn());
}

/* A ghost that takes its core from user processes which otherwise have one each has to earn it first. Where
 * they share cores anyway an owner may have to wait for its turn, which the ghost does for all of them. */
bool hw_rma_route_begins_by_owner(void)
{
    int all = hw_world.own_node->process_count, users = all - hw_world.own_node->ghost_count;
    return hw_options.adapt == HW_OPTION_ADAPT_AUTO && hw_world_is_crowded(all, false) &&
           !hw_world_is_crowded(users, false);
}

int64_t hw_rma_route_foreseen_ns(void) { return hw_rma_adapting ? hw_rma_adapting->foresee() : 0; }

uint64_t hw_rma_route_draw(struct hw_rma_window *window) { return hw_dice_roll(&window->routes.dice) >> 11; }

/* A process to which operations go has to make progress for their origins. */
static void expose(struct hw_rma_window *window, bool is_exposed)
{
    if (window->routes.is_exposed == is_exposed)
        return;
    window->routes.is_exposed = is_exposed;
    hw_engines_exposed(is_exposed ? 1 : -1);
}

bool hw_rma_route_is_said(const struct hw_rma_window *window)
{
    return window->routes.adapt <= HW_OPTION_ADAPT_GUIDED || window->routes.wish == HW_RMA_WISH_ON ||
           window->routes.wish == HW_RMA_WISH_OFF;
}

void hw_rma_route_set_accumulates(struct hw_rma_window *window, enum hw_rma_route route)
{
    bool may_be_an_owner = is_drawn() || window->routes.adapt > HW_OPTION_ADAPT_GUIDED;
    hw_atomic_store_relaxed(&window->routes.accumulate, (uint32_t)route);
    expose(window, route != HW_RMA_ROUTE_GHOST || may_be_an_owner);
}

void hw_rma_route_set(struct hw_rma_window *window, enum hw_rma_route route)
{
    hw_rma_route_set_accumulates(window, route);
    for (int i = 0; i < window->size; i++)
        hw_atomic_store_relaxed(&window->targets[i].route, is_drawn() ? HW_RMA_ROUTE_DRAWN : (uint32_t)route);
}

/* In its own shadow window a process exposes its memory as the program gave it, in the common one its range.
 */
static void place_owners(struct hw_rma_window *window, const struct hw_rma_plan *plan)
{
    for (int i = 0; i < window->size; i++) {
        struct hw_rma_target *target = &window->targets[i];
        target->owner.rank = window->ghost_count + i;
        target->owner.unit = 1;
        if (window->is_common) {
            target->owner.rank = window->ghost_count + hw_world.processes[target->process].user_rank;
            target->owner.offset = (MPI_Aint)plan->offers[i].place_in_range;
            target->owner.unit = target->disp_unit;
        }
    }
}

/* By what members have learnt on other windows, where they know something. */
static bool begins_by_owner(const struct hw_rma_plan *plan)
{
    int64_t sum_ns = 0;
    for (int i = 0; i < plan->size; i++)
        sum_ns += plan->offers[i].foreseen_ns;
    return sum_ns ? sum_ns < 0 : plan->offers[0].begins_by_owner;
}

void hw_rma_route_place(struct hw_rma_window *window, const struct hw_rma_plan *plan)
{
    if (!plan->may_use_owner)
        return;
    window->routes.may_use_owner = true;
    window->routes.adapt = (enum hw_option_adapt)plan->offers[0].adapt;
    window->routes.may_change = window->users != HW_COMM_NULL;
    window->routes.changes_at_barriers = plan->changes_at_barriers && window->routes.may_change;
    hw_atomic_store_relaxed(&window->routes.dice,
                            UINT64_C(0x9E3779B97F4A7C15) * (uint64_t)hw_options.adapt_draw +
                                window->id * UINT64_C(0xBF58476D1CE4E5B9) + (uint64_t)window->rank + 1);
    place_owners(window, plan);
    for (int i = 1; i < plan->size && plan->rank == 0; i++)
        if (plan->offers[i].wish != plan->offers[0].wish) {
            hw_rma_wish_tell_differing((enum hw_rma_wish)plan->offers[0].wish);
            break;
        }
    window->routes.wish = (uint32_t)plan->offers[0].wish;
    bool is_owners = plan->offers[0].wish == HW_RMA_WISH_OFF ||
                     (plan->offers[0].wish != HW_RMA_WISH_ON && begins_by_owner(plan));
    hw_rma_route_set(window, is_owners ? HW_RMA_ROUTE_OWNER : HW_RMA_ROUTE_GHOST);
    if (hw_rma_adapting)
        hw_rma_adapting->make(window);
}

void hw_rma_route_end(struct hw_rma_window *window)
{
    if (hw_rma_adapting)
        hw_rma_adapting->free(window);
    expose(window, false);
}
