/* SPDX-License-Identifier: BSD-3-Clause */
/* The two routes of an operation on a redirected window: the target's ghost, and its owner, which is the
 * target's own process in the same shadow window. doc/adr/0041.
 *
 * Put and Get are neither ordered nor atomic (MPI-4.1 section 12.7.1): each process chooses for itself, anew
 * at any operation, and a flush covers both routes. Accumulates of all processes to one location take one
 * route at a time. It changes where all members of the window meet with nothing outstanding
 * (window/agree.h). */
#ifndef HW_ENGINES_RMA_WINDOW_ROUTE_H
#define HW_ENGINES_RMA_WINDOW_ROUTE_H

#include "base/atomic.h"
#include "base/options.h"
#include "real/real.h"

#include <stdbool.h>
#include <stdint.h>

/* DRAWN: anew at each operation (HEADWAY_ADAPT_DRAW); of Put and Get alone. */
enum hw_rma_route { HW_RMA_ROUTE_GHOST, HW_RMA_ROUTE_OWNER, HW_RMA_ROUTE_DRAWN };

/* A target as the owner of its memory. Any thread of this process; relaxed. */
struct hw_rma_owner {
    int rank;               /* in the shadow window */
    MPI_Aint offset, unit;  /* displacement there: offset + the program's times unit */
    _Atomic uint32_t dirty; /* the window's generation at the last operation; other values: flushed since */
    _Atomic uint32_t has_puts; /* since its last flush */
};

/* Of a window. */
struct hw_rma_routes {
    _Atomic uint64_t dice;
    enum hw_option_adapt adapt;  /* alike at all members */
    _Atomic uint32_t accumulate; /* enum hw_rma_route; alike at all members */
    _Atomic uint32_t has_ops;    /* an owner got operations since the last flush of all targets; where the
                                  * window is multithreaded: ever */
    uint32_t wish;               /* enum hw_rma_wish: what all agreed on last */
    uint32_t next_wish;          /* this member's for the next point where members agree; NONE: as before */
    bool may_use_owner; /* alike at all members, from beginning to end; false: every route is the ghost's */
    bool may_change;    /* likewise: there is a communicator on which members agree */
    bool changes_at_barriers; /* likewise (barrier.h) */
    bool is_exposed;          /* this process said that others may need its progress */
};

struct hw_rma_window;
struct hw_rma_plan;

/* Before members tell each other of the window: whether this process can be an owner, and whether it would
 * agree at barriers. */
bool hw_rma_route_may_use_owner(void);
bool hw_rma_route_changes_at_barriers(void);

/* Whether windows of this process begin with the owners' route, where nobody says otherwise. */
bool hw_rma_route_begins_by_owner(void);

/* What other windows of this process have shown that the ghosts' route saves an operation; less than 0: costs
 * it. 0: nothing is known, and the rule above counts. */
int64_t hw_rma_route_foreseen_ns(void);

/* Once the shadow window is made and the members' wishes are known: where owners are, and with which routes
 * the window begins. */
void hw_rma_route_place(struct hw_rma_window *window, const struct hw_rma_plan *plan);

/* Whether the program says the routes of all operations: they are alike then at all members. */
bool hw_rma_route_is_said(const struct hw_rma_window *window);

/* The route of accumulates, which must have nothing outstanding anywhere. All members do the same. */
void hw_rma_route_set_accumulates(struct hw_rma_window *window, enum hw_rma_route route);

/* That of Put and Get of this process too; where HEADWAY_ADAPT_DRAW is set they stay drawn. */
void hw_rma_route_set(struct hw_rma_window *window, enum hw_rma_route route);

/* Before the window is freed. */
void hw_rma_route_end(struct hw_rma_window *window);

/* The next number of the window's dice. */
uint64_t hw_rma_route_draw(struct hw_rma_window *window);

#endif
