/* SPDX-License-Identifier: BSD-3-Clause */
#include "policy/route.h"

#include "policy/choice.h"

#include <string.h>

enum {
    COLD_ROUNDS = 1,     /* which find cold caches and connections that are still to be made */
    TIMED = 3,           /* of a route, in a look */
    CLOSE_TIMED = 8,     /* where both are close: what a look costs is little then */
    CLOSE_PERCENT = 25,  /* so much longer than the other at most */
    MARGIN_PERCENT = 5,  /* by which the other must be shorter: less is noise */
    LOST_AT_ONCE = 4,    /* times as long: one round says enough */
    LOST_PERCENT = 50,   /* longer: two rounds do */
    DEAR = 3,            /* times as long as at the last look: something has changed, */
    DEAR_RUN = 3,        /* where so many rounds in a row say so */
    SHARE_POINTS = 10,   /* likewise of the share */
    ROUNDS_UNTIMED = 31, /* between two timed rounds, at most */
    OWNER_PARTS = 50,    /* of the time so far that the first look may cost */
};

enum hw_route_way hw_route_next(const struct hw_route *route)
{
    if (route->phase != HW_ROUTE_CONTROL)
        return route->way;
    return route->way == HW_ROUTE_GHOST ? HW_ROUTE_OWNER : HW_ROUTE_GHOST;
}

static enum hw_route_way other(const struct hw_route *route)
{
    return route->way == HW_ROUTE_GHOST ? HW_ROUTE_OWNER : HW_ROUTE_GHOST;
}

static void add(struct hw_route_samples *samples, uint64_t ns)
{
    samples->ns[samples->count++ % HW_ROUTE_SAMPLES] = ns ? ns : 1;
}

/* Of those that are kept, without the longest where there are some: somebody else may have had the core. */
static uint64_t mean(const struct hw_route_samples *samples)
{
    uint32_t count = samples->count < HW_ROUTE_SAMPLES ? samples->count : HW_ROUTE_SAMPLES;
    uint64_t sum = 0, longest = 0;
    for (uint32_t i = 0; i < count; i++) {
        sum += samples->ns[i];
        longest = samples->ns[i] > longest ? samples->ns[i] : longest;
    }
    if (count >= TIMED)
        return (sum - longest) / (count - 1);
    return count ? sum / count : 0;
}

uint64_t hw_route_ns(const struct hw_route *route, enum hw_route_way way) { return mean(&route->by[way]); }

void hw_route_use(struct hw_route *route, enum hw_route_way way)
{
    route->way = way;
    route->used_ns = mean(&route->by[way]);
    route->dear_run = 0;
    if (route->phase != HW_ROUTE_COLD)
        route->phase = HW_ROUTE_USED;
}

static bool is_longer(uint64_t ns, uint64_t than_ns, uint32_t percent)
{
    return ns > than_ns + than_ns * percent / 100;
}

/* Between two rounds. */
static uint64_t period_ns(const struct hw_route *route)
{
    return route->rounds ? (route->ended_ns - route->began_ns) / route->rounds : 0;
}

static void begin_look(struct hw_route *route)
{
    memset(route->by, 0, sizeof route->by);
    route->phase = HW_ROUTE_BEFORE;
    route->dear_run = 0;
}

/* What rounds by a route that nothing is known of may cost: the target computes outside MPI as long as the
 * caller does between its rounds. */
static bool is_first_affordable(const struct hw_route *route, int share_percent)
{
    uint64_t outside = share_percent < 0 ? 100 : (uint64_t)(100 - share_percent);
    uint64_t price_ns = period_ns(route) * outside / 100 * TIMED;
    return price_ns * OWNER_PARTS <= route->ended_ns - route->began_ns;
}

static bool has_share_changed(const struct hw_route *route, int share_percent)
{
    if (share_percent < 0 || route->share_percent < 0 || route->looks == 0)
        return false;
    int change = share_percent - route->share_percent;
    return change >= SHARE_POINTS || change <= -SHARE_POINTS;
}

