/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/rma/adapt/measure.h"

#include "base/clock.h"
#include "engines/rma/adapt/adapt.h"
#include "engines/rma/adapt/told.h"
#include "ghost/bell.h"
#include "ghost/rates.h"
#include "profile/record/counters.h"
#include "progress/inside.h"
#include "real/basic_type.h"
#include "real/type_size.h"
#include "world/world.h"

#include <stdlib.h>
#include <string.h>

/* The share of time in MPI is asked of so many targets of a window. */
enum { TARGETS_ASKED = 16 };

/* The newest of the costs of accumulates counts for this part. */
enum { NEWEST_PARTS = 4 };

/* Between two timed rounds of accumulates: the share of clocks in them is small then. */
enum { ACCUMULATE_ROUNDS = 7 };

/* Timed rounds after which a class has not been met lately. */
enum { LATELY = 32 };

/* A round is timed at least so often, or a phase of a few long rounds would be over before it is noticed. */
#define TIMED_NS (5 * HW_NS_PER_MS)

/* A process keeps a core that it shares for so long at most, as the kernel's scheduler mostly has it. */
#define TURN_NS (4 * HW_NS_PER_MS)

/* The part of a run that looks at longer routes may take. */
enum { SPARE_PARTS = 50 };

/* Of what can be spared the part for one look that ends only where members meet. */
enum { LONG_LOOK_PARTS = 4 };

/* Timed rounds after which the cost of accumulates says what their new route takes. */
enum { SETTLED_ROUNDS = 4 };

/* Times as much or as little as when the route came into force: what is known of the other is of another
 * time. */
enum { STALE = 3 };

static uint64_t opened_ns, spent_ns; /* of the run, by the looks of all windows */
static uint64_t turn_ns;             /* hw_rma_measure_turn_ns */

/* What the last windows that know both routes showed that an operation takes longer by the owner; relaxed. A
 * difference of less than a part of the shorter one shows nothing. */
enum { SHOWN_PARTS = 8 };
static _Atomic int64_t shown_by_moves_ns, shown_by_accumulates_ns;

static void show(_Atomic int64_t *shown_ns, int64_t ghost_ns, int64_t owner_ns)
{
    int64_t longer = owner_ns - ghost_ns, shorter = longer > 0 ? ghost_ns : owner_ns;
    if (ghost_ns && owner_ns)
        hw_atomic_store_relaxed(shown_ns, llabs(longer) > shorter / SHOWN_PARTS ? longer : 0);
}

static uint64_t spare_ns(uint64_t now_ns)
{
    uint64_t all_ns = (now_ns - opened_ns) / SPARE_PARTS;
    return all_ns > spent_ns ? all_ns - spent_ns : 0;
}

/* Rounds until the next that is timed where there is no memory to learn anything; of a look that may last for
 * any time. */
enum { NO_MEMORY_ROUNDS = 1 << 20, UNKNOWN_ROUNDS = 1 << 20 };

static uint64_t bytes_of(MPI_Count count, MPI_Datatype datatype)
{
    return count > 0 ? (uint64_t)count * hw_real_type_size(datatype) : 0;
}

/* Of their time, what share the window's targets are inside MPI; -1: not known. */
static int share_of_targets(const struct hw_rma_window *window)
{
    int stride = (window->size + TARGETS_ASKED - 1) / TARGETS_ASKED, sum = 0, known = 0;
    for (int i = window->rank % stride; i < window->size; i += stride) {
        int percent = hw_rate_byte_percent(
            hw_ghost_rates_read(hw_world.processes[window->targets[i].process].user_rank));
        if (i == window->rank || percent < 0)
            continue;
        sum += percent;
        known++;
    }
    return known ? sum / known : -1;
}

/* Processor time that the node's ghosts took from this process since it was asked last, where they share
 * cores with user processes. */
