/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: windows of MPI_Win_create_dynamic, memory that ghosts can reach and memory that they cannot in
 * one window: every operation in every kind of epoch, datatypes of absolute addresses that reach into both,
 * counters with many origins, memory attached and detached in between, several windows, what the window tells
 * of itself. Ghosts must change nothing. */
#include "check.h"

#include <limits.h>

enum { COUNT = 64, KINDS = 3, ROUNDS = 40 };

/* By kind: what MPI_Alloc_mem gave, what malloc gave, static. */
static long *memory[KINDS];
static MPI_Aint (*addresses)[KINDS]; /* by rank */
static long of_program[COUNT];

static void clear(void)
{
    for (int kind = 0; kind < KINDS; kind++)
        memset(memory[kind], 0, COUNT * sizeof(long));
}

static MPI_Win make(void)
{
    MPI_Win win;
    CHECK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win) == MPI_SUCCESS);
    for (int kind = 0; kind < KINDS; kind++)
        CHECK(MPI_Win_attach(win, memory[kind], COUNT * sizeof(long)) == MPI_SUCCESS);
    clear();
    MPI_Barrier(MPI_COMM_WORLD);
    return win;
}

static void unmake(MPI_Win win)
{
    MPI_Barrier(MPI_COMM_WORLD);
    for (int kind = 0; kind < KINDS; kind++)
        CHECK(MPI_Win_detach(win, memory[kind]) == MPI_SUCCESS);
    MPI_Win_free(&win);
}

static void take_memory(void)
{
    MPI_Aint own[KINDS];
    CHECK(MPI_Alloc_mem(COUNT * sizeof(long), MPI_INFO_NULL, &memory[0]) == MPI_SUCCESS);
    memory[1] = malloc(COUNT * sizeof(long));
    memory[2] = of_program;
    for (int kind = 0; kind < KINDS; kind++)
        MPI_Get_address(memory[kind], &own[kind]);
    addresses = calloc((size_t)check_size, sizeof *addresses);
    MPI_Allgather(own, KINDS, MPI_AINT, addresses, KINDS, MPI_AINT, MPI_COMM_WORLD);
}

/* The place of an element at a target. */
static MPI_Aint at(int target, int kind, int index)
{
    return MPI_Aint_add(addresses[target][kind], index * (MPI_Aint)sizeof(long));
}

static void report(const char *what)
{
    for (int kind = 0; kind < KINDS; kind++) {
        char name[64];
        snprintf(name, sizeof name, "%s-%d", what, kind);
        check_report(name, check_digest(memory[kind], COUNT * sizeof(long)));
    }
}

/* ---- epochs ---- */

enum epoch { LOCK_ALL, SHARED, EXCLUSIVE, FENCE, PSCW, EPOCHS };
static const char *const epoch_names[EPOCHS] = {"lock-all", "shared", "exclusive", "fence", "pscw"};

static void begin(MPI_Win win, enum epoch epoch)
{
    MPI_Group origins = check_group_of(check_left), targets = check_group_of(check_right);
    if (epoch == LOCK_ALL)
        MPI_Win_lock_all(0, win);
    else if (epoch == SHARED || epoch == EXCLUSIVE)
        MPI_Win_lock(epoch == SHARED ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, check_right, 0, win);
    else if (epoch == FENCE)
        MPI_Win_fence(0, win);
    else {
        MPI_Win_post(origins, 0, win);
        MPI_Win_start(targets, 0, win);
    }
    MPI_Group_free(&origins);
    MPI_Group_free(&targets);
}

/* Everybody's operations are at their targets afterwards. */
static void end(MPI_Win win, enum epoch epoch)
{
    if (epoch == LOCK_ALL)
        MPI_Win_unlock_all(win);
    else if (epoch == SHARED || epoch == EXCLUSIVE)
        MPI_Win_unlock(check_right, win);
    else if (epoch == FENCE)
        MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    else {
        MPI_Win_complete(win);
        MPI_Win_wait(win);
    }
    if (epoch <= EXCLUSIVE) {
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_lock(MPI_LOCK_SHARED, check_rank, 0, win); /* what came meets this process's loads */
        MPI_Win_unlock(check_rank, win);
    }
}

