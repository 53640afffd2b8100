/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: random one-sided programs. Every rank draws the same plan from the same seed, and executes its
 * part of it.
 *
 * A window holds SLOTS slots on each member. In a round each slot of each target has one role, drawn anew, so
 * that the result does not depend on who comes first: accumulates of one commutative operation by everybody;
 * operations of one origin, in its order; or only reads. */
#ifndef TESTS_MPI_RANDOM_RMA_PLAN_H
#define TESTS_MPI_RANDOM_RMA_PLAN_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

enum { SLOTS = 6, SLOT_BYTES = 128, WINDOWS = 2, ROUNDS = 10, MEMBERS_MAX = 16, CALLS_MAX = 3 };

/* xorshift64*: the same numbers everywhere. */
struct dice {
    uint64_t state;
};
uint64_t dice_next(struct dice *dice);
int dice_roll(struct dice *dice, int sides); /* 0 to sides - 1 */

enum sync { SYNC_FENCE, SYNC_PSCW, SYNC_SHARED, SYNC_EXCLUSIVE, SYNC_LOCK_ALL, SYNC_NOCHECK, SYNC_COUNT };

enum role { ROLE_COMMON, ROLE_OWNED, ROLE_READ, ROLE_COUNT };

enum call { CALL_PUT, CALL_GET, CALL_ACCUMULATE, CALL_GET_ACCUMULATE, CALL_FETCH, CALL_SWAP, CALL_COUNT };

struct slot_plan {
    enum role role;
    enum call call;   /* of an owned slot */
    int owner;        /* member that alone operates on an owned slot */
    int call_count;   /* how often, in a row: only accumulates and reads more than once */
    int type, op;     /* indices of types and operations (act.c) */
    bool is_strided;  /* at the target: every other element */
    bool is_request;  /* Rput and the like, where the synchronisation is passive */
    int flush;        /* after each call, where the synchronisation is passive: see act.c */
    uint64_t readers; /* members that read a slot which only is read */
};

struct round_plan {
    int window;
    enum sync sync;
    bool sets_info; /* afterwards: MPI_Win_set_info with symmetric=true */
    struct slot_plan slots[MEMBERS_MAX][SLOTS];
};

struct window_plan {
    int members; /* 0: all; 1: all, in reverse; 2: all but the last */
    int disp_unit;
    bool has_hints;
    bool is_created; /* over memory of MPI_Alloc_mem, instead of MPI_Win_allocate's */
};

struct plan {
    struct window_plan windows[WINDOWS];
    struct round_plan rounds[ROUNDS];
};

void plan_draw(struct plan *plan, uint64_t seed, int world_size);

#endif