static bool is_dear(struct hw_route *route, uint64_t ns)
{
    route->dear_run = route->used_ns && ns > DEAR * route->used_ns ? route->dear_run + 1 : 0;
    return route->dear_run >= DEAR_RUN;
}

static bool is_look_due(struct hw_route *route, const struct hw_route_round *round, uint64_t ns)
{
    bool is_changed = is_dear(route, ns) || has_share_changed(route, round->share_percent);
    if (is_changed)
        route->controls = 0;
    if (route->looks == 0)
        return is_first_affordable(route, round->share_percent);
    return is_changed || route->due_rounds == 0;
}

/* The look is over. */
static void settle(struct hw_route *route, const struct hw_route_round *round)
{
    uint64_t used = mean(&route->by[route->way]), left = mean(&route->by[other(route)]);
    uint64_t lost = left > used ? left - used : 0;
    route->looks++;
    route->share_percent = round->share_percent;
    if (is_longer(used, left, MARGIN_PERCENT)) {
        route->way = other(route);
        route->controls = 0;
        lost = used - left;
        used = left;
    } else if (route->controls < HW_CHOICE_CONTROLS_MAX) {
        route->controls++;
    }
    route->cause = HW_ROUTE_SHORTER;
    route->used_ns = used;
    route->phase = HW_ROUTE_USED;
    uint64_t each_ns = period_ns(route) > 0 ? period_ns(route) : 1;
    route->due_rounds = hw_choice_calls_before(lost * round->operations * TIMED, each_ns, route->controls);
}

/* Whether the other route has been looked at for long enough. */
static bool is_seen(const struct hw_route *route)
{
    const struct hw_route_samples *of = &route->by[other(route)];
    uint64_t used = mean(&route->by[route->way]), left = mean(of);
    if (left > LOST_AT_ONCE * used || (of->count >= 2 && is_longer(left, used, LOST_PERCENT)))
        return true;
    bool is_close = !is_longer(left, used, CLOSE_PERCENT) && !is_longer(used, left, CLOSE_PERCENT);
    return of->count >= (is_close ? CLOSE_TIMED : TIMED);
}

static uint32_t untimed(const struct hw_route *route)
{
    if (route->looks == 0)
        return 0;
    return route->due_rounds < ROUNDS_UNTIMED ? (uint32_t)route->due_rounds : ROUNDS_UNTIMED;
}

static void count(struct hw_route *route, const struct hw_route_round *round)
{
    if (route->began_ns == 0)
        route->began_ns = round->now_ns;
    else
        route->rounds += round->rounds;
    route->ended_ns = round->now_ns;
    route->due_rounds -= round->rounds < route->due_rounds ? round->rounds : route->due_rounds;
}

uint32_t hw_route_learn(struct hw_route *route, const struct hw_route_round *round)
{
    uint64_t ns = round->cost_ns / round->operations;
    count(route, round);
    if (route->phase == HW_ROUTE_COLD) {
        if (route->rounds >= COLD_ROUNDS)
            route->phase = HW_ROUTE_USED;
        return 0;
    }
    if (round->way != hw_route_next(route)) /* it was changed in the middle, and says nothing */
        return 0;
    add(&route->by[round->way], ns);
    if (route->phase == HW_ROUTE_USED) {
        if (!is_look_due(route, round, ns))
            return untimed(route);
        begin_look(route);
        return 0;
    }
    if (route->phase == HW_ROUTE_BEFORE) {
        if (route->by[route->way].count >= TIMED)
            route->phase = HW_ROUTE_CONTROL;
        return 0;
    }
    if (!is_seen(route))
        return 0;
    settle(route, round);
    return untimed(route);
}

unsigned hw_route_class(enum hw_route_kind kind, bool is_contiguous, uint64_t bytes)
{
    unsigned size = bytes ? 63U - (unsigned)__builtin_clzll(bytes) : 0;
    size = size < HW_ROUTE_SIZES ? size : HW_ROUTE_SIZES - 1;
    return ((unsigned)kind * 2 + (is_contiguous ? 0 : 1)) * HW_ROUTE_SIZES + size;
}
