/* SPDX-License-Identifier: BSD-3-Clause */
/* The patterns. Each exchanges the same bytes; what differs is which calls the program makes, and when. */
#include "pattern.h"

#include <string.h>

enum {
    TAG = 1,
    PARTS = 16,       /* messages of `parts` */
    FEW = 4,          /* messages of `waitany` */
    PIECE_BYTES = 64, /* of `columns`, each followed by as long a gap */
    SLICES = 8        /* of the computation of `polled` and `pieces`, and messages of `pieces` */
};

/* ---- what comes after the computation ------------------------------------------------------------- */

static int late_receive_post(void *context, MPI_Request *requests)
{
    struct bench_transfer *t = context;
    MPI_Isend(t->send, t->bytes, MPI_BYTE, t->partner, TAG, MPI_COMM_WORLD, requests);
    return 1;
}

static void late_receive_complete(void *context, MPI_Request *requests, int count)
{
    struct bench_transfer *t = context;
    MPI_Recv(t->receive, t->bytes, MPI_BYTE, t->partner, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
}

static void mprobe_complete(void *context, MPI_Request *requests, int count)
{
    struct bench_transfer *t = context;
    MPI_Message message;
    MPI_Mprobe(t->partner, TAG, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(t->receive, t->bytes, MPI_BYTE, &message, MPI_STATUS_IGNORE);
    MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
}

static int late_send_post(void *context, MPI_Request *requests)
{
    struct bench_transfer *t = context;
    MPI_Irecv(t->receive, t->bytes, MPI_BYTE, t->partner, TAG, MPI_COMM_WORLD, requests);
    return 1;
}

static void late_send_complete(void *context, MPI_Request *requests, int count)
{
    struct bench_transfer *t = context;
    MPI_Send(t->send, t->bytes, MPI_BYTE, t->partner, TAG, MPI_COMM_WORLD);
    MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
}

static void late_isend_complete(void *context, MPI_Request *requests, int count)
{
    struct bench_transfer *t = context;
    MPI_Isend(t->send, t->bytes, MPI_BYTE, t->partner, TAG, MPI_COMM_WORLD, &requests[count]);
    MPI_Waitall(count + 1, requests, MPI_STATUSES_IGNORE);
}

/* ---- several messages ------------------------------------------------------------------------------ */

static int messages_post(struct bench_transfer *t, MPI_Request *requests, int messages)
{
    int part = t->bytes / messages;
    for (int i = 0; i < messages; i++)
        MPI_Irecv(t->receive + (size_t)i * (size_t)part, part, MPI_BYTE, t->partner, TAG + i, MPI_COMM_WORLD,
                  &requests[i]);
    for (int i = 0; i < messages; i++)
        MPI_Isend(t->send + (size_t)i * (size_t)part, part, MPI_BYTE, t->partner, TAG + i, MPI_COMM_WORLD,
                  &requests[messages + i]);
    return 2 * messages;
}

static int parts_post(void *context, MPI_Request *requests)
{
    return messages_post(context, requests, PARTS);
}

static int few_post(void *context, MPI_Request *requests) { return messages_post(context, requests, FEW); }

/* All receives first, and a send after each slice of the computation: what it has made. */
static int pieces_post(void *context, MPI_Request *requests)
{
    struct bench_transfer *t = context;
    int part = t->bytes / SLICES;
    for (int i = 0; i < SLICES; i++)
        MPI_Irecv(t->receive + (size_t)i * (size_t)part, part, MPI_BYTE, t->partner, TAG + i, MPI_COMM_WORLD,
                  &requests[i]);
    return SLICES;
}

static int pieces_send(void *context, MPI_Request *requests, int count)
{
    struct bench_transfer *t = context;
    int part = t->bytes / SLICES, i = count - SLICES;
    MPI_Isend(t->send + (size_t)i * (size_t)part, part, MPI_BYTE, t->partner, TAG + i, MPI_COMM_WORLD,
              &requests[count]);
    return count + 1;
}

/* The receive first, and the send after the first slice: the boundary of a domain, computed before the rest.
 */
static int boundary_send(void *context, MPI_Request *requests, int count)
{
    struct bench_transfer *t = context;
    if (count > 1)
        return count;
    MPI_Isend(t->send, t->bytes, MPI_BYTE, t->partner, TAG, MPI_COMM_WORLD, &requests[count]);
    return count + 1;
}

static void waitany_complete(void *context, MPI_Request *requests, int count)
{
    (void)context;
    for (int done = 0, which; done < count; done++)
        MPI_Waitany(count, requests, &which, MPI_STATUS_IGNORE);
}

/* ---- one message each, posted in ways of their own -------------------------------------------------- */

static void persistent_open(void *context)
{
    struct bench_transfer *t = context;
    MPI_Recv_init(t->receive, t->bytes, MPI_BYTE, t->partner, TAG, MPI_COMM_WORLD, &t->persistent[0]);
    MPI_Send_init(t->send, t->bytes, MPI_BYTE, t->partner, TAG, MPI_COMM_WORLD, &t->persistent[1]);
}

static void persistent_close(void *context)
{
    struct bench_transfer *t = context;
    MPI_Request_free(&t->persistent[0]);
    MPI_Request_free(&t->persistent[1]);
}

static int persistent_post(void *context, MPI_Request *requests)
{
    struct bench_transfer *t = context;
    MPI_Startall(2, t->persistent);
    memcpy(requests, t->persistent, sizeof t->persistent);
    return 2;
}

static void columns_open(void *context)
{
    struct bench_transfer *t = context;
    MPI_Type_vector(t->bytes / PIECE_BYTES, PIECE_BYTES, 2 * PIECE_BYTES, MPI_BYTE, &t->columns);
    MPI_Type_commit(&t->columns);
}

static void columns_close(void *context)
{
    struct bench_transfer *t = context;
    MPI_Type_free(&t->columns);
}

static int columns_post(void *context, MPI_Request *requests)
{
    struct bench_transfer *t = context;
    MPI_Irecv(t->receive, 1, t->columns, t->partner, TAG, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(t->send, 1, t->columns, t->partner, TAG, MPI_COMM_WORLD, &requests[1]);
    return 2;
}

/* The halo of a domain at the edge of a grid: two large faces, a small one, and a strided one that nobody
 * has. */
static int halo_post(void *context, MPI_Request *requests)
{
    enum { FACES = 2, SMALL_BYTES = 512, SMALL_TAG = TAG + FACES };
    struct bench_transfer *t = context;
    int face = t->bytes / FACES - SMALL_BYTES / FACES, count = 0;
    for (int i = 0; i < FACES; i++)
        MPI_Irecv(t->receive + (size_t)i * (size_t)face, face, MPI_BYTE, t->partner, TAG + i, MPI_COMM_WORLD,
                  &requests[count++]);
    MPI_Irecv(t->receive + (size_t)FACES * (size_t)face, SMALL_BYTES, MPI_BYTE, t->partner, SMALL_TAG,
              MPI_COMM_WORLD, &requests[count++]);
    MPI_Irecv(t->receive, 1, t->columns, MPI_PROC_NULL, TAG, MPI_COMM_WORLD, &requests[count++]);
    for (int i = 0; i < FACES; i++)
        MPI_Isend(t->send + (size_t)i * (size_t)face, face, MPI_BYTE, t->partner, TAG + i, MPI_COMM_WORLD,
                  &requests[count++]);
    MPI_Isend(t->send + (size_t)FACES * (size_t)face, SMALL_BYTES, MPI_BYTE, t->partner, SMALL_TAG,
              MPI_COMM_WORLD, &requests[count++]);
    MPI_Isend(t->send, 1, t->columns, MPI_PROC_NULL, TAG, MPI_COMM_WORLD, &requests[count++]);
    return count;
}

static int any_source_post(void *context, MPI_Request *requests)
{
    struct bench_transfer *t = context;
    MPI_Irecv(t->receive, t->bytes, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(t->send, t->bytes, MPI_BYTE, t->partner, TAG, MPI_COMM_WORLD, &requests[1]);
    return 2;
}

static int synchronous_post(void *context, MPI_Request *requests)
{
    struct bench_transfer *t = context;
    MPI_Irecv(t->receive, t->bytes, MPI_BYTE, t->partner, TAG, MPI_COMM_WORLD, &requests[0]);
    MPI_Issend(t->send, t->bytes, MPI_BYTE, t->partner, TAG, MPI_COMM_WORLD, &requests[1]);
    return 2;
}

/* Two exchanges are under way: each is completed a window later. */
static void double_buffered_open(void *context)
{
    struct bench_transfer *t = context;
    t->persistent[0] = t->persistent[1] = MPI_REQUEST_NULL; /* of the window before */
    t->slot = 0;
}

static int double_buffered_post(void *context, MPI_Request *requests)
{
    struct bench_transfer *t = context;
    t->slot = 1 - t->slot;
    MPI_Irecv(t->receive + (size_t)t->slot * (size_t)t->bytes, t->bytes, MPI_BYTE, t->partner, TAG,
              MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(t->send, t->bytes, MPI_BYTE, t->partner, TAG, MPI_COMM_WORLD, &requests[1]);
    return 2;
}

static void double_buffered_complete(void *context, MPI_Request *requests, int count)
{
    struct bench_transfer *t = context;
    MPI_Waitall(2, t->persistent, MPI_STATUSES_IGNORE);
    memcpy(t->persistent, requests, (size_t)count * sizeof *requests);
}

/* The same, but for the order of a round: what it works on is what it has just waited for. */
static int prefetched_post(void *context, MPI_Request *requests)
{
    struct bench_transfer *t = context;
    int count = double_buffered_post(context, requests);
    double_buffered_complete(t, requests, count);
    return 0;
}

static void double_buffered_close(void *context)
{
    struct bench_transfer *t = context;
    MPI_Waitall(2, t->persistent, MPI_STATUSES_IGNORE);
}

/* ---- on a ring --------------------------------------------------------------------------------------- */

static void neighbors_open(void *context)
{
    struct bench_transfer *t = context;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &t->ranks, (const int[]){1}, 0, &t->ring);
}

static void neighbors_close(void *context)
{
    struct bench_transfer *t = context;
    MPI_Comm_free(&t->ring);
}

/* Half to each neighbour: of two ranks, both are the partner. */
static int neighbors_post(void *context, MPI_Request *requests)
{
    struct bench_transfer *t = context;
    MPI_Ineighbor_alltoall(t->send, t->bytes / 2, MPI_BYTE, t->receive, t->bytes / 2, MPI_BYTE, t->ring,
                           requests);
    return 1;
}

static const struct bench_transfer_kind kinds[] = {
    {.name = "late_receive", .post = late_receive_post, .complete = late_receive_complete},
    {.name = "mprobe", .post = late_receive_post, .complete = mprobe_complete},
    {.name = "late_send", .post = late_send_post, .complete = late_send_complete},
    {.name = "late_isend", .post = late_send_post, .complete = late_isend_complete},
    {.name = "parts", .post = parts_post},
    {.name = "waitany", .post = few_post, .complete = waitany_complete},
    {.name = "polled", .post = few_post, .slices = SLICES},
    {.name = "persistent", .open = persistent_open, .post = persistent_post, .close = persistent_close},
    {.name = "columns", .open = columns_open, .post = columns_post, .close = columns_close},
    {.name = "any_source", .post = any_source_post},
    {.name = "synchronous", .post = synchronous_post},
    {.name = "started",
     .open = persistent_open,
     .post = persistent_post,
     .close = persistent_close,
     .is_pipelined = true},
    {.name = "halo", .open = columns_open, .post = halo_post, .close = columns_close, .is_pipelined = true},
    {.name = "loop", .post = bench_exchange_post, .is_pipelined = true},
    {.name = "pieces", .post = pieces_post, .piece = pieces_send, .slices = SLICES, .is_pipelined = true},
    {.name = "boundary",
     .post = late_send_post,
     .piece = boundary_send,
     .slices = SLICES,
     .is_pipelined = true},
    {.name = "double_buffered",
     .open = double_buffered_open,
     .post = double_buffered_post,
     .complete = double_buffered_complete,
     .close = double_buffered_close,
     .is_pipelined = true},
    {.name = "prefetched",
     .open = double_buffered_open,
     .post = prefetched_post,
     .close = double_buffered_close,
     .is_pipelined = true},
    {.name = "neighbors", .open = neighbors_open, .post = neighbors_post, .close = neighbors_close},
    {0},
};

const char *const bench_pattern_names =
    "late_receive mprobe late_send late_isend parts waitany polled persistent columns any_source synchronous "
    "started halo loop pieces boundary double_buffered prefetched neighbors";

const struct bench_transfer_kind *bench_pattern_find(const char *name)
{
    return bench_kind_find(kinds, name);
}
