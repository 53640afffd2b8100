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
    MPI_Aint lowers[TYPE_COUNT], extents[TYPE_COUNT];
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

/* Makes a duplicate with the assertions that there are no wildcards and that lengths are equal. */
void dup_exact(MPI_Comm parent, MPI_Comm *comm);

/* --- calls (calls.c): each in one of its forms, drawn from `rng` --- */
/* What a call is about. An absolute one has a datatype of its own. */
struct place {
    void *address;
    int count;
    MPI_Datatype type;
    bool is_type_own;
};

/* `count` elements of a datatype of the actor in `memory`. */
struct place place_of(const struct actor *actor, void *memory, int count, int type, bool is_absolute);
void place_free(struct place *place);

void call_send(enum send_mode mode, const struct place *place, int dest, int tag, MPI_Comm comm,
               MPI_Request *request, struct rng *rng);
void call_send_init(enum send_mode mode, const struct place *place, int dest, int tag, MPI_Comm comm,
                    MPI_Request *request, struct rng *rng);
void call_receive(const struct place *place, int source, int tag, MPI_Comm comm, MPI_Request *request,
                  struct rng *rng);
void call_receive_init(const struct place *place, int source, int tag, MPI_Comm comm, MPI_Request *request,
                       struct rng *rng);

/* --- exchanges (exchange.c), on a communicator that lives as long as one iteration --- */
enum { MAX_EXCHANGE_REQUESTS = 2 * MAX_EXCHANGES * MAX_CHAIN };

struct exchanges {
    struct actor *actor;
    const struct plan *plan;
    MPI_Comm comm;
    int iteration;
    int rank, size; /* there; of an intercommunicator: of those that have a partner on the other side */
    bool is_inter;
    int request_count, memory_count;
    MPI_Request requests[MAX_EXCHANGE_REQUESTS];
    struct exchange_memory {
        unsigned char *bytes;
        size_t length;
        bool is_received;
        struct place place;
    } memories[4 * MAX_EXCHANGES * MAX_CHAIN];
};

/* Makes the communicator, and does what the plan says. */
void exchanges_post(struct exchanges *exchanges, struct actor *actor, const struct plan *plan, int iteration);
/* After its requests are complete. */
uint64_t exchanges_end(struct exchanges *exchanges);

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