static uint64_t taken_ns(struct hw_rma_adapt *adapt)
{
    uint64_t sum = 0, before = adapt->ghost_cpu_ns;
    int users = hw_world_own_user_count();
    for (int i = 0; i < hw_world.own_node->ghost_count; i++)
        sum += hw_ghost_bell_cpu_ns(i);
    adapt->ghost_cpu_ns = sum;
    return before && sum > before && hw_world_is_crowded(hw_world.own_node->process_count, false)
               ? (sum - before) / (uint64_t)users
               : 0;
}

static enum hw_rma_route route_of(enum hw_route_way way)
{
    return way == HW_ROUTE_OWNER ? HW_RMA_ROUTE_OWNER : HW_RMA_ROUTE_GHOST;
}

static enum hw_route_way way_of_accumulates(const struct hw_rma_window *window)
{
    return hw_atomic_load_relaxed(&window->routes.accumulate) == HW_RMA_ROUTE_OWNER ? HW_ROUTE_OWNER
                                                                                    : HW_ROUTE_GHOST;
}

/* A new one begins with the way that the window began with. */
static struct hw_rma_measured_class *class_of(struct hw_rma_adapt *adapt, unsigned class)
{
    if (adapt->classes[class] == NULL) {
        adapt->classes[class] = calloc(1, sizeof *adapt->classes[class]);
        if (adapt->classes[class])
            hw_route_begin(&adapt->classes[class]->route, adapt->first_way);
    }
    return adapt->classes[class];
}

/* One route for all operations, or operations are looked up. Returns whether there is one. */
static bool set_moves(struct hw_rma_window *window)
{
    const struct hw_rma_adapt *adapt = window->adapt;
    bool has_ways[HW_ROUTE_WAYS] = {false};
    for (int i = 0; i < HW_ROUTE_CLASSES; i++) {
        const struct hw_rma_measured_class *one = adapt->classes[i];
        if (one && one->met + LATELY > adapt->timed_count)
            has_ways[hw_route_next(&one->route)] = true;
    }
    if (has_ways[HW_ROUTE_GHOST] && has_ways[HW_ROUTE_OWNER])
        return false;
    if (!has_ways[HW_ROUTE_GHOST] && !has_ways[HW_ROUTE_OWNER])
        has_ways[adapt->first_way] = true;
    enum hw_rma_route route = has_ways[HW_ROUTE_OWNER] ? HW_RMA_ROUTE_OWNER : HW_RMA_ROUTE_GHOST;
    for (int i = 0; i < window->size; i++)
        hw_atomic_store_relaxed(&window->targets[i].route, (uint32_t)route);
    return true;
}

/* Returns how many rounds follow before the next is timed. */
static uint64_t learn_moves(struct hw_rma_window *window, struct hw_route_round round, unsigned class)
{
    struct hw_rma_measured_class *of = class_of(window->adapt, class);
    if (of == NULL)
        return NO_MEMORY_ROUNDS;
    struct hw_route *route = &of->route;
    enum hw_route_way before = route->way;
    uint32_t looks = route->looks;
    uint64_t spent = route->spent_ns;
    round.way = hw_route_next(route); /* its operations took it */
    uint64_t left = hw_route_learn(route, &round);
    spent_ns += route->spent_ns - spent;
    of->met = window->adapt->timed_count;
    if (route->looks != looks) {
        HW_COUNT(route_looks);
        show(&shown_by_moves_ns, (int64_t)hw_route_ns(route, HW_ROUTE_GHOST),
             (int64_t)hw_route_ns(route, HW_ROUTE_OWNER));
    }
    if (route->way != before)
        hw_rma_told_change(window, class, route, round.share_percent);
    return left;
}

static bool is_in_control(const struct hw_rma_adapt *adapt, unsigned class)
{
    const struct hw_rma_measured_class *of = adapt->classes[class];
    return of && of->route.phase == HW_ROUTE_CONTROL;
}

