/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of rates: what share of its time each user process of the job is inside MPI, and what that says
 * of its routes (policy/rate.h), in one byte each. It lies in the memory of the node beside the bells; the
 * node's first ghost writes it (sample.h, exchange.h), its user processes read. It takes the place of the two
 * caches of papers/002 section 5.3.3: reading it costs no call of MPI. */
#ifndef HW_GHOST_RATES_H
#define HW_GHOST_RATES_H

#include "base/atomic.h"
#include "ghost/reach.h"
#include "policy/rate.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where a user process marks that it is inside MPI (progress/inside.h), for a ghost that reads it there. */
struct hw_ghost_mark {
    _Atomic uintptr_t depth; /* of the thread that called MPI_Init*; release, last; 0: none, or gone */
    struct hw_ghost_proof proof;
    uint64_t unused;
};

struct hw_ghost_rates {
    _Atomic uint32_t generation;  /* counts changes of what is said; release */
    _Atomic uint32_t exchanges;   /* with other nodes; relaxed */
    _Atomic uint64_t looks;       /* at all user processes of the node; relaxed */
    struct hw_ghost_mark marks[]; /* by local index; behind them a byte for each process, by user rank */
};

/* For a node with so many user processes, in a job with hw_world.user_count. */
size_t hw_ghost_rates_bytes(int local_count);

/* Relaxed: what it was a moment ago does as well. HW_RATE_BYTE_UNKNOWN without a table. Any thread. */
uint8_t hw_ghost_rates_read(int user_rank);
uint32_t hw_ghost_rates_generation(void);

/* By the node's first ghost. True: it says something else now. */
bool hw_ghost_rates_write(int user_rank, uint8_t byte);

/* In a user process, by the thread that calls MPI_Init*: from here on its mark may be looked at, until
 * MPI_Finalize. */
void hw_ghost_rates_show_mark(void);
void hw_ghost_rates_hide_mark(void);

#endif
