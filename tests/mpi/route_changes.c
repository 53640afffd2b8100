/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: `route_changes PHASES [MEETING...]`, all meetings where none is named: phases of one-sided
 * operations, between which all processes meet in MPI_Win_fence, in MPI_Win_set_info with symmetric=true or
 * in barriers with nothing outstanding. Counters lose no increment and give no number twice, accumulates of
 * one origin stay in order, a Put is there after its flush, whatever the phases before did. Fences on one
 * window overlap PSCW and locks on others, and windows are freed right behind a meeting. */
#include "check.h"

enum { CALLS = 20, BARRIERS = 17, CELLS_MAX = 64 };
enum { COUNTER, ORDERED, PUT = ORDERED + CELLS_MAX, CELLS = PUT + CELLS_MAX };
enum meeting { MEET_SET_INFO, MEET_BARRIERS, MEET_FENCE, MEETINGS };
static const char *const meetings[MEETINGS] = {"set_info", "barriers", "fence"};

static int phases;

static MPI_Win make_window(long **base)
{
    MPI_Win win;
    MPI_Win_allocate(CELLS * sizeof **base, sizeof **base, MPI_INFO_NULL, MPI_COMM_WORLD, base, &win);
    memset(*base, 0, CELLS * sizeof **base);
    MPI_Barrier(MPI_COMM_WORLD);
    return win;
}

/* The sum of what was fetched. */
static long count(MPI_Win win, int target)
{
    long one = 1, fetched[CALLS], sum = 0;
    for (int i = 0; i < CALLS; i++)
        MPI_Fetch_and_op(&one, &fetched[i], MPI_LONG, target, COUNTER, MPI_SUM, win);
    MPI_Win_flush(target, win);
    for (int i = 0; i < CALLS; i++) {
        CHECK(i == 0 || fetched[i] > fetched[i - 1]);
        sum += fetched[i];
    }
    return sum;
}

/* Three accumulates in a row, after what the phase before left. */
static void keep_order(MPI_Win win, int target, long before, long value)
{
    long one = 1, unused = 0, seen = -1, last = -1;
    MPI_Aint cell = ORDERED + check_rank;
    MPI_Get_accumulate(&unused, 1, MPI_LONG, &seen, 1, MPI_LONG, target, cell, 1, MPI_LONG, MPI_NO_OP, win);
    MPI_Accumulate(&value, 1, MPI_LONG, target, cell, 1, MPI_LONG, MPI_REPLACE, win);
    MPI_Accumulate(&one, 1, MPI_LONG, target, cell, 1, MPI_LONG, MPI_SUM, win);
    MPI_Get_accumulate(&unused, 1, MPI_LONG, &last, 1, MPI_LONG, target, cell, 1, MPI_LONG, MPI_NO_OP, win);
    MPI_Win_flush(target, win);
    CHECK(seen == before);
    CHECK(last == value + 1);
}

static void put_and_get(MPI_Win win, int target, long value)
{
    long seen = -1;
    MPI_Aint cell = PUT + check_rank;
    for (int i = 0; i < CALLS; i++) {
        long next = value + i;
        MPI_Put(&next, 1, MPI_LONG, target, cell, 1, MPI_LONG, win);
        MPI_Win_flush(target, win);
        MPI_Get(&seen, 1, MPI_LONG, target, cell, 1, MPI_LONG, win);
        MPI_Win_flush(target, win);
        CHECK(seen == next);
    }
}

static void set_info(MPI_Win win)
{
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "symmetric", "true");
    MPI_Win_set_info(win, info);
    MPI_Info_free(&info);
}

/* All meet with nothing outstanding. */
static void meet(MPI_Win win, enum meeting how)
{
    if (how == MEET_FENCE) {
        MPI_Win_unlock_all(win);
        MPI_Win_fence(0, win);
        MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
        MPI_Win_lock_all(0, win);
        return;
    }
    MPI_Win_flush_all(win);
    if (how == MEET_SET_INFO)
        MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; how == MEET_BARRIERS && i < BARRIERS; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    if (how == MEET_SET_INFO)
        set_info(win);
}