/* What is known of the other route is forgotten where the costs of this one have changed since. */
static void doubt_other(struct hw_rma_measured_accumulates *measured, enum hw_route_way way)
{
    uint64_t ns = measured->ns[way], then = measured->settled_ns;
    if (measured->rounds++ < SETTLED_ROUNDS) {
        measured->settled_ns = ns;
    } else if (ns > STALE * then || STALE * ns < then) {
        measured->settled_ns = ns;
        measured->ns[way == HW_ROUTE_GHOST ? HW_ROUTE_OWNER : HW_ROUTE_GHOST] = 0;
    }
}

/* What an operation took in one more round by WAY. The first after a change may have found connections to be
 * made. */
static void add_cost(struct hw_rma_measured_accumulates *measured, enum hw_route_way way, uint64_t ns)
{
    uint64_t *known = &measured->ns[way];
    if (*known == 0 || measured->rounds == 0)
        *known = ns;
    else if (measured->rounds == 1)
        *known = ns < *known ? ns : *known;
    else
        *known = *known - *known / NEWEST_PARTS + ns / NEWEST_PARTS;
}

/* A look lasts from one agreement to the next, which comes soon; as long as there was none, who knows how
 * long. */
static uint64_t rounds_of_look(const struct hw_rma_adapt *adapt)
{
    if (adapt->agreed_rounds == 0)
        return UNKNOWN_ROUNDS;
    uint64_t rounds = adapt->flushed_rounds / (uint64_t)adapt->parts;
    return adapt->agreed_rounds > rounds ? adapt->agreed_rounds : rounds;
}

static uint64_t learn_accumulates(struct hw_rma_window *window, struct hw_route_round given)
{
    const struct hw_route_round *round = &given;
    struct hw_rma_adapt *adapt = window->adapt;
    struct hw_rma_measured_accumulates *measured = &adapt->measured;
    given.way = way_of_accumulates(window);
    given.look = rounds_of_look(adapt);
    given.spare_ns /= LONG_LOOK_PARTS;
    given.turn_ns = turn_ns; /* near ones wait for the owner, too */
    adapt->last_accumulates = given;
    add_cost(measured, round->way, round->cost_ns / round->operations + 1);
    measured->operations += round->operations * round->rounds;
    doubt_other(measured, round->way);
    show(&shown_by_accumulates_ns, (int64_t)measured->ns[HW_ROUTE_GHOST],
         (int64_t)measured->ns[HW_ROUTE_OWNER]);
    uint64_t left = measured->rounds < SETTLED_ROUNDS ? 0 : ACCUMULATE_ROUNDS; /* members may meet soon */
    if (window->rank > 0)
        return left;
    uint64_t spent = adapt->accumulates.spent_ns;
    uint64_t learnt = hw_route_learn(&adapt->accumulates, round);
    spent_ns += adapt->accumulates.spent_ns - spent;
    return learnt < left ? learnt : left;
}

/* Each ends its own part, and the sooner timed one counts. */
static void learn(struct hw_rma_window *window, const struct hw_route_round *round)
{
    struct hw_rma_adapt *adapt = window->adapt;
    const struct hw_rma_measured_round *of = &adapt->round;
    uint64_t left = NO_MEMORY_ROUNDS, other;
    bool is_control = of->largest > 0 && is_in_control(adapt, of->class);
    if (of->largest > 0)
        left = learn_moves(window, *round, of->class);
    if (of->has_accumulates && !is_control) {
        other = learn_accumulates(window, *round);
        left = other < left ? other : left;
    }
    adapt->left = left;
}

/* How long the process was elsewhere between two rounds: the longest time around the last timed ones, since
 * a program may do several rounds between two computations. */
