/* SPDX-License-Identifier: BSD-3-Clause */
/* Transfers by name, each as a nonblocking operation and as a blocking one: what windows of overlap are made
 * of. */
#ifndef HEADWAY_BENCH_TRANSFER_H
#define HEADWAY_BENCH_TRANSFER_H

#include "bench.h"

/* BYTES is what one rank exchanges with one other rank (exchange, ialltoall, ialltoallv, igatherv, iscatterv,
 * iallgather) or the length of the vector (iallreduce, ireduce_scatter, ibcast). */
struct bench_transfer {
    char *send, *receive;
    size_t buffer_bytes; /* of each of them */
    int bytes;
    int ranks;
    int partner; /* of this rank in an exchange */
    int *counts, *offsets;
    MPI_Request persistent[2]; /* of patterns that have them (pattern.h), likewise what follows */
    int slot;
    MPI_Datatype columns;
    MPI_Comm ring;
    MPI_Win window; /* of epochs (epoch.h), and so is what follows */
    MPI_Group partners;
};

struct bench_transfer_kind {
    const char *name;
    void (*blocking)(void *transfer);
    int (*post)(void *transfer, MPI_Request *requests); /* returns how many requests it left */
    /* Instead of MPI_Waitall, unless NULL. */
    void (*complete)(void *transfer, MPI_Request *requests, int count);
    void (*open)(void *transfer), (*close)(void *transfer); /* before the first and after the last; or NULL */
    bool is_pipelined; /* no barrier between exchanges, or something is under way from one to the next */
    int slices;        /* of the computation, MPI_Testall after each or what follows; 0: in one */
    /* Posts more between two slices: returns how many requests there are then. */
    int (*piece)(void *transfer, MPI_Request *requests, int count);
};

/* The post of the plain exchange, for kinds that differ in the rest. */
int bench_exchange_post(void *transfer, MPI_Request *requests);

/* Of a table that ends with a zero entry; NULL: none of that name. */
const struct bench_transfer_kind *bench_kind_find(const struct bench_transfer_kind *kinds, const char *name);

/* NULL for a name that is none of bench_transfer_names. */
const struct bench_transfer_kind *bench_transfer_find(const char *name);
extern const char *const bench_transfer_names;

/* Buffers with bytes that depend on the rank. Collective over nobody. */
struct bench_transfer bench_transfer_make(const struct bench *bench, int64_t bytes);
void bench_transfer_free(struct bench_transfer *transfer);

/* Digest of what this rank has received. */
uint64_t bench_transfer_digest(const struct bench_transfer *transfer);

#endif
