/* SPDX-License-Identifier: BSD-3-Clause */
/* One-sided operations from every rank of a window to others, and the check that each was made once and read
 * what it had to (papers/002 section 7.2).
 *
 * Values are small integers, so that sums are exact in any order. The caller decides when operations are
 * made; between two checks it keeps the ranks apart from one another by barriers. */
#ifndef BENCH_COMMON_EXCHANGE_H
#define BENCH_COMMON_EXCHANGE_H

#include "bench.h"

enum bench_operation {
    BENCH_NONE,
    BENCH_PUT,
    BENCH_GET,
    BENCH_ACCUMULATE,
    BENCH_GET_ACCUMULATE,
    BENCH_FETCH_AND_OP,
    BENCH_OPERATIONS
};

#define BENCH_OPERATION_NAMES "none, put, get, accumulate, get_accumulate or fetch_and_op"

/* BENCH_OPERATIONS: there is none of that name. */
enum bench_operation bench_operation_find(const char *name);

/* Whom this rank's operations go to. */
struct bench_aims {
    int count, *target; /* ranks, the next one first; not the own one */
    bool *is_aimed_at;  /* [ranks]: whether operations go to that rank */
};

/* All ranks, or those of rank 0's node alone. Collective. */
struct bench_aims bench_aims_find(const struct bench *bench, bool is_one_node);
void bench_aims_free(struct bench_aims *aims);

/* What a window holds room for. */
struct bench_exchange_shape {
    int64_t bytes;               /* of an operation, a multiple of 8; 8 for fetch_and_op */
    bool is_strided;             /* boxes at the targets, as bench_target_type has them */
    int most;                    /* operations to a target between two flushes */
    enum bench_operation use[2]; /* those that will be made */
};

struct bench_exchange {
    const struct bench *bench;
    const struct bench_aims *aims;
    struct bench_exchange_shape shape;
    bool has_flush_each; /* after each operation; else after all of them */
    int count;           /* doubles of a message */
    MPI_Datatype type;   /* a message at its target */
    MPI_Aint extent;     /* doubles from one place to the next */
    double *base;
    MPI_Win win;
    double *sent, *received, *fetched; /* one message; one for each operation and target, of either kind */
    int64_t added;                     /* to each target so far, by each rank */
    int put, got;                      /* most operations of a time so far */
};

/* A window of MPI_Win_allocate in an epoch of MPI_Win_lock_all, with what others read in it. Collective. */
void bench_exchange_make(struct bench_exchange *exchange, const struct bench *bench,
                         const struct bench_aims *aims, const struct bench_exchange_shape *shape,
                         MPI_Info info);
void bench_exchange_free(struct bench_exchange *exchange);

/* So many OPERATIONS to each target, complete there at the end. */
void bench_exchange_operate(struct bench_exchange *exchange, enum bench_operation operation, int operations);

/* Whether all that this rank read last, and all in its memory, is what it has to be. Nobody operates. */
bool bench_exchange_is_right(const struct bench_exchange *exchange);

/* Bytes of the own memory. */
size_t bench_exchange_bytes(const struct bench_exchange *exchange);

/* What rank RANK has at AT. */
double bench_exchange_entry(int rank, int64_t at);

#endif
