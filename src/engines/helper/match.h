/* SPDX-License-Identifier: BSD-3-Clause */
/* Matching in the helper (papers/003 section 4.1): which sends of others and which receives of one user
 * process belong together, by communicator, source and tag, in the order of MPI (MPI-4.1 section 3.5). One
 * receive, one send. In doubt a send counts as matched: the process then looks in vain.
 *
 * No MPI and no system call. The ghost's only thread; the registry's other side writes meanwhile. */
#ifndef HW_ENGINES_HELPER_MATCH_H
#define HW_ENGINES_HELPER_MATCH_H

#include "ghost/registry.h"

#include <stdbool.h>
#include <stdint.h>

enum { HW_HELPER_EARLY_MAX = 256, HW_HELPER_CLAIMS = 64 };

struct hw_helper_match {
    struct hw_registry *registry;
    bool (*is_over)(const struct hw_registry_notice *notice);
    uint64_t first; /* receives before it are over, or claimed */
    uint64_t seen;  /* how many receives there were when the early sends were last compared */
    struct hw_helper_claim {
        int32_t from;    /* whose send */
        uint64_t number; /* its notice's */
        uint64_t receive;
    } claims[HW_HELPER_CLAIMS]; /* the last ones, in a ring */
    uint64_t claim_count;
    int early_count;
    struct hw_registry_notice
        early[HW_HELPER_EARLY_MAX]; /* sends that came before their receives, in order */
};

/* is_over says whether a send is complete, as far as that is known. */
void hw_helper_match_begin(struct hw_helper_match *match, struct hw_registry *registry,
                           bool (*is_over)(const struct hw_registry_notice *notice));

/* A send to this process. True: its receive is posted. False: it is kept, or it is over. */
bool hw_helper_match_send(struct hw_helper_match *match, const struct hw_registry_notice *notice);

/* The next send that was kept and whose receive has come meanwhile. False: there is none. */
bool hw_helper_match_next(struct hw_helper_match *match, struct hw_registry_notice *notice);

#endif
