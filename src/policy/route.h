/* SPDX-License-Identifier: BSD-3-Clause */
/* hw_route decides by which of two routes the operations of a class go: to the ghost of their target, or to
 * its owner, the target's own process. By what they cost their origin, issuing and their share of a flush, in
 * rounds: a round is operations and the flush that completes them. Only some rounds are timed.
 *
 * It begins with the way that it is given. A look times rounds by the route in force and then by the other
 * one, which is left at once where it loses clearly, and longer looked at where both are close; the shorter
 * one is taken. Looks come seldom enough to cost little beside the time between them
 * (hw_choice_calls_before). A look at the owner comes only where the caller can spare what it may cost, the
 * first one too: what an owner that computes would cost is not more than the time that the origin is away
 * between two rounds, in which it computes, and its turn where it shares a core. A look comes at once where
 * the share of time in MPI has changed by ten points since the last, or where rounds by the route in force
 * have come to cost much more, or much less.
 *
 * What a flush costs varies with what the target does meanwhile: so means are compared, and not the least.
 * Pure; one thread at a time. Processes that give it the same get the same, which is how they decide
 * together. */
#ifndef HW_POLICY_ROUTE_H
#define HW_POLICY_ROUTE_H

#include <stdbool.h>
#include <stdint.h>

enum hw_route_way { HW_ROUTE_GHOST, HW_ROUTE_OWNER, HW_ROUTE_WAYS };

/* Of which the last are kept. */
enum { HW_ROUTE_SAMPLES = 8 };
struct hw_route_samples {
    uint64_t ns[HW_ROUTE_SAMPLES]; /* an operation */
    uint32_t count;
};

enum hw_route_phase {
    HW_ROUTE_COLD,    /* nothing is known */
    HW_ROUTE_USED,    /* in force is timed now and then */
    HW_ROUTE_BEFORE,  /* a look: first that in force */
    HW_ROUTE_CONTROL, /* then the other */
};

/* Why it is in force. */
enum hw_route_cause {
    HW_ROUTE_BEGUN,   /* with the first */
    HW_ROUTE_SHORTER, /* it was found shorter, or no longer than the other */
};

/* Zero at the start, with the ghost, or hw_route_begin(). */
struct hw_route {
    struct hw_route_samples by[HW_ROUTE_WAYS];
    enum hw_route_way way; /* in force */
    enum hw_route_phase phase;
    enum hw_route_cause cause;
    uint64_t used_ns;         /* an operation by the route in force, at the last look */
    uint64_t due_rounds;      /* until the next look */
    uint64_t timed;           /* rounds */
    int share_percent;        /* of time in MPI, at the last look; meaningful once looks > 0 */
    uint32_t looks, controls; /* those that changed nothing, in a row */
    uint32_t other_run;       /* rounds that cost much more or much less, in a row */
    uint64_t spent_ns;        /* by looks at the longer route, in all */
};

/* One timed round. */
struct hw_route_round {
    enum hw_route_way way;
    uint64_t operations; /* not 0 */
    uint64_t cost_ns;    /* of all of them */
    uint64_t rounds;     /* since the last timed one, this one included */
    int share_percent;   /* of its time that the targets are inside MPI; -1: not known */
    uint64_t away_ns;    /* between a round and the next: the origin is elsewhere */
    uint64_t turn_ns;    /* until an owner has a core that it shares with others, if an operation needs it */
    uint64_t spare_ns;   /* what the caller can spend on a look */
    uint64_t look; /* rounds that a look takes at least, where the way changes seldom; 0: as few as do */
};

/* The route of the rounds that follow. */
enum hw_route_way hw_route_next(const struct hw_route *route);

/* Before the first round. */
void hw_route_begin(struct hw_route *route, enum hw_route_way way);

/* What a round took. Returns how many rounds follow by hw_route_next() before the next is timed. */
uint32_t hw_route_learn(struct hw_route *route, const struct hw_route_round *round);

/* Whether a look at the other way costs no more than the caller can spare after this round. */
bool hw_route_can_look(const struct hw_route *route, const struct hw_route_round *round);

/* Others decided otherwise, or a look came to nothing: this way is in force. */
void hw_route_use(struct hw_route *route, enum hw_route_way way);

/* What an operation takes by it, 0: not known. */
uint64_t hw_route_ns(const struct hw_route *route, enum hw_route_way way);

/* A class of operations, for a table: kind, contiguous or not, power of two of bytes. */
enum hw_route_kind { HW_ROUTE_MOVE, HW_ROUTE_ACCUMULATE, HW_ROUTE_ATOMIC, HW_ROUTE_KINDS };
enum { HW_ROUTE_SIZES = 24, HW_ROUTE_CLASSES = HW_ROUTE_KINDS * 2 * HW_ROUTE_SIZES };
unsigned hw_route_class(enum hw_route_kind kind, bool is_contiguous, uint64_t bytes);

#endif