static uint64_t away_ns(struct hw_rma_adapt *adapt, uint64_t now_ns)
{
    uint64_t each_ns = adapt->closed_ns ? (now_ns - adapt->closed_ns) / (adapt->since + 1) : 0, longest = 0;
    adapt->closed_ns = now_ns;
    adapt->away_ns[adapt->timed_count % HW_RMA_MEASURED_AWAY] =
        each_ns > adapt->round.cost_ns ? each_ns - adapt->round.cost_ns : 0;
    for (int i = 0; i < HW_RMA_MEASURED_AWAY; i++)
        longest = adapt->away_ns[i] > longest ? adapt->away_ns[i] : longest;
    return longest;
}

/* The round is over; this is the first operation of the next. */
static void close_round(struct hw_rma_window *window, uint64_t now_ns)
{
    struct hw_rma_adapt *adapt = window->adapt;
    struct hw_route_round round = {.operations = adapt->round.operations,
                                   .cost_ns = adapt->round.cost_ns,
                                   .rounds = adapt->since + 1,
                                   .share_percent = share_of_targets(window),
                                   .away_ns = away_ns(adapt, now_ns),
                                   .spare_ns = spare_ns(now_ns)};
    uint64_t each_ns = taken_ns(adapt) / round.rounds;
    bool is_ghost = way_of_accumulates(window) == HW_ROUTE_GHOST;
    if (adapt->round.largest > 0 && adapt->classes[adapt->round.class])
        is_ghost = hw_route_next(&adapt->classes[adapt->round.class]->route) == HW_ROUTE_GHOST;
    round.cost_ns += is_ghost ? each_ns : 0;
    adapt->timed_count++;
    adapt->left = 0;
    if (round.operations > 0)
        learn(window, &round);
    adapt->since = 0;
    adapt->is_timed = adapt->left == 0;
    memset(&adapt->round, 0, sizeof adapt->round);
    bool is_watched = !set_moves(window) || adapt->is_timed;
    hw_atomic_store_relaxed(&window->is_watched, is_watched);
}

bool hw_rma_measure_can_look(const struct hw_rma_adapt *adapt)
{
    struct hw_route_round round = adapt->last_accumulates;
    round.look = rounds_of_look(adapt);
    round.spare_ns = spare_ns(hw_clock_fast_ns()) / LONG_LOOK_PARTS;
    return hw_route_can_look(&adapt->accumulates, &round);
}

/* The round before a change took the other route, and the next operation would close it as one of this. */
static void drop_round(struct hw_rma_window *window)
{
    struct hw_rma_adapt *adapt = window->adapt;
    adapt->since += adapt->round.operations > 0;
    memset(&adapt->round, 0, sizeof adapt->round);
    hw_rma_measure_start(window);
}

void hw_rma_measure_agreed(struct hw_rma_window *window, bool is_change, int parts)
{
    struct hw_rma_adapt *adapt = window->adapt;
    adapt->agreed_rounds = (adapt->flushed_rounds + (uint64_t)parts - 1) / (uint64_t)parts;
    adapt->flushed_rounds = 0;
    adapt->parts = parts;
    if (!is_change)
        return;
    adapt->measured.rounds = 0;
    drop_round(window);
}

int64_t hw_rma_measure_moves_gain_ns(const struct hw_rma_adapt *adapt)
{
    const struct hw_rma_measured_class *last = NULL;
    for (int i = 0; i < HW_ROUTE_CLASSES; i++) {
        const struct hw_rma_measured_class *one = adapt->classes[i];
        if (one && one->route.looks > 0 && one->met + LATELY > adapt->timed_count &&
            (last == NULL || one->met > last->met))
            last = one;
    }
    if (last == NULL)
        return 0;
    int64_t ghost = (int64_t)hw_route_ns(&last->route, HW_ROUTE_GHOST);
    int64_t owner = (int64_t)hw_route_ns(&last->route, HW_ROUTE_OWNER);
    return ghost && owner ? owner - ghost : 0;
}

int64_t hw_rma_measure_shown_ns(bool is_moves)
{
    return hw_atomic_load_relaxed(is_moves ? &shown_by_moves_ns : &shown_by_accumulates_ns);
}

