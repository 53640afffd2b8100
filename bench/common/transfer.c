/* SPDX-License-Identifier: BSD-3-Clause */
/* The transfers, and what they move. */
#include "transfer.h"

#include <stdlib.h>
#include <string.h>

static void exchange_blocking(void *context)
{
    struct bench_transfer *t = context;
    MPI_Sendrecv(t->send, t->bytes, MPI_BYTE, t->partner, 0, t->receive, t->bytes, MPI_BYTE, t->partner, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int bench_exchange_post(void *context, MPI_Request *requests)
{
    struct bench_transfer *t = context;
    MPI_Irecv(t->receive, t->bytes, MPI_BYTE, t->partner, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(t->send, t->bytes, MPI_BYTE, t->partner, 1, MPI_COMM_WORLD, &requests[1]);
    return 2;
}

static void alltoall_blocking(void *context)
{
    struct bench_transfer *t = context;
    MPI_Alltoall(t->send, t->bytes, MPI_BYTE, t->receive, t->bytes, MPI_BYTE, MPI_COMM_WORLD);
}

static int alltoall_post(void *context, MPI_Request *requests)
{
    struct bench_transfer *t = context;
    MPI_Ialltoall(t->send, t->bytes, MPI_BYTE, t->receive, t->bytes, MPI_BYTE, MPI_COMM_WORLD, requests);
    return 1;
}

static void alltoallv_blocking(void *context)
{
    struct bench_transfer *t = context;
    MPI_Alltoallv(t->send, t->counts, t->offsets, MPI_BYTE, t->receive, t->counts, t->offsets, MPI_BYTE,
                  MPI_COMM_WORLD);
}

static int alltoallv_post(void *context, MPI_Request *requests)
{
    struct bench_transfer *t = context;
    MPI_Ialltoallv(t->send, t->counts, t->offsets, MPI_BYTE, t->receive, t->counts, t->offsets, MPI_BYTE,
                   MPI_COMM_WORLD, requests);
    return 1;
}

static void gatherv_blocking(void *context)
{
    struct bench_transfer *t = context;
    MPI_Gatherv(t->send, t->bytes, MPI_BYTE, t->receive, t->counts, t->offsets, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static int gatherv_post(void *context, MPI_Request *requests)
{
    struct bench_transfer *t = context;
    MPI_Igatherv(t->send, t->bytes, MPI_BYTE, t->receive, t->counts, t->offsets, MPI_BYTE, 0, MPI_COMM_WORLD,
                 requests);
    return 1;
}

static void scatterv_blocking(void *context)
{
    struct bench_transfer *t = context;
    MPI_Scatterv(t->send, t->counts, t->offsets, MPI_BYTE, t->receive, t->bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static int scatterv_post(void *context, MPI_Request *requests)
{
    struct bench_transfer *t = context;
    MPI_Iscatterv(t->send, t->counts, t->offsets, MPI_BYTE, t->receive, t->bytes, MPI_BYTE, 0, MPI_COMM_WORLD,
                  requests);
    return 1;
}

static void allgather_blocking(void *context)
{
    struct bench_transfer *t = context;
    MPI_Allgather(t->send, t->bytes, MPI_BYTE, t->receive, t->bytes, MPI_BYTE, MPI_COMM_WORLD);
}

static int allgather_post(void *context, MPI_Request *requests)
{
    struct bench_transfer *t = context;
    MPI_Iallgather(t->send, t->bytes, MPI_BYTE, t->receive, t->bytes, MPI_BYTE, MPI_COMM_WORLD, requests);
    return 1;
}

/* Integers: the sum does not depend on the order a library adds in. */
static void allreduce_blocking(void *context)
{
    struct bench_transfer *t = context;
    MPI_Allreduce(t->send, t->receive, t->bytes / 8, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
}

static int allreduce_post(void *context, MPI_Request *requests)
{
    struct bench_transfer *t = context;
    MPI_Iallreduce(t->send, t->receive, t->bytes / 8, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD, requests);
    return 1;
}

static void bcast_blocking(void *context)
{
    struct bench_transfer *t = context;
    MPI_Bcast(t->receive, t->bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static int bcast_post(void *context, MPI_Request *requests)
{
    struct bench_transfer *t = context;
    MPI_Ibcast(t->receive, t->bytes, MPI_BYTE, 0, MPI_COMM_WORLD, requests);
    return 1;
}

static void reduce_scatter_blocking(void *context)
{
    struct bench_transfer *t = context;
    MPI_Reduce_scatter_block(t->send, t->receive, t->bytes / 8 / t->ranks, MPI_UINT64_T, MPI_SUM,
                             MPI_COMM_WORLD);
}

static int reduce_scatter_post(void *context, MPI_Request *requests)
{
    struct bench_transfer *t = context;
    MPI_Ireduce_scatter_block(t->send, t->receive, t->bytes / 8 / t->ranks, MPI_UINT64_T, MPI_SUM,
                              MPI_COMM_WORLD, requests);
    return 1;
}

static const struct bench_transfer_kind kinds[] = {
    {.name = "exchange", .blocking = exchange_blocking, .post = bench_exchange_post},
    {.name = "ialltoall", .blocking = alltoall_blocking, .post = alltoall_post},
    {.name = "ialltoallv", .blocking = alltoallv_blocking, .post = alltoallv_post},
    {.name = "igatherv", .blocking = gatherv_blocking, .post = gatherv_post},
    {.name = "iscatterv", .blocking = scatterv_blocking, .post = scatterv_post},
    {.name = "iallgather", .blocking = allgather_blocking, .post = allgather_post},
    {.name = "iallreduce", .blocking = allreduce_blocking, .post = allreduce_post},
    {.name = "ireduce_scatter", .blocking = reduce_scatter_blocking, .post = reduce_scatter_post},
    {.name = "ibcast", .blocking = bcast_blocking, .post = bcast_post},
    {0},
};

const char *const bench_transfer_names =
    "exchange ialltoall ialltoallv igatherv iscatterv iallgather iallreduce ireduce_scatter ibcast";

const struct bench_transfer_kind *bench_kind_find(const struct bench_transfer_kind *table, const char *name)
{
    for (const struct bench_transfer_kind *kind = table; kind->name != NULL; kind++)
        if (strcmp(kind->name, name) == 0)
            return kind;
    return NULL;
}

const struct bench_transfer_kind *bench_transfer_find(const char *name)
{
    return bench_kind_find(kinds, name);
}

struct bench_transfer bench_transfer_make(const struct bench *bench, int64_t bytes)
{
    size_t all_bytes = (size_t)bytes * (size_t)bench->ranks;
    int half = bench->ranks / 2;
    struct bench_transfer transfer = {
        .send = bench_allocate(all_bytes),
        .receive = bench_allocate(all_bytes),
        .buffer_bytes = all_bytes,
        .bytes = (int)bytes,
        .ranks = bench->ranks,
        .partner = bench->rank < half ? bench->rank + half : bench->rank - half,
        .counts = bench_allocate((size_t)bench->ranks * sizeof(int)),
        .offsets = bench_allocate((size_t)bench->ranks * sizeof(int)),
    };
    for (int i = 0; i < bench->ranks; i++) {
        transfer.counts[i] = (int)bytes;
        transfer.offsets[i] = i * (int)bytes;
    }
    bench_fill(transfer.send, all_bytes, (uint64_t)bench->rank + 1);
    bench_fill(transfer.receive, all_bytes, (uint64_t)bench->rank + 101);
    return transfer;
}

uint64_t bench_transfer_digest(const struct bench_transfer *transfer)
{
    return bench_digest(transfer->receive, transfer->buffer_bytes);
}

void bench_transfer_free(struct bench_transfer *transfer)
{
    free(transfer->send);
    free(transfer->receive);
    free(transfer->counts);
    free(transfer->offsets);
}
