/* SPDX-License-Identifier: BSD-3-Clause */
/* Arguments: bytes of the largest block. Description: nonblocking collectives with counts for each process,
 * which ghosts make: blocks of all sizes and none, in any order and with room between, of datatypes with
 * gaps, in place, several at a time. Prints a digest of what each rank has. */
#include "coll.h"

#include <stdbool.h>

enum { GAP = 2, ROOM = 5, FILL = 0xee, SEVERAL = 4, SHARES = 3 };

/* Plain Intel MPI (2021.18) often never completes MPI_Iallgatherv of unlike counts. */
#ifdef I_MPI_VERSION
#define IS_GATHERED(shape) ((shape) == EVEN)
#else
#define IS_GATHERED(shape) true
#endif

/* Those of one process; displacements in elements. */
struct each {
    int *counts, *displs;
    size_t room;
};

enum { EVEN, ONE, SOME, NONE, SHAPES };

/* In elements, from one process to another. */
static int count_of(int shape, int from, int to)
{
    switch (shape) {
    case EVEN:
        return (int)words;
    case ONE: /* nothing but this */
        return from == 1 && to % 2 == 0 ? (int)words : 0;
    case SOME:
        return (from + 2 * to) % SHARES == 0 ? 0 : (int)words / (1 + (2 * from + to) % SHARES) + to;
    default:
        return 0;
    }
}

/* What comes from, or goes to, each: the last one first in memory. */
static struct each make_each(int shape, int is_gathered, int is_sent)
{
    struct each each = {malloc((size_t)size * sizeof(int)), malloc((size_t)size * sizeof(int)), ROOM};
    for (int i = size - 1; i >= 0; i--) {
        int from = is_sent ? rank : i, to = is_sent ? i : rank;
        each.counts[i] = count_of(shape, from, is_gathered ? 0 : to);
        each.displs[i] = (int)each.room;
        each.room += (size_t)each.counts[i] + ROOM;
    }
    return each;
}

static void free_each(struct each *each)
{
    free(each->counts);
    free(each->displs);
}

static void fill(unsigned *block, int count, int to, int round, size_t stride)
{
    for (int i = 0; i < count; i++)
        block[(size_t)i * stride] = pattern(rank, to, round, (size_t)i);
}

/* All that was received, and that nothing is where nothing was to be. */
static void check_each(const char *what, const unsigned *all, const struct each *each, int round, int to,
                       size_t stride)
{
    size_t next = 0;
    for (int from = size - 1; from >= 0; from--) {
        for (; next < (size_t)each->displs[from] * stride; next++)
            expect("room", all[next], 0xeeeeeeee);
        for (int i = 0; i < each->counts[from]; i++, next += stride) {
            expect(what, all[next], pattern(from, to, round, (size_t)i));
            for (size_t gap = 1; gap < stride; gap++)
                expect("gap", all[next + gap], 0xeeeeeeee);
        }
    }
}

static void gather(MPI_Comm comm, int shape, int round, int is_in_place, MPI_Datatype type, size_t stride)
{
    struct each each = make_each(shape, 1, 0);
    int own = each.counts[rank];
    unsigned *all = make(each.room * stride), *apart = make((size_t)own * stride + 1);
    unsigned *from = is_in_place ? all + (size_t)each.displs[rank] * stride : apart;
    MPI_Request request;
    fill(from, own, 0, round, stride);
    MPI_Iallgatherv(is_in_place ? MPI_IN_PLACE : apart, own, type, all, each.counts, each.displs, type, comm,
                    &request);
    finish(&request, round % DOORS);
    check_each("allgatherv", all, &each, round, 0, stride);
    free(all);
    free(apart);
    free_each(&each);
}

struct exchange {
    struct each sends, receives;
    unsigned *sent, *received;
    MPI_Request request;
};

static struct exchange begin_exchange(MPI_Comm comm, int shape, int round, MPI_Datatype type, size_t stride)
{
    struct exchange it = {.sends = make_each(shape, 0, 1), .receives = make_each(shape, 0, 0)};
    it.sent = make(it.sends.room * stride);
    it.received = make(it.receives.room * stride);
    for (int to = 0; to < size; to++)
        fill(it.sent + (size_t)it.sends.displs[to] * stride, it.sends.counts[to], to, round, stride);
    MPI_Ialltoallv(it.sent, it.sends.counts, it.sends.displs, type, it.received, it.receives.counts,
                   it.receives.displs, type, comm, &it.request);
    return it;
}

static void end_exchange(struct exchange *it, int round, size_t stride)
{
    check_each("alltoallv", it->received, &it->receives, round, rank, stride);
    free(it->sent);
    free(it->received);
    free_each(&it->sends);
    free_each(&it->receives);
}

static void exchange(MPI_Comm comm, int shape, int round, MPI_Datatype type, size_t stride)
{
    struct exchange it = begin_exchange(comm, shape, round, type, stride);
    finish(&it.request, round % DOORS);
    end_exchange(&it, round, stride);
}

/* Of all shapes at once on two communicators; a datatype is freed before they end. */
static void several(MPI_Comm dup)
{
    struct exchange all[SEVERAL];
    MPI_Request requests[SEVERAL];
    MPI_Datatype gaps = make_gaps(GAP);
    for (int i = 0; i < SEVERAL; i++) {
        all[i] = begin_exchange(i % 2 ? dup : MPI_COMM_WORLD, i % SHAPES, i, gaps, GAP);
        requests[i] = all[i].request;
    }
    MPI_Type_free(&gaps);
    MPI_Waitall(SEVERAL, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < SEVERAL; i++)
        end_exchange(&all[i], i, GAP);
}

/* What ghosts leave to the MPI. */
static void in_place(MPI_Comm comm)
{
    struct each each = make_each(EVEN, 0, 0);
    unsigned *all = make(each.room);
    MPI_Request request;
    for (int to = 0; to < size; to++)
        fill(all + each.displs[to], each.counts[to], to, 1, 1);
    MPI_Ialltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, all, each.counts, each.displs, MPI_INT, comm,
                   &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check_each("in place", all, &each, 1, rank, 1);
    free(all);
    free_each(&each);
}

int main(int argc, char **argv)
{
    MPI_Comm dup;
    start(argc, argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Datatype gaps = make_gaps(GAP);
    for (int round = 0; round < DOORS; round++)
        for (int shape = 0; shape < SHAPES; shape++) {
            MPI_Comm comm = round % 2 ? dup : MPI_COMM_WORLD;
            if (IS_GATHERED(shape))
                gather(comm, shape, round, (round + shape) % 2, MPI_INT, 1);
            exchange(comm, shape, round, MPI_INT, 1);
        }
    for (int shape = 0; shape < SHAPES; shape++) {
        if (IS_GATHERED(shape))
            gather(dup, shape, shape, shape % 2, gaps, GAP);
        exchange(dup, shape, shape, gaps, GAP);
    }
    several(dup);
    in_place(dup);
    MPI_Type_free(&gaps);
    MPI_Comm_free(&dup);
    return say_and_end();
}
