/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: accumulates on one process's large window from all others, of every kind of datatype, so long
 * and so placed that where several ghosts share the window's memory they reach across the borders, with
 * elements that lie on one; and many small ones to the same places at once. Prints what the standard
 * determines. With the argument "blocks" only datatypes of few blocks. */
#include "check.h"

enum { PAGE_INTS = 1024, INTS = 8 * PAGE_INTS, PAIRS = INTS / 4 - 1, ROUNDS = 10, TARGET = 0 };

static int *base; /* of the target's window; others have none */
static int data[INTS], fetched[INTS];
static MPI_Win win;
static MPI_Comm world;

struct pair {
    double value;
    int place;
};

static void reset(void)
{
    MPI_Barrier(world);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, check_rank, 0, win);
    for (int i = 0; check_rank == TARGET && i < INTS; i++)
        base[i] = i % 97;
    MPI_Win_unlock(check_rank, win);
    for (int i = 0; i < INTS; i++) {
        data[i] = i % 89 + check_rank;
        fetched[i] = -1;
    }
    MPI_Barrier(world);
}

static void report(const char *what)
{
    MPI_Barrier(world);
    MPI_Win_lock(MPI_LOCK_SHARED, check_rank, 0, win);
    if (check_rank == TARGET)
        printf("rank %d %s %016lx\n", check_rank, what,
               (unsigned long)check_digest(base, INTS * sizeof(int)));
    MPI_Win_unlock(check_rank, win);
    printf("rank %d %s fetched %016lx\n", check_rank, what,
           (unsigned long)check_digest(fetched, sizeof fetched));
    fflush(stdout);
}

/* How elements lie in a buffer: all of these have the same number of ints. */
enum shape { WHOLE, REVERSED, STRUCT, STRIDED, SUBARRAY, SHAPES };
static const char *const shape_names[] = {"whole", "reversed", "struct", "strided", "subarray"};
enum { PART = 64 * 62 };

/* Where a shape begins, so that it lies around the middle. */
static int first_of(enum shape shape) { return shape == WHOLE || shape == REVERSED ? 2000 : 1; }

static MPI_Datatype make_shape(enum shape shape, int *count)
{
    MPI_Datatype type, inner;
    *count = 1;
    if (shape == WHOLE) {
        *count = PART;
        return MPI_INT;
    }
    if (shape == STRIDED) {
        MPI_Type_vector(PART / 4, 1, 2, MPI_INT, &inner);
        MPI_Type_create_resized(inner, 0, (MPI_Aint)(PART / 2 * sizeof(int)), &type);
        MPI_Type_free(&inner);
        *count = 4;
    } else if (shape == REVERSED) {
        int lengths[4] = {PART / 4, PART / 4, PART / 4, PART / 4};
        MPI_Aint places[4];
        for (int i = 0; i < 4; i++)
            places[i] = (MPI_Aint)((3 - i) * (PART / 4 + 2) * (int)sizeof(int));
        MPI_Type_create_hindexed(4, lengths, places, MPI_INT, &type);
    } else if (shape == STRUCT) {
        MPI_Datatype types[3] = {MPI_INT, MPI_DATATYPE_NULL, MPI_INT};
#ifndef OPEN_MPI /* where an accumulate counts the datatypes that have no elements too */
        types[0] = MPI_DOUBLE;
#endif
        int lengths[3] = {0, PART / 4, PART / 2};
        MPI_Aint places[3] = {0, 12, (MPI_Aint)((INTS - 1 - PART / 2) * (int)sizeof(int))};
        MPI_Type_contiguous(2, MPI_INT, &types[1]);
        MPI_Type_create_struct(3, lengths, places, types, &inner);
        MPI_Type_dup(inner, &type);
        MPI_Type_free(&inner);
        MPI_Type_free(&types[1]);
    } else {
        int sizes[2] = {INTS / 64, 64}, parts[2] = {64, 62}, starts[2] = {3, 1};
        MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_C, MPI_INT, &type);
    }
    MPI_Type_commit(&type);
    return type;
}

static void end_shape(enum shape shape, MPI_Datatype *type)
{
    if (shape != WHOLE)
        MPI_Type_free(type);
}

/* The number of ints in every shape, so that any goes with any. */
static int ints_of(MPI_Datatype type, int count)
{
    int bytes;
    MPI_Type_size(type, &bytes);
    return bytes / (int)sizeof(int) * count;
}

