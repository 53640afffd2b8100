/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: one process (or thread) acts out its part of a plan and hashes everything it received. */
#ifndef RANDOM_ACT_H
#define RANDOM_ACT_H

#include "plan.h"

/* What one thread needs to act: communicators and types of its own. */
struct actor {
    int rank, size;
    MPI_Comm comms[MATCH_COUNT];
    MPI_Datatype types[TYPE_COUNT];
    MPI_Aint extents[TYPE_COUNT];
    struct rng local; /* differs from rank to rank: choices that must not change an answer */
    uint64_t digest;
    bool wants_trace;
    bool is_exact;  /* the communicator of MATCH_EXACT has it in its info that there are no wildcards */
    char label[64]; /* seed, rank, thread: opens every trace line */
};

void actor_init(struct actor *actor, MPI_Comm parent, uint64_t seed, int thread, bool is_exact);
void actor_destroy(struct actor *actor);

/* Acts one plan; every process of the communicator calls it with the same plan. */
void actor_run(struct actor *actor, const struct plan *plan);

uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t length);
void fill_bytes(void *bytes, size_t length, uint64_t seed);
void compute_for(int us);

/* --- collectives (collectives.c) --- */
struct collective_part {
    const struct collective *plan;
    MPI_Request request;
    int64_t *send, *receive;
    int *counts, *displs;
    size_t receive_length; /* int64_t elements */
};

void collective_prepare(struct collective_part *part, const struct collective *plan,
                        const struct actor *actor);
void collective_start(struct collective_part *part, const struct actor *actor, int iteration);
uint64_t collective_hash(const struct collective_part *part, uint64_t hash);
void collective_release(struct collective_part *part);

/* --- completion (complete.c) --- */
/* Completes every request of the array through doors drawn from `rng`; statuses[i] belongs to requests[i]
 * unless `ignores_statuses`. Entries may be null or inactive persistent requests. */
void complete_all(int count, MPI_Request *requests, MPI_Status *statuses, bool ignores_statuses,
                  struct rng *rng);

#endif
