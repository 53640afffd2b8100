/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: one-sided communication: every operation under every synchronisation, derived datatypes on
 * either side, self and MPI_PROC_NULL, windows over parts of the world, windows never freed. Prints only what
 * the standard determines, so that ghosts must change nothing. `create`: the windows are made over memory of
 * MPI_Alloc_mem, each somewhere in the middle of it; `shared`: by MPI_Win_allocate_shared. */
#include "check.h"

#include <stddef.h>

enum { COUNT = 64, UNIT = sizeof(int) };

static int *base;
static bool is_created, is_shared;
static void *allocated; /* what `base` lies in, if windows are created */

enum sync { FENCE, PSCW, LOCK_SHARED, LOCK_EXCLUSIVE, LOCK_ALL, LOCK_ALL_NOCHECK, SYNC_COUNT };
static const char *const sync_names[] = {"fence", "pscw", "shared", "exclusive", "lock_all", "nocheck"};

/* Between begin and end the process may access `target`; its own window is changed by its left neighbour. */
static void begin(MPI_Win win, enum sync sync, int target)
{
    if (sync == FENCE) {
        MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
    } else if (sync == PSCW) {
        MPI_Group exposed = check_group_of(check_left), accessed = check_group_of(check_right);
        MPI_Win_post(exposed, 0, win);
        MPI_Win_start(accessed, 0, win);
        MPI_Group_free(&exposed);
        MPI_Group_free(&accessed);
    } else if (sync == LOCK_SHARED || sync == LOCK_EXCLUSIVE) {
        MPI_Win_lock(sync == LOCK_SHARED ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, target, 0, win);
    } else {
        MPI_Win_lock_all(sync == LOCK_ALL_NOCHECK ? MPI_MODE_NOCHECK : 0, win);
    }
}