/* Each on elements of its own, in memory of that kind on the right. */
static void operate(MPI_Win win, int kind, long *got)
{
    static long all[KINDS][8], ones[2] = {1, 2};
    long *values = all[kind]; /* until the epoch's end */
    for (int i = 0; i < 8; i++)
        values[i] = 100 * check_rank + 10 * kind + i;
    MPI_Put(values, 3, MPI_LONG, check_right, at(check_right, kind, 0), 3, MPI_LONG, win);
    MPI_Accumulate(values + 3, 2, MPI_LONG, check_right, at(check_right, kind, 4), 2, MPI_LONG, MPI_SUM, win);
    MPI_Accumulate(values + 5, 1, MPI_LONG, check_right, at(check_right, kind, 7), 1, MPI_LONG, MPI_REPLACE,
                   win);
    MPI_Get(&got[0], 1, MPI_LONG, check_right, at(check_right, kind, 40), 1, MPI_LONG, win);
    MPI_Get_accumulate(ones, 2, MPI_LONG, &got[1], 2, MPI_LONG, check_right, at(check_right, kind, 41), 2,
                       MPI_LONG, MPI_PROD, win);
    MPI_Fetch_and_op(&ones[1], &got[3], MPI_LONG, check_right, at(check_right, kind, 43), MPI_SUM, win);
    MPI_Compare_and_swap(&values[6], &ones[0], &got[4], MPI_LONG, check_right, at(check_right, kind, 44),
                         win);
}

