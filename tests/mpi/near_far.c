/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: accumulates and atomics of all kinds, by origins on the target's node and elsewhere at once,
 * on the same places: no update is lost, each fetched value is seen once, exclusive locks exclude, an
 * origin's operations stay in order, one that looks again and again makes progress, and every predefined
 * operation on every datatype does what MPI_Reduce_local does. */
#include "check.h"

#include <wchar.h>

enum { ROUNDS = 48, REPEATS = 5, TILE = 2048, ELEMENTS = 3, SLOT_BYTES = 16 * 2 * ELEMENTS };
/* Places in a target's window, in units of 8 bytes. */
enum { COUNTER, FETCHED, SWAPPED, GUARDED, ORDERED, TILE_FIRST, SLOTS_FIRST = TILE_FIRST + 2 * TILE };

static int64_t *base;
static MPI_Win win;

static int64_t read_place(int target, int place)
{
    int64_t value, unused = 0;
    MPI_Fetch_and_op(&unused, &value, MPI_INT64_T, target, place, MPI_NO_OP, win);
    MPI_Win_flush(target, win);
    return value;
}

static void swap_up(int target)
{
    int64_t found = read_place(target, SWAPPED), expected, wanted;
    do {
        expected = found;
        wanted = expected + 1;
        MPI_Compare_and_swap(&wanted, &expected, &found, MPI_INT64_T, target, SWAPPED, win);
        MPI_Win_flush(target, win);
    } while (found != expected);
}

/* Everybody at everybody's places. What was fetched from one place is 0, 1, ... in some order. */
static void together(void)
{
    int64_t one = 1, fetched[2], sums[2] = {0}, all[2];
    double tile[TILE];
    MPI_Datatype strided;
    MPI_Request request;
    MPI_Type_vector(TILE, 1, 2, MPI_DOUBLE, &strided);
    MPI_Type_commit(&strided);
    for (int i = 0; i < TILE; i++)
        tile[i] = i + 1;
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < ROUNDS; i++) {
        int target = (check_rank + i) % check_size;
        MPI_Fetch_and_op(&one, &fetched[0], MPI_INT64_T, target, COUNTER, MPI_SUM, win);
        for (int j = 0; j < REPEATS; j++)
            MPI_Accumulate(tile, TILE, MPI_DOUBLE, target, TILE_FIRST, 1, strided, MPI_SUM, win);
        MPI_Rget_accumulate(&one, 1, MPI_INT64_T, &fetched[1], 1, MPI_INT64_T, target, FETCHED, 1,
                            MPI_INT64_T, MPI_SUM, win, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Win_flush(target, win);
        for (int j = 0; j < 2; j++)
            sums[j] += fetched[j];
        if (i % 4 == 0)
            swap_up(target);
    }
    MPI_Win_unlock_all(win);
    MPI_Allreduce(sums, all, 2, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    /* ROUNDS is a multiple of the number of processes: as many on each target. */
    for (int j = 0; j < 2; j++)
        CHECK(all[j] == (int64_t)check_size * ROUNDS * (ROUNDS - 1) / 2);
    MPI_Type_free(&strided);
}

/* Read, changed and written back under an exclusive lock, while others add under a shared one. */
static void guarded(void)
{
    int64_t one = 1, value;
    for (int i = 0; i < ROUNDS / 2; i++) {
        int target = (check_rank + i) % check_size;
        bool is_alone = (check_rank + i / check_size) % 2;
        MPI_Win_lock(is_alone ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, target, 0, win);
        if (is_alone) {
            value = read_place(target, GUARDED) + 1;
            check_compute(20);
            MPI_Accumulate(&value, 1, MPI_INT64_T, target, GUARDED, 1, MPI_INT64_T, MPI_REPLACE, win);
        } else {
            MPI_Accumulate(&one, 1, MPI_INT64_T, target, GUARDED, 1, MPI_INT64_T, MPI_SUM, win);
        }
        MPI_Win_unlock(target, win);
    }
}

/* A datatype that always goes to the ghost, then one that need not, on one place without a flush. */
static void in_order(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, check_rank, 0, win);
    for (int32_t i = 0; i < ROUNDS; i++) {
        wchar_t letter = (wchar_t)i;
        int32_t fetched = -1, unused = 0;
        MPI_Accumulate(&letter, 1, MPI_WCHAR, check_rank, ORDERED, 1, MPI_WCHAR, MPI_REPLACE, win);
        MPI_Fetch_and_op(&unused, &fetched, MPI_INT32_T, check_rank, ORDERED, MPI_NO_OP, win);
        if (i % 3 == 0)
            MPI_Win_flush(check_rank, win);
        else
            MPI_Win_flush_local(check_rank, win);
        CHECK(fetched == i);
    }
    MPI_Win_unlock(check_rank, win);
}

