/* SPDX-License-Identifier: BSD-3-Clause */
/* A flow moves a row of bytes (layout.h) in chunks: out of the memory of user processes to another ghost,
 * from there into it, or within it. A few chunks at a time, so that the wire never waits for a copy. Ghost's
 * only thread. */
#ifndef HW_ENGINES_COLL_GHOST_FLOW_H
#define HW_ENGINES_COLL_GHOST_FLOW_H

#include "engines/coll/ghost/layout.h"
#include "real/real.h"

#include <stdbool.h>
#include <stdint.h>

enum { HW_COLL_CHUNK_BYTES = 256 * 1024, HW_COLL_CHUNKS = 4 };

enum hw_coll_direction { HW_COLL_OUT, HW_COLL_IN, HW_COLL_WITHIN };

/* What all processes make together of a part of their vectors, in a reduction. */
struct hw_coll_sum {
    struct hw_real_reduction reduction;
    char *numbers;   /* of the part that this ghost combines */
    char *one_chunk; /* of one member */
};

/* Zero but for what the caller knows; it does not move. */
struct hw_coll_flow {
    enum hw_coll_direction direction;
    struct hw_coll_row row;
    const struct hw_coll_flow *after; /* only what these have moved is there to be moved on; NULL: all */
    int after_count;
    const struct hw_coll_sum *sum; /* of Allreduce */
    bool is_result;                /* it moves what all make together, and not what is to be combined */
    int tag;
    uint64_t bytes;        /* of the row */
    uint64_t begun, ended; /* handed to the MPI; at its end */
    char *chunks;
    MPI_Request requests[HW_COLL_CHUNKS]; /* of chunk n: n % HW_COLL_CHUNKS */
};

static inline bool hw_coll_flow_is_over(const struct hw_coll_flow *flow)
{
    return flow->ended == flow->bytes;
}

/* What members here send and what they receive is of unlike size. Does not return. */
void hw_coll_flow_give_up_sizes(void);

/* True: it did something. At its end it has no memory any more. */
bool hw_coll_flow_advance(struct hw_coll_flow *flow);

#endif