void hw_rma_measure_open(void) { opened_ns = hw_clock_fast_ns(); }

uint64_t hw_rma_measure_turn_ns(void) { return turn_ns; }

void hw_rma_measure_make(struct hw_rma_window *window)
{
    turn_ns = hw_world_is_crowded(hw_world_own_user_count(), false) ? TURN_NS : 0;
    window->adapt->first_way = way_of_accumulates(window);
    hw_route_begin(&window->adapt->accumulates, window->adapt->first_way);
    hw_rma_measure_start(window);
}

void hw_rma_measure_start(struct hw_rma_window *window)
{
    window->adapt->is_timed = true;
    hw_atomic_store_relaxed(&window->is_watched, 1);
}

static void note_operation(struct hw_rma_adapt *adapt, bool is_move, unsigned class, uint64_t bytes)
{
    struct hw_rma_measured_round *round = &adapt->round;
    if (!is_move) {
        round->has_accumulates = true;
    } else if (bytes + 1 > round->largest) {
        round->largest = bytes + 1;
        round->class = class;
    }
}

/* What is owed on the other route is paid before the operation's time begins. */
static void lead(struct hw_rma_target *target, enum hw_rma_route route)
{
    if (hw_atomic_load_relaxed(&target->route) != (uint32_t)route)
        hw_inside_pay();
    hw_atomic_store_relaxed(&target->route, (uint32_t)route);
}

void hw_rma_measure_begin(struct hw_rma_window *window, enum hw_route_kind kind, int target_rank,
                          MPI_Count count, MPI_Datatype datatype)
{
    struct hw_rma_adapt *adapt = window->adapt;
    if (adapt->round.is_flushed) {
        close_round(window, adapt->is_timed ? hw_clock_fast_ns() : 0);
        if (!hw_atomic_load_relaxed(&window->is_watched))
            return;
    }
    uint64_t bytes = bytes_of(count, datatype);
    bool is_move = kind == HW_ROUTE_MOVE;
    unsigned class = is_move ? hw_route_class(kind, hw_real_type_operations(datatype) != 0, bytes) : 0;
    const struct hw_rma_measured_class *of = is_move ? class_of(adapt, class) : NULL;
    if (of && (unsigned)target_rank < (unsigned)window->size)
        lead(&window->targets[target_rank], route_of(hw_route_next(&of->route)));
    if (adapt->is_timed)
        note_operation(adapt, is_move, class, bytes);
    adapt->began_ns = adapt->is_timed ? hw_clock_fast_ns() : 0;
}

void hw_rma_measure_end(struct hw_rma_window *window)
{
    struct hw_rma_adapt *adapt = window->adapt;
    if (adapt->began_ns == 0)
        return;
    adapt->round.cost_ns += hw_clock_fast_ns() - adapt->began_ns;
    adapt->round.operations++;
    adapt->began_ns = 0;
}

void hw_rma_measure_flush_begin(struct hw_rma_window *window)
{
    struct hw_rma_adapt *adapt = window->adapt;
    bool is_of_round = adapt->is_timed && adapt->round.operations > 0;
    adapt->flush_began_ns = is_of_round ? hw_clock_fast_ns() : 0;
}

void hw_rma_measure_flush_end(struct hw_rma_window *window)
{
    struct hw_rma_adapt *adapt = window->adapt;
    if (adapt->flush_began_ns) {
        adapt->round.cost_ns += hw_clock_fast_ns() - adapt->flush_began_ns;
        adapt->flushed_rounds += !adapt->round.is_flushed;
        adapt->round.is_flushed = true;
        return;
    }
    hw_rma_adapt_follow(window);
    if (adapt->is_timed || !hw_rma_adapt_measures(window))
        return;
    adapt->since++;
    adapt->flushed_rounds++;
    if (adapt->left > 0 && (--adapt->left == 0 || hw_clock_fast_ns() - adapt->closed_ns > TIMED_NS))
        hw_rma_measure_start(window);
}