static void try_epochs(void)
{
    MPI_Win win = make();
    for (enum epoch epoch = 0; epoch < EPOCHS; epoch++) {
        clear();
        for (int kind = 0; kind < KINDS; kind++)
            for (int i = 40; i < 44; i++)
                memory[kind][i] = 1000 * check_rank + 7 * i + kind;
        for (int kind = 0; kind < KINDS; kind++)
            memory[kind][44] = 1;
        MPI_Win_fence(0, win);
        MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
        long got[KINDS][5];
        memset(got, 0, sizeof got);
        begin(win, epoch);
        for (int kind = 0; kind < KINDS; kind++)
            operate(win, kind, got[kind]);
        end(win, epoch);
        for (int kind = 0; kind < KINDS; kind++) {
            long base = 100 * check_left + 10 * kind, before = 1000 * check_right + kind;
            const long *own = memory[kind];
            CHECK(own[0] == base && own[1] == base + 1 && own[2] == base + 2 && own[3] == 0);
            CHECK(own[4] == base + 3 && own[5] == base + 4 && own[7] == base + 5 && own[44] == base + 6);
            CHECK(got[kind][0] == before + 280 && got[kind][1] == before + 287 &&
                  got[kind][2] == before + 294);
            CHECK(got[kind][3] == before + 301 && got[kind][4] == 1);
        }
        report(epoch_names[epoch]);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    unmake(win);
}

/* Operations with requests, and flushes that make them visible within an epoch. */
static void try_requests(void)
{
    MPI_Win win = make();
    MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
    for (int kind = 0; kind < KINDS; kind++) {
        MPI_Request requests[2];
        long value = 5 + check_rank, got = -1, sum = -1;
        MPI_Rput(&value, 1, MPI_LONG, check_right, at(check_right, kind, 9), 1, MPI_LONG, win, &requests[0]);
        MPI_Raccumulate(&value, 1, MPI_LONG, check_right, at(check_right, kind, 10), 1, MPI_LONG, MPI_SUM,
                        win, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        MPI_Win_flush(check_right, win);
        MPI_Rget(&got, 1, MPI_LONG, check_right, at(check_right, kind, 9), 1, MPI_LONG, win, &requests[0]);
        MPI_Rget_accumulate(&value, 1, MPI_LONG, &sum, 1, MPI_LONG, check_right, at(check_right, kind, 10), 1,
                            MPI_LONG, MPI_SUM, win, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        CHECK(got == value && sum == value);
        MPI_Put(&value, 1, MPI_LONG, check_right, at(check_right, kind, 11), 1, MPI_LONG, win);
        MPI_Win_flush_local(check_right, win);
        MPI_Put(&value, 1, MPI_LONG, check_rank, at(check_rank, kind, 12), 1, MPI_LONG, win);
        MPI_Win_flush_local_all(win);
        value = -1; /* the origin's again */
        MPI_Win_flush_all(win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_sync(win);
    for (int kind = 0; kind < KINDS; kind++) {
        CHECK(memory[kind][9] == 5 + check_left && memory[kind][10] == 2 * (5 + check_left));
        CHECK(memory[kind][11] == 5 + check_left && memory[kind][12] == 5 + check_rank);
    }
    MPI_Put(NULL, 0, MPI_LONG, MPI_PROC_NULL, 0, 0, MPI_LONG, win);
    MPI_Win_unlock_all(win);
    report("requests");
    unmake(win);
}

/* ---- datatypes ---- */

#ifndef OPEN_MPI

/* Elements of all kinds of memory at once, by their addresses. */
static MPI_Datatype spread_type(int target, int index, int count)
{
    int lengths[KINDS];
    MPI_Aint places[KINDS];
    MPI_Datatype type;
    for (int kind = 0; kind < KINDS; kind++) {
        lengths[kind] = count + kind;
        places[kind] = at(target, kind, index);
    }
    MPI_Type_create_hindexed(KINDS, lengths, places, MPI_LONG, &type);
    MPI_Type_commit(&type);
    return type;
}

enum { SPREAD = 2 + 3 + 4 };

static void try_absolute(void)
{
    MPI_Win win = make();
    MPI_Datatype type = spread_type(check_right, 20, 2);
    long values[SPREAD], more[SPREAD], got[SPREAD], sums[SPREAD], last[SPREAD];
    MPI_Request request;
    for (int i = 0; i < SPREAD; i++) {
        values[i] = 100 * check_rank + i;
        more[i] = 7 * i;
        got[i] = sums[i] = last[i] = -1;
    }
    MPI_Win_lock(MPI_LOCK_SHARED, check_right, 0, win);
    MPI_Put(values, SPREAD, MPI_LONG, check_right, (MPI_Aint)MPI_BOTTOM, 1, type, win);
    MPI_Win_flush(check_right, win);
    MPI_Accumulate(more, SPREAD, MPI_LONG, check_right, (MPI_Aint)MPI_BOTTOM, 1, type, MPI_SUM, win);
    MPI_Get_accumulate(more, SPREAD, MPI_LONG, sums, SPREAD, MPI_LONG, check_right, (MPI_Aint)MPI_BOTTOM, 1,
                       type, MPI_SUM, win);
    MPI_Win_flush(check_right, win);
    MPI_Get(got, SPREAD, MPI_LONG, check_right, (MPI_Aint)MPI_BOTTOM, 1, type, win);
    MPI_Win_flush(check_right, win);
    MPI_Raccumulate(more, SPREAD, MPI_LONG, check_right, (MPI_Aint)MPI_BOTTOM, 1, type, MPI_SUM, win,
                    &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Rget_accumulate(NULL, 0, MPI_LONG, last, SPREAD, MPI_LONG, check_right, (MPI_Aint)MPI_BOTTOM, 1, type,
                        MPI_NO_OP, win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Win_unlock(check_right, win);
    for (int i = 0; i < SPREAD; i++) {
        CHECK(sums[i] == values[i] + more[i]);
        CHECK(got[i] == values[i] + 2 * more[i]);
        CHECK(last[i] == values[i] + 3 * more[i]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, check_rank, 0, win);
    MPI_Win_unlock(check_rank, win);
    for (int kind = 0, i = 0; kind < KINDS; kind++)
        for (int j = 0; j < 2 + kind; j++, i++)
            CHECK(memory[kind][20 + j] == 100 * check_left + i + 21 * i);
    MPI_Type_free(&type);
    report("absolute");
    unmake(win);
}

/* Everybody adds to the same elements of both kinds at once, by two datatypes: none is lost. */
static void try_absolute_contended(void)
{
    MPI_Win win = make();
    long ones[SPREAD];
    for (int i = 0; i < SPREAD; i++)
        ones[i] = 1;
    MPI_Datatype type = spread_type(0, 30, 2);
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Accumulate(ones, SPREAD, MPI_LONG, 0, (MPI_Aint)MPI_BOTTOM, 1, type, MPI_SUM, win);
        for (int kind = 0; kind < KINDS; kind++)
            MPI_Accumulate(ones, 1, MPI_LONG, 0, at(0, kind, 31), 1, MPI_LONG, MPI_SUM, win);
    }
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    MPI_Win_unlock(0, win);
    for (int kind = 0; check_rank == 0 && kind < KINDS; kind++)
        CHECK(memory[kind][30] == (long)ROUNDS * check_size && memory[kind][31] == 2L * ROUNDS * check_size);
    MPI_Type_free(&type);
    report("absolute-contended");
    unmake(win);
}

#endif

/* Strides, forwards and from a high address backwards; another type on the origin's side; several of a type.
 */
static void try_strided(void)
{
    MPI_Win win = make();
    MPI_Datatype column, backwards;
    long values[6] = {1, 2, 3, 4, 5, 6}, got[3] = {0};
    MPI_Type_vector(3, 1, 4, MPI_LONG, &column);
    MPI_Type_commit(&column);
    MPI_Type_vector(3, 1, -4, MPI_LONG, &backwards);
    MPI_Type_commit(&backwards);
    MPI_Win_fence(0, win);
    for (int kind = 0; kind < KINDS; kind++) {
        MPI_Put(values, 3, MPI_LONG, check_right, at(check_right, kind, 0), 1, column, win);
        MPI_Accumulate(values, 3, MPI_LONG, check_right, at(check_right, kind, 29), 1, backwards, MPI_SUM,
                       win);
        MPI_Accumulate(values, 6, MPI_LONG, check_right, at(check_right, kind, 40), 2, column, MPI_SUM, win);
    }
    MPI_Win_fence(0, win);
    MPI_Get(got, 3, MPI_LONG, check_right, at(check_right, 0, 29), 1, backwards, win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    CHECK(got[0] == 1 && got[1] == 2 && got[2] == 3);
    for (int kind = 0; kind < KINDS; kind++)
        CHECK(memory[kind][4] == 2 && memory[kind][25] == 2 && memory[kind][49] == 4 + 0 * kind);
    MPI_Type_free(&column);
    MPI_Type_free(&backwards);
    report("strided");
    unmake(win);
}

/* ---- atomicity ---- */

/* Tickets drawn by all origins from counters in all kinds of memory of the first process: each once. */
static void try_tickets(void)
{
    MPI_Win win = make();
    long one = 1, sums[KINDS] = {0}, totals[KINDS];
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < ROUNDS; i++)
        for (int kind = 0; kind < KINDS; kind++) {
            long ticket = -1;
            MPI_Fetch_and_op(&one, &ticket, MPI_LONG, 0, at(0, kind, 1), MPI_SUM, win);
            MPI_Win_flush(0, win);
            CHECK(ticket >= 0 && ticket < (long)ROUNDS * check_size);
            sums[kind] += ticket;
            MPI_Accumulate(&one, 1, MPI_LONG, 0, at(0, kind, 2), 1, MPI_LONG, MPI_SUM, win);
        }
    MPI_Win_unlock_all(win);
    MPI_Allreduce(sums, totals, KINDS, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    long count = (long)ROUNDS * check_size;
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    MPI_Win_unlock(0, win);
    for (int kind = 0; kind < KINDS; kind++) {
        CHECK(totals[kind] == count * (count - 1) / 2);
        CHECK(check_rank != 0 || (memory[kind][1] == count && memory[kind][2] == count));
    }
    report("tickets");
    unmake(win);
}

/* Read, changed and written under an exclusive lock, in memory of two kinds. */
static void try_exclusive(void)
{
    MPI_Win win = make();
    for (int i = 0; i < ROUNDS; i++) {
        long values[2];
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
        MPI_Get(&values[0], 1, MPI_LONG, 0, at(0, 0, 3), 1, MPI_LONG, win);
        MPI_Get(&values[1], 1, MPI_LONG, 0, at(0, 1, 3), 1, MPI_LONG, win);
        MPI_Win_flush(0, win);
        values[0]++;
        values[1] += 2;
        MPI_Put(&values[0], 1, MPI_LONG, 0, at(0, 0, 3), 1, MPI_LONG, win);
        MPI_Put(&values[1], 1, MPI_LONG, 0, at(0, 1, 3), 1, MPI_LONG, win);
        MPI_Win_unlock(0, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    MPI_Win_unlock(0, win);
    long count = (long)ROUNDS * check_size;
    CHECK(check_rank != 0 || (memory[0][3] == count && memory[1][3] == 2 * count));
    report("exclusive");
    unmake(win);
}

/* ---- memory and windows that come and go ---- */

static void try_attaching(void)
{
    MPI_Win win;
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < 6; i++) {
        long *piece, value = 10 * check_rank + i, *other = malloc(sizeof *other);
        size_t count = i % 2 ? 5000000 : 50;
        MPI_Aint own[2], theirs[2];
        MPI_Alloc_mem((MPI_Aint)(count * sizeof(long)), MPI_INFO_NULL, &piece);
        piece[count - 1] = *other = -1;
        MPI_Win_attach(win, piece, (MPI_Aint)(count * sizeof(long)));
        MPI_Win_attach(win, other, sizeof *other);
        MPI_Get_address(&piece[count - 1], &own[0]);
        MPI_Get_address(other, &own[1]);
        MPI_Sendrecv(own, 2, MPI_AINT, check_left, 0, theirs, 2, MPI_AINT, check_right, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        MPI_Put(&value, 1, MPI_LONG, check_right, theirs[0], 1, MPI_LONG, win);
        MPI_Put(&value, 1, MPI_LONG, check_right, theirs[1], 1, MPI_LONG, win);
        MPI_Win_flush(check_right, win);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_sync(win);
        CHECK(piece[count - 1] == 10 * check_left + i && *other == 10 * check_left + i);
        MPI_Win_detach(win, piece);
        MPI_Win_detach(win, other);
        MPI_Free_mem(piece);
        free(other);
    }
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

/* The same memory in two windows, and in one of MPI_Win_create besides, one after the other. */
static void try_several(void)
{
    MPI_Win first = make(), second = make(), created;
    MPI_Win_create(memory[0], COUNT * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &created);
    MPI_Win wins[3] = {first, second, created};
    long one = 1;
    for (int i = 0; i < 9; i++) {
        MPI_Win win = wins[i % 3];
        MPI_Win_lock_all(0, win);
        MPI_Accumulate(&one, 1, MPI_LONG, check_right, i % 3 == 2 ? 8 : at(check_right, 0, 8), 1, MPI_LONG,
                       MPI_SUM, win);
        if (i % 3 != 2)
            MPI_Accumulate(&one, 1, MPI_LONG, check_right, at(check_right, 1, 8), 1, MPI_LONG, MPI_SUM, win);
        MPI_Win_unlock_all(win);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Win_lock(MPI_LOCK_SHARED, check_rank, 0, first);
    MPI_Win_unlock(check_rank, first);
    CHECK(memory[0][8] == 9 && memory[1][8] == 6);
    MPI_Win_free(&created);
    unmake(first);
    unmake(second);
}

/* Over some of the processes, in another order; one process alone has nobody to ask. */
static void try_part(void)
{
    MPI_Comm part, alone;
    int size, rank;
    MPI_Comm_split(MPI_COMM_WORLD, check_rank == 0 ? 0 : 1, -check_rank, &part);
    MPI_Comm_split(MPI_COMM_WORLD, check_rank, 0, &alone);
    MPI_Comm_size(part, &size);
    MPI_Comm_rank(part, &rank);
    clear();
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win win, single;
    MPI_Win_create_dynamic(MPI_INFO_NULL, part, &win);
    MPI_Win_create_dynamic(MPI_INFO_NULL, alone, &single);
    MPI_Win_attach(win, memory[0], COUNT * sizeof(long));
    MPI_Win_attach(single, memory[1], COUNT * sizeof(long));
    MPI_Win_fence(0, win);
    int target = (rank + 1) % size;
    int in_world = check_rank == 0 ? 0 : check_size - 1 - target;
    long value = check_rank + 1;
    MPI_Put(&value, 1, MPI_LONG, target, at(in_world, 0, 0), 1, MPI_LONG, win);
    MPI_Win_fence(0, win);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, single);
    MPI_Put(&value, 1, MPI_LONG, 0, at(check_rank, 1, 0), 1, MPI_LONG, single);
    MPI_Win_unlock(0, single);
    CHECK(memory[0][0] != 0 && memory[1][0] == value);
    report("part");
    MPI_Win_free(&win);
    MPI_Win_free(&single);
    MPI_Comm_free(&part);
    MPI_Comm_free(&alone);
}

/* ---- what a window tells ---- */

static int deleted_count, raised_count;

static int detach(MPI_Win win, int keyval, void *attached, void *unused)
{
    int *flavor, flag;
    (void)keyval;
    (void)unused;
    deleted_count++;
    MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &flavor, &flag);
    CHECK(flag && *flavor == MPI_WIN_FLAVOR_DYNAMIC);
#ifdef OPEN_MPI /* has nothing attached any more, plain */
    return attached ? MPI_SUCCESS : MPI_ERR_OTHER;
#else
    return MPI_Win_detach(win, attached);
#endif
}

static MPI_Win telling;

static void raised(MPI_Win *win, int *code, ...)
{
    CHECK(*win == telling && *code != MPI_SUCCESS);
    raised_count++;
}

/* MPICH may be built without. */
static bool checks_arguments(void)
{
    int size;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    bool is_checked = MPI_Type_size(MPI_DATATYPE_NULL, &size) != MPI_SUCCESS;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    return is_checked;
}

static void try_telling(void)
{
    MPI_Win win;
    MPI_Errhandler handler;
    MPI_Info info;
    MPI_Group group;
    void *base = &win;
    MPI_Aint *size;
    int *value, flag, keyval, length, equal;
    char name[MPI_MAX_OBJECT_NAME];
    MPI_Info_create(&info);
    MPI_Info_set(info, "no_locks", "false");
    MPI_Win_create_dynamic(info, MPI_COMM_WORLD, &win);
    MPI_Info_free(&info);
    MPI_Win_attach(win, memory[0], COUNT * sizeof(long));
    MPI_Win_get_attr(win, MPI_WIN_BASE, &base, &flag);
    CHECK(flag && base == MPI_BOTTOM);
    MPI_Win_get_attr(win, MPI_WIN_SIZE, &size, &flag);
#ifndef I_MPI_VERSION /* whose dynamic windows have another size */
    CHECK(flag && *size == 0);
#endif
    MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &value, &flag);
    CHECK(flag && *value == 1);
    MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &value, &flag);
    CHECK(flag && *value == MPI_WIN_FLAVOR_DYNAMIC);
    MPI_Win_get_attr(win, MPI_WIN_MODEL, &value, &flag);
    CHECK(flag && *value == MPI_WIN_UNIFIED);
    MPI_Win_set_name(win, "mine");
    MPI_Win_get_name(win, name, &length);
    CHECK(strcmp(name, "mine") == 0);
    MPI_Win_get_group(win, &group);
    MPI_Group_size(group, &equal);
    CHECK(equal == check_size);
    MPI_Group_free(&group);
    MPI_Win_get_info(win, &info);
    MPI_Info_get(info, "no_locks", (int)sizeof name - 1, name, &flag);
    CHECK(!flag || strcmp(name, "false") == 0);
    MPI_Win_set_info(win, info);
    MPI_Info_free(&info);
    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, detach, &keyval, NULL);
    MPI_Win_set_attr(win, keyval, memory[0]);
    MPI_Win_create_errhandler(raised, &handler);
    MPI_Win_set_errhandler(win, handler);
    telling = win;
    MPI_Win_call_errhandler(win, MPI_ERR_OTHER);
    CHECK(raised_count == 1);
    if (checks_arguments()) {
        long one = 1;
        MPI_Win_lock_all(0, win);
        for (int kind = 0; kind < KINDS; kind++) /* on each path */
            MPI_Put(&one, -1, MPI_LONG, check_right, at(check_right, kind, 0), 1, MPI_LONG, win);
        MPI_Win_unlock_all(win);
        CHECK(raised_count == 1 + KINDS);
    }
    MPI_Errhandler_free(&handler);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_free(&win);
    CHECK(win == MPI_WIN_NULL && deleted_count == 1);
    MPI_Win_free_keyval(&keyval);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    check_begin();
    take_memory();
    try_epochs();
    try_requests();
#ifndef OPEN_MPI /* which finds them out of range, plain */
    try_absolute();
    try_absolute_contended();
#endif
    try_strided();
    try_tickets();
    try_exclusive();
    try_attaching();
    try_several();
    try_part();
    try_telling();
    MPI_Free_mem(memory[0]);
    free(memory[1]);
    free(addresses);
    MPI_Finalize();
    return 0;
}
