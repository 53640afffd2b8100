/* SPDX-License-Identifier: BSD-3-Clause */
/* What operations cost their origin, in rounds: operations, and the flushes that complete them, up to the
 * next operation. Only rounds of which the policy asks it are timed (policy/route.h): others cost one test of
 * a word an operation. A round belongs to the class of its largest Put or Get, and besides to accumulates, if
 * it has some: what else it has costs the same by either route of what is compared. One thread at a time.
 *
 * Classes of Put and Get may take different routes. As long as those that were met lately do, each operation
 * is looked up; else all targets have the one route. */
#ifndef HW_ENGINES_RMA_ADAPT_MEASURE_H
#define HW_ENGINES_RMA_ADAPT_MEASURE_H

#include "base/atomic.h"
#include "engines/rma/window/window.h"
#include "policy/route.h"

#include <stdbool.h>
#include <stdint.h>

struct hw_rma_measured_round {
    uint64_t operations, cost_ns;
    uint64_t largest; /* bytes of the largest Put or Get, and 1; 0: none */
    unsigned class;   /* its */
    bool has_accumulates, is_flushed;
};

/* A class of Put and Get. */
struct hw_rma_measured_class {
    struct hw_route route;
    uint64_t met; /* number of the last timed round of it */
};

/* Accumulates, by route. */
struct hw_rma_measured_accumulates {
    uint64_t ns[HW_ROUTE_WAYS]; /* an operation; 0: not known */
    uint64_t operations;        /* since the last agreement */
    uint64_t settled_ns;        /* what it took by the route in force soon after that had come into force */
    uint32_t rounds;            /* timed since it did */
};

enum { HW_RMA_MEASURED_AWAY = 4 };

struct hw_rma_adapt {
    struct hw_rma_measured_class *classes[HW_ROUTE_CLASSES]; /* NULL: no operation yet */
    struct hw_route accumulates; /* by the first member: when a look at the other route is due */
    struct hw_rma_measured_accumulates measured;
    struct hw_rma_measured_round round;
    enum hw_route_way first_way; /* with which the window began */
    bool is_timed;               /* the round */
    uint64_t timed_count;
    uint64_t began_ns;                      /* the operation under way */
    uint64_t flush_began_ns;                /* likewise; 0: not timed */
    uint64_t left, since;                   /* rounds until the next that is timed, and since the last */
    uint64_t closed_ns;                     /* when the last timed round ended */
    uint64_t away_ns[HW_RMA_MEASURED_AWAY]; /* between rounds, around the last that were timed */
    uint64_t flushed_rounds, agreed_rounds; /* since the last agreement, and between two after a change */
    int parts;                              /* as in hw_rma_agree_several() */
    uint64_t ghost_cpu_ns;                  /* what the node's ghosts had taken when the last round ended */
    struct hw_route_round last_accumulates; /* timed */
    uint32_t generation;                    /* of the table of rates, as it was followed last */
    uint32_t proposals;                     /* of the first member, while it looks at the other route */
};

void hw_rma_measure_begin(struct hw_rma_window *window, enum hw_route_kind kind, int target_rank,
                          MPI_Count count, MPI_Datatype datatype);
/* In MPI_Init*. What looks may cost counts from here. */
void hw_rma_measure_open(void);

/* Until a user process of this node has a core that it shares with others; 0: each has its own. As when the
 * last window was made. */
uint64_t hw_rma_measure_turn_ns(void);

/* What a Put or Get of the class that was met last takes longer by the owner than by the ghost. 0: that is
 * not known. */
int64_t hw_rma_measure_moves_gain_ns(const struct hw_rma_adapt *adapt);

/* The same as the last window showed it that knows it, of accumulates or, IS_MOVES, of Put and Get. 0: no
 * window has. Any thread. */
int64_t hw_rma_measure_shown_ns(bool is_moves);

/* Of the first member: whether a look at the other route of accumulates until the next agreement can be
 * spared. */
bool hw_rma_measure_can_look(const struct hw_rma_adapt *adapt);

/* The members have agreed on a route of accumulates, perhaps on another one. PARTS as in
 * hw_rma_agree_several(). */
void hw_rma_measure_agreed(struct hw_rma_window *window, bool is_change, int parts);

/* Of a new window: its routes are what it begins with. */
void hw_rma_measure_make(struct hw_rma_window *window);

/* From the next operation on. */
void hw_rma_measure_start(struct hw_rma_window *window);

void hw_rma_measure_end(struct hw_rma_window *window);
void hw_rma_measure_flush_begin(struct hw_rma_window *window);
void hw_rma_measure_flush_end(struct hw_rma_window *window);

/* Around an operation of which the route is yet to be chosen. */
static inline void hw_rma_adapt_begin(struct hw_rma_window *window, enum hw_route_kind kind, int target_rank,
                                      MPI_Count count, MPI_Datatype datatype)
{
    if (__builtin_expect(hw_atomic_load_relaxed(&window->is_watched), 0))
        hw_rma_measure_begin(window, kind, target_rank, count, datatype);
}
static inline void hw_rma_adapt_end(struct hw_rma_window *window)
{
    if (__builtin_expect(hw_atomic_load_relaxed(&window->is_watched), 0))
        hw_rma_measure_end(window);
}

/* Around a flush of what was issued. */
static inline void hw_rma_adapt_flush_begin(struct hw_rma_window *window)
{
    if (window->adapt)
        hw_rma_measure_flush_begin(window);
}
static inline void hw_rma_adapt_flush_end(struct hw_rma_window *window)
{
    if (window->adapt)
        hw_rma_measure_flush_end(window);
}

#endif
