/* SPDX-License-Identifier: BSD-3-Clause */
#include "policy/route.h"

#include "policy/choice.h"

#include <string.h>

enum {
    COLD_ROUNDS = 1,     /* which find cold caches and connections that are still to be made */
    TIMED = 5,           /* of a route, in a look */
    CLOSE_TIMED = 8,     /* where both are close: what a look costs is little then */
    CLOSE_PERCENT = 25,  /* so much longer than the other at most */
    MARGIN_PERCENT = 5,  /* by which the other must be shorter: less is noise */
    LOST_AT_ONCE = 4,    /* times as long: one round says enough where another cannot be spared */
    LOST_PERCENT = 50,   /* longer: two rounds do */
    OTHER = 3,           /* times as long as at the last look, or as short: something has changed, */
    OTHER_RUN = 3,       /* where so many rounds in a row say so */
    SHARE_POINTS = 10,   /* likewise of the share */
    ROUNDS_UNTIMED = 31, /* between two timed rounds, at most */
};

enum hw_route_way hw_route_next(const struct hw_route *route)
{
    if (route->phase != HW_ROUTE_CONTROL)
        return route->way;
    return route->way == HW_ROUTE_GHOST ? HW_ROUTE_OWNER : HW_ROUTE_GHOST;
}

void hw_route_begin(struct hw_route *route, enum hw_route_way way) { *route = (struct hw_route){.way = way}; }

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
    if (count > 1)
        return (sum - longest) / (count - 1);
    return count ? sum / count : 0;
}

uint64_t hw_route_ns(const struct hw_route *route, enum hw_route_way way) { return mean(&route->by[way]); }

void hw_route_use(struct hw_route *route, enum hw_route_way way)
{
    route->way = way;
    route->used_ns = mean(&route->by[way]);
    route->other_run = 0;
    if (route->phase != HW_ROUTE_COLD)
        route->phase = HW_ROUTE_USED;
}

static bool is_longer(uint64_t ns, uint64_t than_ns, uint32_t percent)
{
    return ns > than_ns + than_ns * percent / 100;
}

/* What has just been seen of the route in force is the first half of the look. */
static void begin_look(struct hw_route *route)
{
    struct hw_route_samples before = route->by[route->way];
    memset(route->by, 0, sizeof route->by);
    for (uint32_t i = route->other_run; i > 0; i--)
        add(&route->by[route->way], before.ns[(before.count - i) % HW_ROUTE_SAMPLES]);
    route->phase = route->other_run == OTHER_RUN ? HW_ROUTE_CONTROL : HW_ROUTE_BEFORE;
    route->other_run = 0;
}

static uint64_t rounds_of_look(const struct hw_route_round *round)
{
    return round->look > TIMED ? round->look : TIMED;
}

/* What a look at an owner of which nothing is known may cost: the target computes outside MPI as long as the
 * origin is away between its rounds, and waits for its turn where others have its core. The ghost is the way
 * out of that; only a long look at it, which may find it as long again, has a price. */
bool hw_route_can_look(const struct hw_route *route, const struct hw_route_round *round)
{
    uint64_t outside = round->share_percent < 0 ? 100 : (uint64_t)(100 - round->share_percent);
    uint64_t each_ns = round->away_ns * outside / 100 + round->turn_ns;
    if (route->way == HW_ROUTE_OWNER)
        each_ns = round->look ? round->cost_ns : 0;
    return each_ns * rounds_of_look(round) <= round->spare_ns;
}

static bool has_share_changed(const struct hw_route *route, int share_percent)
{
    if (share_percent < 0 || route->share_percent < 0 || route->looks == 0)
        return false;
    int change = share_percent - route->share_percent;
    return change >= SHARE_POINTS || change <= -SHARE_POINTS;
}

static bool is_other(struct hw_route *route, uint64_t ns)
{
    bool is_so = route->used_ns && (ns > OTHER * route->used_ns || OTHER * ns < route->used_ns);
    if (!is_so)
        route->other_run = 0;
    else if (route->other_run < OTHER_RUN)
        route->other_run++;
    return route->other_run == OTHER_RUN;
}

static bool is_look_due(struct hw_route *route, const struct hw_route_round *round, uint64_t ns)
{
    bool is_changed = is_other(route, ns) || has_share_changed(route, round->share_percent);
    if (is_changed)
        route->controls = 0;
    return (is_changed || route->looks == 0 || route->due_rounds == 0) && hw_route_can_look(route, round);
}

/* The look is over. */
static void settle(struct hw_route *route, const struct hw_route_round *round)
{
    uint64_t used = mean(&route->by[route->way]), left = mean(&route->by[other(route)]);
    uint64_t lost = left > used ? left - used : 0;
    route->looks++;
    route->share_percent = round->share_percent;
    route->spent_ns += lost * round->operations * (round->look ? round->look : route->by[other(route)].count);
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
    uint64_t each_ns = round->away_ns + used * round->operations + 1;
    uint64_t price_ns = lost * round->operations * rounds_of_look(round);
    route->due_rounds = hw_choice_calls_before(price_ns, each_ns, route->controls);
}

/* Whether the other route has been looked at for long enough. One round may be long for another reason; a
 * second one is looked at if there is time to spare. */
static bool is_seen(const struct hw_route *route, const struct hw_route_round *round)
{
    const struct hw_route_samples *of = &route->by[other(route)];
    uint64_t used = mean(&route->by[route->way]), left = mean(of);
    if ((left > LOST_AT_ONCE * used && round->cost_ns > round->spare_ns) ||
        (of->count >= 2 && is_longer(left, used, LOST_PERCENT)))
        return true;
    bool is_close = !is_longer(left, used, CLOSE_PERCENT) && !is_longer(used, left, CLOSE_PERCENT);
    return of->count >= (is_close ? CLOSE_TIMED : TIMED);
}

static uint32_t untimed(const struct hw_route *route)
{
    bool is_doubted = route->other_run > 0 && route->other_run < OTHER_RUN;
    if (route->looks == 0 || is_doubted)
        return 0;
    return route->due_rounds < ROUNDS_UNTIMED ? (uint32_t)route->due_rounds : ROUNDS_UNTIMED;
}

static void count(struct hw_route *route, const struct hw_route_round *round)
{
    route->timed++;
    route->due_rounds -= round->rounds < route->due_rounds ? round->rounds : route->due_rounds;
}

uint32_t hw_route_learn(struct hw_route *route, const struct hw_route_round *round)
{
    uint64_t ns = round->cost_ns / round->operations;
    count(route, round);
    if (route->phase == HW_ROUTE_COLD) {
        if (route->timed > COLD_ROUNDS)
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
    if (!is_seen(route, round))
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