static void run_phases(enum meeting how)
{
    long *base, sum = 0, all = 0, calls = (long)phases * CALLS * check_size, before = 0;
    MPI_Win win = make_window(&base);
    MPI_Win_lock_all(0, win);
    for (int phase = 0; phase < phases; phase++) {
        long value = 1000L * (phase + 1);
        for (int i = 0; i < check_size; i++) {
            int target = (check_rank + i) % check_size;
            sum += count(win, target);
            keep_order(win, target, before, value);
            put_and_get(win, target, value);
        }
        before = value + 1;
        meet(win, how);
    }
    MPI_Win_unlock_all(win);
    MPI_Allreduce(&sum, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    CHECK(all == calls * (calls - 1) / 2 * check_size); /* each number once, on each target */
    MPI_Win_lock(MPI_LOCK_SHARED, check_rank, 0, win);
    CHECK(base[COUNTER] == calls);
    MPI_Win_unlock(check_rank, win);
    MPI_Win_free(&win);
}

/* While an epoch of MPI_Win_start is open on one window, and a lock is held on another, a third changes. */
static void overlap(void)
{
    long *posted_base, *locked_base, *fenced_base, one = 1;
    MPI_Win posted = make_window(&posted_base), locked = make_window(&locked_base),
            fenced = make_window(&fenced_base);
    MPI_Group left = check_group_of(check_left), right = check_group_of(check_right);
    MPI_Win_fence(0, fenced);
    for (int phase = 0; phase < phases; phase++) {
        MPI_Win_post(left, 0, posted);
        MPI_Win_start(right, 0, posted);
        MPI_Win_lock(MPI_LOCK_SHARED, check_right, 0, locked);
        MPI_Accumulate(&one, 1, MPI_LONG, check_right, COUNTER, 1, MPI_LONG, MPI_SUM, posted);
        MPI_Accumulate(&one, 1, MPI_LONG, check_right, COUNTER, 1, MPI_LONG, MPI_SUM, locked);
        MPI_Accumulate(&one, 1, MPI_LONG, 0, COUNTER, 1, MPI_LONG, MPI_SUM, fenced);
        MPI_Win_fence(0, fenced);
        MPI_Accumulate(&one, 1, MPI_LONG, check_right, COUNTER, 1, MPI_LONG, MPI_SUM, posted);
        MPI_Accumulate(&one, 1, MPI_LONG, check_right, COUNTER, 1, MPI_LONG, MPI_SUM, locked);
        MPI_Accumulate(&one, 1, MPI_LONG, 0, COUNTER, 1, MPI_LONG, MPI_SUM, fenced);
        MPI_Win_unlock(check_right, locked);
        MPI_Win_complete(posted);
        MPI_Win_wait(posted);
        CHECK(posted_base[COUNTER] == 2L * (phase + 1));
    }
    MPI_Win_fence(MPI_MODE_NOSUCCEED, fenced);
    if (check_rank == 0)
        CHECK(fenced_base[COUNTER] == 2L * phases * check_size);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, check_rank, 0, locked);
    CHECK(locked_base[COUNTER] == 2L * phases);
    MPI_Win_unlock(check_rank, locked);
    set_info(posted);
    MPI_Group_free(&left);
    MPI_Group_free(&right);
    MPI_Win_free(&posted);
    MPI_Win_free(&fenced);
    MPI_Win_free(&locked);
}

static bool is_asked_for(int argc, char **argv, const char *name)
{
    bool is_named = argc <= 2;
    for (int i = 2; i < argc; i++)
        is_named = is_named || strcmp(argv[i], name) == 0;
    return is_named;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    check_begin();
    CHECK(check_size <= CELLS_MAX);
    phases = argc > 1 ? atoi(argv[1]) : 0;
    CHECK(phases > 0);
    for (int how = 0; how < MEETINGS; how++)
        if (is_asked_for(argc, argv, meetings[how]))
            run_phases((enum meeting)how);
    if (is_asked_for(argc, argv, "overlap"))
        overlap();
    check_report("phases", (unsigned long)phases);
    MPI_Finalize();
    return 0;
}