static void end(MPI_Win win, enum sync sync, int target)
{
    if (sync == FENCE) {
        MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    } else if (sync == PSCW) {
        MPI_Win_complete(win);
        int flag = 0;
        while (!flag)
            MPI_Win_test(win, &flag);
    } else if (sync == LOCK_SHARED || sync == LOCK_EXCLUSIVE) {
        MPI_Win_unlock(target, win);
    } else {
        MPI_Win_unlock_all(win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* The program's own memory, by the rules of passive targets. */
static void set_own(MPI_Win win, int seed)
{
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, check_rank, 0, win);
    for (int i = 0; i < COUNT; i++)
        base[i] = check_rank * 1000 + seed + i;
    MPI_Win_unlock(check_rank, win);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void report_own(MPI_Win win, const char *what, enum sync sync, const int *fetched, int fetched_count)
{
    char label[64];
    MPI_Win_lock(MPI_LOCK_SHARED, check_rank, 0, win);
    uint64_t digest = check_digest(base, COUNT * sizeof *base);
    MPI_Win_unlock(check_rank, win);
    if (fetched_count)
        digest ^= check_digest(fetched, (size_t)fetched_count * sizeof *fetched) * 31;
    snprintf(label, sizeof label, "%s-%s", what, sync_names[sync]);
    check_report(label, digest);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void try_operations(MPI_Win win, enum sync sync)
{
    int values[COUNT], fetched[COUNT] = {0}, compare, one = 1;
    for (int i = 0; i < COUNT; i++)
        values[i] = check_rank * 7 + i;
    set_own(win, 1);
    begin(win, sync, check_right);
    MPI_Put(values, COUNT / 2, MPI_INT, check_right, 4, COUNT / 2, MPI_INT, win);
    MPI_Put(values, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win);
    end(win, sync, check_right);
    report_own(win, "put", sync, NULL, 0);

    begin(win, sync, check_right);
    MPI_Get(fetched, COUNT, MPI_INT, check_right, 0, COUNT, MPI_INT, win);
    end(win, sync, check_right);
    report_own(win, "get", sync, fetched, COUNT);

    begin(win, sync, check_right);
    MPI_Accumulate(values, 8, MPI_INT, check_right, 0, 8, MPI_INT, MPI_SUM, win);
    MPI_Accumulate(values, 8, MPI_INT, check_right, 8, 8, MPI_INT, MPI_BXOR, win);
    MPI_Accumulate(values, 8, MPI_INT, check_right, 16, 8, MPI_INT, MPI_MAX, win);
    MPI_Accumulate(values, 8, MPI_INT, check_right, 24, 8, MPI_INT, MPI_MIN, win);
    MPI_Accumulate(values, 8, MPI_INT, check_right, 32, 8, MPI_INT, MPI_PROD, win);
#ifndef OPEN_MPI /* its osc/rdma (4.1, 5.0) leaves the target of MPI_LAND as it is, plain too */
    MPI_Accumulate(values, 8, MPI_INT, check_right, 40, 8, MPI_INT, MPI_LAND, win);
#endif
    MPI_Accumulate(values, 8, MPI_INT, check_right, 48, 8, MPI_INT, MPI_REPLACE, win);
    MPI_Accumulate(values, 8, MPI_INT, check_right, 0, 8, MPI_INT, MPI_SUM, win);
    end(win, sync, check_right);
    report_own(win, "accumulate", sync, NULL, 0);

    begin(win, sync, check_right);
    MPI_Get_accumulate(values, 8, MPI_INT, fetched, 8, MPI_INT, check_right, 0, 8, MPI_INT, MPI_SUM, win);
    MPI_Get_accumulate(NULL, 0, MPI_INT, fetched + 8, 8, MPI_INT, check_right, 8, 8, MPI_INT, MPI_NO_OP, win);
    MPI_Fetch_and_op(&one, fetched + 16, MPI_INT, check_right, 20, MPI_SUM, win);
    end(win, sync, check_right);
    report_own(win, "get_accumulate", sync, fetched, 17);

    compare = check_right * 1000 + 1 + 60;
    begin(win, sync, check_right);
    MPI_Compare_and_swap(&one, &compare, fetched, MPI_INT, check_right, 60, win);
    MPI_Compare_and_swap(&one, &compare, fetched + 1, MPI_INT, check_right, 61, win);
    end(win, sync, check_right);
    report_own(win, "compare_and_swap", sync, fetched, 2);
}

static void try_types(MPI_Win win, enum sync sync)
{
    int values[COUNT], fetched[COUNT] = {0}, blocks[3] = {2, 1, 4}, places[3] = {1, 9, 20};
    MPI_Datatype vector, indexed, pair;
    for (int i = 0; i < COUNT; i++)
        values[i] = -check_rank - i;
    MPI_Type_vector(6, 2, 5, MPI_INT, &vector);
    MPI_Type_indexed(3, blocks, places, MPI_INT, &indexed);
    MPI_Type_create_resized(indexed, 0, 30 * sizeof(int), &pair);
    MPI_Type_commit(&vector);
    MPI_Type_commit(&pair);
    set_own(win, 2);
    begin(win, sync, check_right);
    MPI_Put(values, 12, MPI_INT, check_right, 2, 1, vector, win);
    MPI_Accumulate(values, 1, vector, check_right, 36, 12, MPI_INT, MPI_SUM, win);
    end(win, sync, check_right);
    report_own(win, "types-put", sync, NULL, 0);
    begin(win, sync, check_right);
    MPI_Get(fetched, 2, pair, check_right, 0, 14, MPI_INT, win);
    end(win, sync, check_right);
    report_own(win, "types-get", sync, fetched, COUNT);
    begin(win, sync, check_right);
    MPI_Get_accumulate(values, 14, MPI_INT, fetched, 14, MPI_INT, check_right, 0, 2, pair, MPI_SUM, win);
    end(win, sync, check_right);
    report_own(win, "types-get_accumulate", sync, fetched, 14);
    MPI_Type_free(&vector);
    MPI_Type_free(&indexed);
    MPI_Type_free(&pair);
}

static void try_requests(MPI_Win win)
{
    int values[COUNT], fetched[COUNT] = {0}, old[COUNT] = {0};
    MPI_Request requests[3];
    for (int i = 0; i < COUNT; i++)
        values[i] = 3 * check_rank + i;
    set_own(win, 3);
    MPI_Win_lock_all(0, win);
    MPI_Rput(values, 8, MPI_INT, check_right, 0, 8, MPI_INT, win, &requests[0]);
    MPI_Raccumulate(values, 8, MPI_INT, check_right, 8, 8, MPI_INT, MPI_SUM, win, &requests[1]);
    MPI_Rget_accumulate(values, 8, MPI_INT, old, 8, MPI_INT, check_right, 16, 8, MPI_INT, MPI_SUM, win,
                        &requests[2]);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    MPI_Win_flush_local(check_right, win);
    MPI_Win_flush(check_right, win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Rget(fetched, COUNT, MPI_INT, check_right, 0, COUNT, MPI_INT, win, &requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Win_flush_local_all(win);
    MPI_Win_flush_all(win);
    MPI_Win_sync(win);
    MPI_Win_unlock_all(win);
    CHECK(check_digest(old, 8 * sizeof(int)) != 0);
    MPI_Barrier(MPI_COMM_WORLD);
    report_own(win, "requests", LOCK_ALL, fetched, COUNT);
}

/* Operations on the process's own window, mixed with loads and stores under its lock. */
static void try_self(MPI_Win win)
{
    int value = 41, fetched = 0;
    set_own(win, 4);
    for (int round = 0; round < 3; round++) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, check_rank, 0, win);
        MPI_Accumulate(&value, 1, MPI_INT, check_rank, 3, 1, MPI_INT, MPI_SUM, win);
        MPI_Win_flush(check_rank, win);
        base[3] += 1;
        base[4] -= 1;
        MPI_Win_unlock(check_rank, win);
        MPI_Win_lock(MPI_LOCK_SHARED, check_rank, 0, win);
        MPI_Get(&fetched, 1, MPI_INT, check_rank, 3, 1, MPI_INT, win);
        MPI_Win_unlock(check_rank, win);
        CHECK(fetched == check_rank * 1000 + 7 + (round + 1) * 42);
    }
    report_own(win, "self", LOCK_EXCLUSIVE, &fetched, 1);
}

static void try_shown(MPI_Win win, MPI_Comm comm)
{
    void *seen_base;
    MPI_Aint *size;
    int *unit, *flavor, flag, result, length;
    char name[MPI_MAX_OBJECT_NAME];
    MPI_Group group, expected;
    MPI_Win_get_attr(win, MPI_WIN_BASE, &seen_base, &flag);
    CHECK(flag && seen_base == base);
    MPI_Win_get_attr(win, MPI_WIN_SIZE, &size, &flag);
    CHECK(flag && *size == COUNT * sizeof(int));
    MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &unit, &flag);
    CHECK(flag && *unit == UNIT);
    MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &flavor, &flag);
    CHECK(flag && *flavor == (is_created  ? MPI_WIN_FLAVOR_CREATE
                              : is_shared ? MPI_WIN_FLAVOR_SHARED
                                          : MPI_WIN_FLAVOR_ALLOCATE));
    MPI_Win_get_group(win, &group);
    MPI_Comm_group(comm, &expected);
    MPI_Group_compare(group, expected, &result);
    CHECK(result == MPI_IDENT);
    MPI_Group_free(&group);
    MPI_Group_free(&expected);
    MPI_Win_set_name(win, "mine");
    MPI_Win_get_name(win, name, &length);
    CHECK(strcmp(name, "mine") == 0);
}

static MPI_Win make(MPI_Comm comm)
{
    MPI_Win win;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "accumulate_ordering", "rar,raw,war,waw");
    MPI_Info_set(info, "same_size", "true");
    if (is_created) {
        size_t before = (size_t)check_rank * 5000 + 24;
        MPI_Alloc_mem((MPI_Aint)(before + COUNT * sizeof(int)), MPI_INFO_NULL, &allocated);
        base = (int *)((char *)allocated + before);
        CHECK(MPI_Win_create(base, COUNT * sizeof(int), UNIT, info, comm, &win) == MPI_SUCCESS);
    } else if (is_shared) {
        CHECK(MPI_Win_allocate_shared(COUNT * sizeof(int), UNIT, info, comm, &base, &win) == MPI_SUCCESS);
    } else {
        CHECK(MPI_Win_allocate(COUNT * sizeof(int), UNIT, info, comm, &base, &win) == MPI_SUCCESS);
    }
    MPI_Info_free(&info);
    return win;
}

static void end_window(MPI_Win *win)
{
    MPI_Win_free(win);
    if (is_created)
        MPI_Free_mem(allocated);
}

/* A communicator with the ranks backwards, freed while its window lives; one of every second rank. */
static void try_parts(void)
{
    MPI_Comm reversed, half;
    int value = check_rank + 1, sum = 0, rank, size;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -check_rank, &reversed);
    MPI_Win win = make(reversed);
    MPI_Comm_rank(reversed, &rank);
    MPI_Comm_free(&reversed);
    CHECK(rank == check_size - 1 - check_rank);
    memset(base, 0, COUNT * sizeof(int));
    MPI_Win_fence(0, win);
    MPI_Put(&value, 1, MPI_INT, check_size - 1 - check_right, 5, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    CHECK(base[5] == check_left + 1);
    end_window(&win);
    MPI_Comm_split(MPI_COMM_WORLD, check_rank % 2, check_rank, &half);
    MPI_Comm_size(half, &size);
    win = make(half);
    memset(base, 0, COUNT * sizeof(int));
    MPI_Win_fence(0, win);
    for (int i = 0; i < size; i++)
        MPI_Accumulate(&value, 1, MPI_INT, i, 0, 1, MPI_INT, MPI_SUM, win);
    MPI_Win_fence(0, win);
    MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, half);
    CHECK(base[0] == sum);
    end_window(&win);
    MPI_Comm_free(&half);
    check_report("parts", (uint64_t)sum);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    check_begin();
    is_created = argc > 1 && strcmp(argv[1], "create") == 0;
    is_shared = argc > 1 && strcmp(argv[1], "shared") == 0;
    MPI_Win win = make(MPI_COMM_WORLD);
    void *first = allocated;
    try_shown(win, MPI_COMM_WORLD);
    for (enum sync sync = FENCE; sync < SYNC_COUNT; sync++) {
        try_operations(win, sync);
        try_types(win, sync);
    }
    try_requests(win);
    try_self(win);
    try_parts();
    allocated = first;
    if (argc < 2 || strcmp(argv[1], "leak") != 0)
        end_window(&win);
    MPI_Finalize();
    return 0;
}