static void try_shape(enum shape at_target, enum shape at_origin)
{
    int target_count, origin_count;
    char what[64];
    MPI_Datatype target = make_shape(at_target, &target_count), origin = make_shape(at_origin, &origin_count);
    CHECK(ints_of(target, target_count) == PART && ints_of(origin, origin_count) == PART);
    snprintf(what, sizeof what, "%s from %s", shape_names[at_target], shape_names[at_origin]);
    reset();
    MPI_Win_fence(0, win);
    MPI_Accumulate(data, origin_count, origin, TARGET, first_of(at_target), target_count, target, MPI_SUM,
                   win);
    MPI_Win_fence(0, win);
    if (check_rank == check_size - 1)
        MPI_Get_accumulate(data, origin_count, origin, fetched, origin_count, origin, TARGET,
                           first_of(at_target), target_count, target, MPI_MAX, win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    report(what);
    end_shape(at_target, &target);
    end_shape(at_origin, &origin);
}

static void try_requests(void)
{
    MPI_Request request;
    reset();
    MPI_Win_lock_all(0, win);
    MPI_Raccumulate(data, INTS, MPI_INT, TARGET, 0, INTS, MPI_INT, MPI_SUM, win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    memset(data, 0xff, sizeof data); /* ours again */
    MPI_Win_flush(TARGET, win);
    MPI_Barrier(world);
    MPI_Rget_accumulate(NULL, 0, MPI_INT, fetched, INTS, MPI_INT, TARGET, 0, INTS, MPI_INT, MPI_NO_OP, win,
                        &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Win_unlock_all(win);
    report("requests");
}

/* Pairs of 12 bytes in 16, at 8: one lies on every border of a page. */
static void try_pairs(void)
{
    struct pair *pairs = malloc(PAIRS * sizeof *pairs), *own = (struct pair *)(base + 2);
    CHECK(pairs != NULL);
    reset();
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, check_rank, 0, win);
    for (int i = 0; check_rank == TARGET && i < PAIRS; i++)
        own[i] = (struct pair){.value = i % 7, .place = -1};
    MPI_Win_unlock(check_rank, win);
    MPI_Barrier(world);
    for (int i = 0; i < PAIRS; i++)
        pairs[i] = (struct pair){.value = (i + check_rank) % 11, .place = check_rank};
    MPI_Win_lock(MPI_LOCK_SHARED, TARGET, 0, win);
    MPI_Accumulate(pairs, PAIRS, MPI_DOUBLE_INT, TARGET, 2, PAIRS, MPI_DOUBLE_INT, MPI_MAXLOC, win);
    MPI_Win_unlock(TARGET, win);
    MPI_Barrier(world);
    MPI_Win_lock(MPI_LOCK_SHARED, check_rank, 0, win);
    double sum = 0;
    for (int i = 0; check_rank == TARGET && i < PAIRS; i++)
        sum += own[i].value * (own[i].place + 2);
    MPI_Win_unlock(check_rank, win);
    printf("rank %d pairs %.0f\n", check_rank, sum);
    free(pairs);
}

/* Everybody adds to the same places at once, by large and by small operations. */
static void try_contention(void)
{
    int one = 1, old;
    reset();
    for (int i = 0; i < INTS; i++)
        data[i] = 1;
    MPI_Win_lock_all(0, win);
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Accumulate(data, INTS, MPI_INT, TARGET, 0, INTS, MPI_INT, MPI_SUM, win);
        for (int page = 1; page < INTS / PAGE_INTS; page++) {
            MPI_Fetch_and_op(&one, &old, MPI_INT, TARGET, page * PAGE_INTS - 1, MPI_SUM, win);
            MPI_Accumulate(data, 2, MPI_INT, TARGET, page * PAGE_INTS - 1, 2, MPI_INT, MPI_SUM, win);
        }
        MPI_Win_flush(TARGET, win);
    }
    MPI_Win_unlock_all(win);
    report("contention");
}

/* Each origin its own part, which holds whole pages or lies in several. */
static void try_put_and_get(void)
{
    int part = INTS / check_size, first = check_rank * part;
    reset();
    MPI_Win_lock_all(0, win);
    MPI_Put(data, part, MPI_INT, TARGET, first, part, MPI_INT, win);
    MPI_Win_flush(TARGET, win);
    MPI_Accumulate(data, part, MPI_INT, TARGET, first, part, MPI_INT, MPI_SUM, win);
    MPI_Win_flush(TARGET, win);
    for (int i = 0; i < part; i += 64)
        MPI_Get(fetched + i, part - i < 64 ? part - i : 64, MPI_INT, TARGET, first + i,
                part - i < 64 ? part - i : 64, MPI_INT, win);
    MPI_Win_unlock_all(win);
    report("put and get");
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    check_begin();
    MPI_Comm_dup(MPI_COMM_WORLD, &world);
    MPI_Win_allocate(check_rank == TARGET ? INTS * sizeof(int) : 0, sizeof(int), MPI_INFO_NULL, world, &base,
                     &win);
    int shapes = argc > 1 && strcmp(argv[1], "blocks") == 0 ? STRIDED : SHAPES;
    for (int at_target = 0; at_target < shapes; at_target++)
        for (int at_origin = 0; at_origin < shapes; at_origin++)
            try_shape((enum shape)at_target, (enum shape)at_origin);
    try_requests();
    try_pairs();
    try_contention();
    try_put_and_get();
    MPI_Win_free(&win);
    MPI_Comm_free(&world);
    MPI_Finalize();
    return 0;
}
