/* SPDX-License-Identifier: BSD-3-Clause */
/* Matching on sealed communicators (papers/000): messages that others have offered and receives of user
 * processes of this ghost, by communicator, sender, receiver and tag, in the order of MPI (MPI-4.1 section
 * 3.5). There are no wildcards, so both are lists in order. No MPI. Ghost's only thread. */
#ifndef HW_ENGINES_P2P_GHOST_PAIRS_H
#define HW_ENGINES_P2P_GHOST_PAIRS_H

#include "engines/p2p/ghost/users.h"

#include <stdbool.h>
#include <stdint.h>

struct hw_p2p_key {
    uint64_t comm;
    int32_t from, to, tag; /* ranks in hw_world.all */
};

struct hw_p2p_link {
    struct hw_p2p_link *next;
    struct hw_p2p_key key;
};

struct hw_p2p_offered {
    struct hw_p2p_link link; /* first */
    int place;               /* of the sender's ghost */
    uint64_t number;         /* what that knows it by */
    uint64_t bytes, before;  /* before: smaller messages, as the sender counts */
    bool is_doubted;         /* unmatched.h */
};

struct hw_p2p_wanted {
    struct hw_p2p_link link; /* first */
    struct hw_p2p_user *user;
    uint64_t operation, address, bytes;
};

/* False: no memory. */
bool hw_p2p_pairs_open(void);
/* Frees what was not matched. */
void hw_p2p_pairs_close(void);

/* What it matches, which is the caller's then, as both are; NULL: none so far, and it is kept. */
struct hw_p2p_wanted *hw_p2p_pairs_offer(struct hw_p2p_offered *offered);
struct hw_p2p_offered *hw_p2p_pairs_want(struct hw_p2p_wanted *wanted);

/* The first that no receive was posted for; it is kept. NULL: none. */
const struct hw_p2p_offered *hw_p2p_pairs_look(const struct hw_p2p_key *key);
/* The same, and it is the caller's. */
struct hw_p2p_offered *hw_p2p_pairs_claim(const struct hw_p2p_key *key);

/* Shows the first that no receive was posted for of each key, until `look` says that it is enough; then goes
 * on near there the next time. */
void hw_p2p_pairs_look_over(bool (*look)(struct hw_p2p_offered *));

/* What was not matched so far, and is the caller's then. NULL: it was. */
struct hw_p2p_offered *hw_p2p_pairs_withdraw_offer(const struct hw_p2p_key *key, int place, uint64_t number);
struct hw_p2p_wanted *hw_p2p_pairs_withdraw_want(const struct hw_p2p_key *key, uint64_t operation);

#endif
