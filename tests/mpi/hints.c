/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: windows with the hints that promise something (accumulate_ops, no_locks, same_size,
 * same_disp_unit) and epochs with every assertion that can be true of them: of fences, of post and start, of
 * locks. Every promise is kept, so that the same must come out as without them. `create`: the windows are
 * made over memory of MPI_Alloc_mem. */
#include "check.h"

enum { COUNT = 32, ROUNDS = 4 };

static bool is_created;
static int *base, values[COUNT], fetched[COUNT];
static MPI_Win win;

static void make(const char *no_locks)
{
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "accumulate_ops", "same_op");
    MPI_Info_set(info, "accumulate_ordering", "none");
    MPI_Info_set(info, "no_locks", no_locks);
    MPI_Info_set(info, "same_size", "true");
    MPI_Info_set(info, "same_disp_unit", "true");
    if (is_created) {
        MPI_Alloc_mem(COUNT * sizeof *base, MPI_INFO_NULL, &base);
        MPI_Win_create(base, COUNT * sizeof *base, sizeof *base, info, MPI_COMM_WORLD, &win);
    } else {
        MPI_Win_allocate(COUNT * sizeof *base, sizeof *base, info, MPI_COMM_WORLD, &base, &win);
    }
    MPI_Info_free(&info);
}

static void unmake(void)
{
    MPI_Win_free(&win);
    if (is_created)
        MPI_Free_mem(base);
}

/* When nobody else may use the window. */
static void fill_own(int round)
{
    for (int i = 0; i < COUNT; i++)
        base[i] = check_rank * 1000 + round * 100 + i;
}

/* A quarter of the window is put, one is summed into, one is read, one is both. */
static void operate(int target, int round)
{
    enum { PART = COUNT / 4 };
    for (int i = 0; i < COUNT; i++)
        values[i] = check_rank * 77 + round + i;
    MPI_Put(values, PART, MPI_INT, target, 0, PART, MPI_INT, win);
    MPI_Accumulate(values + PART, PART, MPI_INT, target, PART, PART, MPI_INT, MPI_SUM, win);
    MPI_Get(fetched, PART, MPI_INT, target, 2 * PART, PART, MPI_INT, win);
    MPI_Get_accumulate(values, PART, MPI_INT, fetched + PART, PART, MPI_INT, target, 3 * PART, PART, MPI_INT,
                       MPI_SUM, win);
}

static void report(const char *what, int round)
{
    char name[64];
    snprintf(name, sizeof name, "%s-%d", what, round);
    check_report(name, check_digest(base, COUNT * sizeof *base) ^ 31 * check_digest(fetched, sizeof fetched));
}

/* The even processes are targets in even rounds, the odd ones in the others; the rest promise NOPUT for it.
 */
static void try_fences(void)
{
    int partner = check_rank ^ 1;
    make("true");
    for (int round = 0; round < ROUNDS; round++) {
        bool is_origin = (check_rank + round) % 2, has_partner = partner < check_size;
        fill_own(round);
        memset(fetched, 0, sizeof fetched);
        MPI_Win_fence(MPI_MODE_NOPRECEDE | (is_origin || !has_partner ? MPI_MODE_NOPUT : 0), win);
        if (is_origin && has_partner)
            operate(partner, round);
        /* What began with the one before ends here, and what ends with the next begins here. */
        MPI_Win_fence(MPI_MODE_NOSTORE | (is_origin && has_partner ? 0 : MPI_MODE_NOPUT), win);
        if (!is_origin && has_partner)
            operate(partner, round);
        MPI_Win_fence(MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOSUCCEED, win);
        report("fence", round);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    unmake();
}

/* Each process is the target of its left neighbour. With `is_checked` the origin hears of the post first; on
 * Open MPI it says nothing of it, since plain 5.0 hangs in such epochs. */
static void try_posts(bool is_checked)
{
    MPI_Group origins = check_group_of(check_left), targets = check_group_of(check_right);
#ifdef OPEN_MPI
    int assertion = 0;
#else
    int assertion = is_checked ? MPI_MODE_NOCHECK : 0;
#endif
    make("true");
    for (int round = 0; round < ROUNDS; round++) {
        bool is_stored = round % 2 == 0, is_put = round < 2;
        if (is_stored)
            fill_own(round);
        memset(fetched, 0, sizeof fetched);
        MPI_Win_post(origins, assertion | (is_stored ? 0 : MPI_MODE_NOSTORE) | (is_put ? 0 : MPI_MODE_NOPUT),
                     win);
        if (is_checked)
            MPI_Sendrecv(NULL, 0, MPI_INT, check_left, 0, NULL, 0, MPI_INT, check_right, 0, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
        MPI_Win_start(targets, assertion, win);
        if (is_put)
            operate(check_right, round);
        else
            MPI_Get(fetched, COUNT, MPI_INT, check_right, 0, COUNT, MPI_INT, win);
        MPI_Win_complete(win);
        MPI_Win_wait(win);
        report(is_checked ? "post-nocheck" : "post", round);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Group_free(&origins);
    MPI_Group_free(&targets);
    unmake();
}

/* Nobody else locks the target meanwhile, which the barriers see to. */
static void try_locks(void)
{
    make("false");
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, check_rank, MPI_MODE_NOCHECK, win);
        fill_own(round);
        MPI_Win_unlock(check_rank, win);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_lock(round % 2 ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, check_right, MPI_MODE_NOCHECK, win);
        operate(check_right, round);
        MPI_Win_unlock(check_right, win);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_lock(MPI_LOCK_SHARED, check_rank, MPI_MODE_NOCHECK, win);
        report("lock-nocheck", round);
        MPI_Win_unlock(check_rank, win);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    unmake();
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    check_begin();
    is_created = argc > 1 && strcmp(argv[1], "create") == 0;
    try_fences();
    try_posts(false);
    try_posts(true);
    try_locks();
    MPI_Finalize();
    return 0;
}