/* The last process answers once it has a large message, which needs progress where it was sent from. */
static void spin(bool is_get)
{
    enum { ANSWER = ORDERED, INTS = 4 * 1024 * 1024 }; /* more than sockets hold */
    int last = check_size - 1;
    int *data = check_ints(INTS);
    int64_t one = 1, seen = 0, unused = 0;
    MPI_Request request;
    base[ANSWER] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    if (check_rank == 0) {
        check_fill(data, INTS, 1);
        MPI_Isend(data, INTS, MPI_INT, last, 0, MPI_COMM_WORLD, &request);
        while (seen == 0) {
            if (is_get)
                MPI_Get(&seen, 1, MPI_INT64_T, 0, ANSWER, 1, MPI_INT64_T, win);
            else
                MPI_Fetch_and_op(&unused, &seen, MPI_INT64_T, 0, ANSWER, MPI_NO_OP, win);
            MPI_Win_flush(0, win);
        }
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else if (check_rank == last) {
        MPI_Recv(data, INTS, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(check_is_filled(data, INTS, 1));
        MPI_Accumulate(&one, 1, MPI_INT64_T, 0, ANSWER, 1, MPI_INT64_T, MPI_REPLACE, win);
    }
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    free(data);
}

enum { ADD = 1, ORDER = 2, LOGICAL = 4, BITWISE = 8 };
struct type {
    MPI_Datatype datatype;
    int bytes;
    char kind; /* i: integer, f: float, d: double, b: bool */
    unsigned operations;
};

/* Small numbers that every operation can take. */
static void fill(unsigned char *data, const struct type *type, int count, int salt)
{
    int part = type->kind == 'f' ? 4 : type->kind == 'd' ? 8 : type->bytes;
    memset(data, 0, (size_t)(count * type->bytes));
    for (int i = 0; i < count * type->bytes / part; i++) {
        int number = (salt * 7 + i * 5) % 4 + 1;
        float small = (float)number;
        double large = number;
        if (type->kind == 'f')
            memcpy(data + i * part, &small, sizeof small);
        else if (type->kind == 'd')
            memcpy(data + i * part, &large, sizeof large);
        else
            data[i * part] = (unsigned char)(type->kind == 'b' ? number % 2 : number);
    }
}

/* One operation in one of its forms; FETCHED gets what was there before, if the form tells. */
static bool act(const struct type *type, MPI_Datatype strided, MPI_Op op, int target, const void *from,
                void *fetched, int form)
{
    MPI_Aint place = SLOTS_FIRST + check_rank * (SLOT_BYTES / 8);
    MPI_Datatype own = type->datatype;
    MPI_Request request;
    int count = form % 2 ? 1 : ELEMENTS;
    MPI_Datatype there = form % 2 ? strided : own;
    if (form < 2)
        MPI_Accumulate(from, ELEMENTS, own, target, place, count, there, op, win);
    else if (form < 4)
        MPI_Raccumulate(from, ELEMENTS, own, target, place, count, there, op, win, &request);
    else if (form < 6)
        MPI_Get_accumulate(from, ELEMENTS, own, fetched, ELEMENTS, own, target, place, count, there, op, win);
    else
        MPI_Rget_accumulate(from, ELEMENTS, own, fetched, ELEMENTS, own, target, place, count, there, op, win,
                            &request);
    if (form == 2 || form == 3 || form >= 6)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Win_flush(target, win);
    return form >= 4;
}

/* All forms of one operation on a slot of the target's that nobody else uses, beside a model of it. */
static void try_operation(const struct type *type, MPI_Datatype strided, MPI_Op op, int target)
{
    enum { FORMS = 8 };
    unsigned char from[SLOT_BYTES], fetched[SLOT_BYTES], model[2][SLOT_BYTES];
    size_t bytes = (size_t)(ELEMENTS * type->bytes);
    for (int layout = 0; layout < 2; layout++) {
        fill(model[layout], type, ELEMENTS, layout);
        act(type, strided, MPI_REPLACE, target, model[layout], fetched, layout);
        for (int form = layout; form < FORMS; form += 2) {
            fill(from, type, ELEMENTS, form + check_rank);
            if (act(type, strided, op, target, from, fetched, form))
                CHECK(memcmp(fetched, model[layout], bytes) == 0);
            if (op == MPI_REPLACE)
                memcpy(model[layout], from, bytes);
            else
                MPI_Reduce_local(from, model[layout], ELEMENTS, type->datatype, op);
        }
        act(type, strided, MPI_NO_OP, target, from, fetched, 4 + layout);
        CHECK(memcmp(fetched, model[layout], bytes) == 0);
    }
}

static void try_type(const struct type *type)
{
    const struct {
        MPI_Op op;
        unsigned operation;
    } ops[] = {{MPI_SUM, ADD},      {MPI_PROD, ADD},     {MPI_MAX, ORDER},    {MPI_MIN, ORDER},
               {MPI_LAND, LOGICAL}, {MPI_LOR, LOGICAL},  {MPI_LXOR, LOGICAL}, {MPI_BAND, BITWISE},
               {MPI_BOR, BITWISE},  {MPI_BXOR, BITWISE}, {MPI_REPLACE, ~0U}};
    MPI_Datatype strided;
    MPI_Type_vector(ELEMENTS, 1, 2, type->datatype, &strided);
    MPI_Type_commit(&strided);
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++)
        for (int step = 0; step < 2 && (type->operations & ops[i].operation); step++)
            try_operation(type, strided, ops[i].op, (check_rank + step) % check_size);
    if (type->operations == 0)
        try_operation(type, strided, MPI_REPLACE, check_rank);
    MPI_Type_free(&strided);
}

static void every_type(void)
{
    enum { C_INTEGER = ADD | ORDER | LOGICAL | BITWISE, INTEGER = ADD | ORDER | BITWISE, REAL = ADD | ORDER };
    const struct type types[] = {
        {MPI_DOUBLE, 8, 'd', REAL},
        {MPI_INT, 4, 'i', C_INTEGER},
        {MPI_LONG, 8, 'i', C_INTEGER},
        {MPI_INT64_T, 8, 'i', C_INTEGER},
        {MPI_UINT64_T, 8, 'i', C_INTEGER},
        {MPI_FLOAT, 4, 'f', REAL},
        {MPI_LONG_LONG_INT, 8, 'i', C_INTEGER},
        {MPI_UNSIGNED_LONG, 8, 'i', C_INTEGER},
        {MPI_INT32_T, 4, 'i', C_INTEGER},
        {MPI_UINT32_T, 4, 'i', C_INTEGER},
        {MPI_UNSIGNED, 4, 'i', C_INTEGER},
        {MPI_UNSIGNED_LONG_LONG, 8, 'i', C_INTEGER},
        {MPI_BYTE, 1, 'i', BITWISE},
        {MPI_C_DOUBLE_COMPLEX, 16, 'd', ADD},
        {MPI_DOUBLE_PRECISION, 8, 'd', REAL},
        {MPI_INTEGER, 4, 'i', INTEGER},
        {MPI_REAL, 4, 'f', REAL},
        {MPI_DOUBLE_COMPLEX, 16, 'd', ADD},
        {MPI_COMPLEX, 8, 'f', ADD},
        {MPI_AINT, 8, 'i', INTEGER},
        {MPI_COUNT, 8, 'i', INTEGER},
        {MPI_OFFSET, 8, 'i', INTEGER},
        {MPI_C_FLOAT_COMPLEX, 8, 'f', ADD},
        {MPI_SHORT, 2, 'i', C_INTEGER},
        {MPI_UNSIGNED_SHORT, 2, 'i', C_INTEGER},
        {MPI_SIGNED_CHAR, 1, 'i', C_INTEGER},
        {MPI_UNSIGNED_CHAR, 1, 'i', C_INTEGER},
        {MPI_INT16_T, 2, 'i', C_INTEGER},
        {MPI_UINT16_T, 2, 'i', C_INTEGER},
        {MPI_INT8_T, 1, 'i', C_INTEGER},
        {MPI_UINT8_T, 1, 'i', C_INTEGER},
        {MPI_CHAR, 1, 'i', 0},
        {MPI_C_BOOL, 1, 'b', LOGICAL},
    };
    MPI_Win_lock_all(0, win);
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        try_type(&types[i]);
    MPI_Win_unlock_all(win);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    check_begin();
    CHECK(ROUNDS % check_size == 0);
    size_t bytes = (size_t)(SLOTS_FIRST * 8 + check_size * SLOT_BYTES);
    MPI_Win_allocate((MPI_Aint)bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, check_rank, 0, win);
    memset(base, 0, bytes);
    MPI_Win_unlock(check_rank, win);
    MPI_Barrier(MPI_COMM_WORLD);
    together();
    guarded();
    in_order();
    spin(false);
    spin(true);
    every_type();
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, check_rank, 0, win);
    CHECK(base[COUNTER] == ROUNDS && base[FETCHED] == ROUNDS);
    const double *tile = (const double *)(base + TILE_FIRST);
    for (int i = 0; i < TILE; i++)
        CHECK(tile[2 * i] == ROUNDS * REPEATS * (double)(i + 1) && tile[2 * i + 1] == 0);
    int64_t sums[2], mine[2] = {base[SWAPPED], base[GUARDED]};
    MPI_Win_unlock(check_rank, win);
    MPI_Allreduce(mine, sums, 2, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sums[0] == (int64_t)check_size * ROUNDS / 4);
    CHECK(sums[1] == (int64_t)check_size * ROUNDS / 2);
    check_report("near_far", check_digest(sums, sizeof sums));
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
