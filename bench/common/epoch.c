/* SPDX-License-Identifier: BSD-3-Clause */
/* The epochs. The operation is issued before the computation, and the epoch ends after it. */
#include "epoch.h"

/* ---- windows ---------------------------------------------------------------------------------------- */

static void window_make(struct bench_transfer *t, char *memory)
{
    MPI_Win_create(memory, (MPI_Aint)t->bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &t->window);
}

static void received_open(void *context) /* others write into what this rank receives */
{
    struct bench_transfer *t = context;
    window_make(t, t->receive);
}

static void window_close(void *context)
{
    struct bench_transfer *t = context;
    MPI_Win_free(&t->window);
}

static void put(struct bench_transfer *t)
{
    MPI_Put(t->send, t->bytes, MPI_BYTE, t->partner, 0, t->bytes, MPI_BYTE, t->window);
}

/* ---- fences ----------------------------------------------------------------------------------------- */

static void fence_open(void *context)
{
    struct bench_transfer *t = context;
    received_open(t);
    MPI_Win_fence(MPI_MODE_NOPRECEDE, t->window);
}

static int fence_post(void *context, MPI_Request *requests)
{
    (void)requests;
    put(context);
    return 0;
}

static void fence_complete(void *context, MPI_Request *requests, int count)
{
    struct bench_transfer *t = context;
    (void)requests, (void)count;
    MPI_Win_fence(0, t->window);
}

static void fence_close(void *context)
{
    struct bench_transfer *t = context;
    MPI_Win_fence(MPI_MODE_NOSUCCEED, t->window);
    window_close(t);
}

/* ---- post, start, complete, wait -------------------------------------------------------------------- */

static void pscw_open(void *context)
{
    struct bench_transfer *t = context;
    MPI_Group world;
    received_open(t);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &t->partner, &t->partners);
    MPI_Group_free(&world);
}

static int pscw_post(void *context, MPI_Request *requests)
{
    struct bench_transfer *t = context;
    (void)requests;
    MPI_Win_post(t->partners, 0, t->window);
    MPI_Win_start(t->partners, 0, t->window);
    put(t);
    return 0;
}

static void pscw_complete(void *context, MPI_Request *requests, int count)
{
    struct bench_transfer *t = context;
    (void)requests, (void)count;
    MPI_Win_complete(t->window);
    MPI_Win_wait(t->window);
}

static void pscw_close(void *context)
{
    struct bench_transfer *t = context;
    MPI_Group_free(&t->partners);
    window_close(t);
}

/* ---- passive targets -------------------------------------------------------------------------------- */

static void locked_get_open(void *context) /* others read what this rank sends */
{
    struct bench_transfer *t = context;
    window_make(t, t->send);
}

static int locked_get_post(void *context, MPI_Request *requests)
{
    struct bench_transfer *t = context;
    (void)requests;
    MPI_Win_lock(MPI_LOCK_SHARED, t->partner, 0, t->window);
    MPI_Get(t->receive, t->bytes, MPI_BYTE, t->partner, 0, t->bytes, MPI_BYTE, t->window);
    return 0;
}

static void locked_get_complete(void *context, MPI_Request *requests, int count)
{
    struct bench_transfer *t = context;
    (void)requests, (void)count;
    MPI_Win_unlock(t->partner, t->window);
}

static void flushed_open(void *context)
{
    struct bench_transfer *t = context;
    received_open(t);
    MPI_Win_lock_all(0, t->window);
}

static int accumulate_post(void *context, MPI_Request *requests)
{
    struct bench_transfer *t = context;
    int count = t->bytes / (int)sizeof(int64_t);
    (void)requests;
    MPI_Accumulate(t->send, count, MPI_INT64_T, t->partner, 0, count, MPI_INT64_T, MPI_SUM, t->window);
    return 0;
}

static void flush_complete(void *context, MPI_Request *requests, int count)
{
    struct bench_transfer *t = context;
    (void)requests, (void)count;
    MPI_Win_flush(t->partner, t->window);
}

static void flushed_close(void *context)
{
    struct bench_transfer *t = context;
    MPI_Win_unlock_all(t->window);
    window_close(t);
}

/* Programs order their epochs by these calls alone, so no barrier stands between two of them. */
static const struct bench_transfer_kind kinds[] = {
    {.name = "fence",
     .open = fence_open,
     .post = fence_post,
     .complete = fence_complete,
     .close = fence_close,
     .is_pipelined = true},
    {.name = "start_complete",
     .open = pscw_open,
     .post = pscw_post,
     .complete = pscw_complete,
     .close = pscw_close,
     .is_pipelined = true},
    {.name = "locked_get",
     .open = locked_get_open,
     .post = locked_get_post,
     .complete = locked_get_complete,
     .close = window_close,
     .is_pipelined = true},
    {.name = "accumulate_flush",
     .open = flushed_open,
     .post = accumulate_post,
     .complete = flush_complete,
     .close = flushed_close,
     .is_pipelined = true},
    {0},
};

const char *const bench_epoch_names = "fence start_complete locked_get accumulate_flush";

const struct bench_transfer_kind *bench_epoch_find(const char *name) { return bench_kind_find(kinds, name); }
