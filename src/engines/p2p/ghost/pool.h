/* SPDX-License-Identifier: BSD-3-Clause */
/* The pool: what a ghost knows of its staging memory (shared/room.h). Each unit is free, or a credit that
 * some user process of the job was given (an account), or holds a part of a message. Who has too few asks;
 * where there are none, others are asked to return what they do not use.
 *
 * Pure: no MPI, no memory of others. The ghost's only thread. */
#ifndef HW_ENGINES_P2P_GHOST_POOL_H
#define HW_ENGINES_P2P_GHOST_POOL_H

#include <stdbool.h>
#include <stdint.h>

struct hw_p2p_account {
    uint32_t given;
    uint32_t asked;    /* and not given yet */
    bool is_needy;     /* it had a message that found no room: it gets what becomes free */
    bool is_due;       /* it asked ahead of need, and is told what it gets, or that it gets nothing */
    bool is_to_recall; /* in this round */
};

struct hw_p2p_pool {
    uint32_t unit_count, free_count, used_count;
    int account_count, needy_count, due_count;
    int next;                        /* account whose turn it is to get something */
    int served;                      /* the needy one that gets all that becomes free; -1: nobody is needy */
    int recall_count, next_recalled; /* of this round */
    struct hw_p2p_account *accounts; /* by rank in the program's world */
    uint64_t *used;                  /* a bit for each unit */
    uint32_t first_word;             /* of `used`: those before it are full */
};

/* False: no memory. Nobody has anything. */
bool hw_p2p_pool_make(struct hw_p2p_pool *pool, uint32_t units, int account_count);
void hw_p2p_pool_drop(struct hw_p2p_pool *pool);

/* What it has from the start. */
void hw_p2p_pool_open_account(struct hw_p2p_pool *pool, int rank, uint32_t units);

/* A message has come that took so many units of RANK's credit. They are chained; *first is the first. False:
 * it does not have them. */
bool hw_p2p_pool_enter(struct hw_p2p_pool *pool, int rank, uint32_t units, uint32_t *chain, uint32_t *first);

/* The message has left. Returns how many units are RANK's credit again: all, or none if others need them. */
uint32_t hw_p2p_pool_leave(struct hw_p2p_pool *pool, int rank, uint32_t units, const uint32_t *chain,
                           uint32_t first);

/* RANK asks for so many. IS_NEEDY: a message went without. */
void hw_p2p_pool_ask(struct hw_p2p_pool *pool, int rank, uint32_t units, bool is_needy);

/* Whom to tell next what it was given, and what it is still to get. False: nobody. */
bool hw_p2p_pool_grant(struct hw_p2p_pool *pool, int *rank, uint32_t *units, uint32_t *rest);

/* A new round, now and then while somebody is needy: the turn goes to the next one that is, and once each,
 * all others are asked what they do not use. So nobody stays without who asks for more than there is to have.
 */
void hw_p2p_pool_begin_round(struct hw_p2p_pool *pool);
/* Whom to ask next. False: nobody. */
bool hw_p2p_pool_recall(struct hw_p2p_pool *pool, int *rank);

/* RANK gives so many back. False: it does not have them. */
bool hw_p2p_pool_return(struct hw_p2p_pool *pool, int rank, uint32_t units);

#endif
