/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: large one-sided operations and computation before what completes them, in every way of
 * synchronisation: what is under way at their origin, it or its progress thread moves. Nothing is
 * pending any more when they are complete; with ghosts something is before. */
#include "check.h"
#include "headway.h"

enum { COUNT = LARGE_INTS, ROUNDS = 12 };

static MPI_Win win;
static int *memory, *sent, *got, *result;
static uint64_t most_pending;

/* Every operation there is, on others' memory: a Put, an accumulate on top of it, a Get of the next part. */
static void operate(int target, unsigned seed)
{
    check_fill(sent, COUNT, seed);
    memset(got, 0, COUNT * sizeof *got);
    MPI_Put(sent, COUNT, MPI_INT, target, 0, COUNT, MPI_INT, win);
    MPI_Get(got, COUNT, MPI_INT, target, COUNT, COUNT, MPI_INT, win);
    MPI_Accumulate(sent, COUNT, MPI_INT, target, 2 * COUNT, COUNT, MPI_INT, MPI_REPLACE, win);
    MPI_Get_accumulate(sent, COUNT, MPI_INT, result, COUNT, MPI_INT, target, 3 * COUNT, COUNT, MPI_INT,
                       MPI_SUM, win);
    struct headway_state state;
    headway_query(&state);
    if (state.pending > most_pending)
        most_pending = state.pending;
    check_compute(COMPUTE_US);
}

static void check_idle(void)
{
    struct headway_state state;
    headway_query(&state);
    CHECK(state.pending == 0);
}

static void check_got(int target) { CHECK(check_is_filled(got, COUNT, (unsigned)target + 100)); }

/* Complete at the origin alone, or at the target too; then the epoch ends. */
static void passive(int round, int target)
{
    bool is_all = round % 2;
    if (is_all)
        MPI_Win_lock_all(0, win);
    else
        MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win);
    operate(target, (unsigned)round);
    switch (round % 6) {
    case 0:
        MPI_Win_flush(target, win);
        break;
    case 1:
        MPI_Win_flush_all(win);
        break;
    case 2:
        MPI_Win_flush_local(target, win);
        break;
    case 3:
        MPI_Win_flush_local_all(win);
        break;
    }
    if (round % 6 < 4) {
        check_idle();
        check_got(target);
    }
    if (is_all)
        MPI_Win_unlock_all(win);
    else
        MPI_Win_unlock(target, win);
    check_idle();
    check_got(target);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void fenced(int round, int target)
{
    MPI_Win_fence(0, win);
    operate(target, (unsigned)round);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    check_idle();
    check_got(target);
}

static void started(int round, int target, int origin)
{
    MPI_Group to = check_group_of(target), from = check_group_of(origin);
    MPI_Win_post(from, 0, win);
    MPI_Win_start(to, 0, win);
    operate(target, (unsigned)round);
    MPI_Win_complete(win);
    check_idle();
    check_got(target);
    MPI_Win_wait(win);
    MPI_Group_free(&to);
    MPI_Group_free(&from);
}

static void report(const char *what)
{
    MPI_Win_lock(MPI_LOCK_SHARED, check_rank, 0, win);
    check_report(what, check_digest(memory, 4 * COUNT * sizeof *memory));
    MPI_Win_unlock(check_rank, win);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    check_begin();
    sent = check_ints(COUNT);
    got = check_ints(COUNT);
    result = check_ints(COUNT);
    MPI_Win_allocate(4 * COUNT * sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory,
                     &win);
    memset(memory, 0, 4 * COUNT * sizeof *memory);
    check_fill(memory + COUNT, COUNT, (unsigned)check_rank + 100);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int round = 0; round < ROUNDS; round++) {
        passive(round, check_right);
        report("passive");
    }
    for (int round = 0; round < 2; round++) {
        fenced(round, check_right);
        report("fence");
        started(round, check_right, check_left);
        report("started");
    }
    MPI_Win_free(&win);
    check_idle();
    CHECK(getenv("HEADWAY_GHOSTS") == NULL || most_pending > 0);
    MPI_Finalize();
    return 0;
}
