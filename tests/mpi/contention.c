/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: one-sided operations of all processes on the same places at once: counters, a lock made of
 * compare-and-swap, read-modify-write under exclusive locks, accumulates of different origins, self-targets
 * among them. Nothing may be lost. */
#include "check.h"

enum { ROUNDS = 200, PLACES = 8 };
enum { COUNTER, SPIN, GUARDED, ACCUMULATED, SHARED_FIRST };

static int64_t *base;

static void count_up(MPI_Win win)
{
    int64_t one = 1, old;
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < ROUNDS; i++) {
        int target = i % check_size;
        MPI_Fetch_and_op(&one, &old, MPI_INT64_T, target, COUNTER, MPI_SUM, win);
        MPI_Accumulate(&one, 1, MPI_INT64_T, target, ACCUMULATED, 1, MPI_INT64_T, MPI_SUM, win);
        MPI_Win_flush(target, win);
        CHECK(old >= 0 && old < (int64_t)ROUNDS * check_size);
    }
    MPI_Win_unlock_all(win);
}

/* A spin lock at rank 0 guards a place that is read and written back. */
static void spin_lock(MPI_Win win)
{
    int64_t free_mark = 0, own_mark = check_rank + 1, found, value;
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < ROUNDS / 10; i++) {
        do {
            MPI_Compare_and_swap(&own_mark, &free_mark, &found, MPI_INT64_T, 0, SPIN, win);
            MPI_Win_flush(0, win);
        } while (found != 0);
        MPI_Get(&value, 1, MPI_INT64_T, 0, GUARDED, 1, MPI_INT64_T, win);
        MPI_Win_flush(0, win);
        value++;
        MPI_Put(&value, 1, MPI_INT64_T, 0, GUARDED, 1, MPI_INT64_T, win);
        MPI_Win_flush(0, win);
        MPI_Accumulate(&free_mark, 1, MPI_INT64_T, 0, SPIN, 1, MPI_INT64_T, MPI_REPLACE, win);
        MPI_Win_flush(0, win);
    }
    MPI_Win_unlock_all(win);
}

/* Read and written back under an exclusive lock, on every target in turn; by loads and stores on one's own.
 */
static void exclusive(MPI_Win win)
{
    int64_t value;
    for (int i = 0; i < ROUNDS / 4; i++) {
        int target = (check_rank + i) % check_size;
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win);
        if (target == check_rank) {
            base[SHARED_FIRST]++;
        } else {
            MPI_Get(&value, 1, MPI_INT64_T, target, SHARED_FIRST, 1, MPI_INT64_T, win);
            MPI_Win_flush(target, win);
            value++;
            MPI_Put(&value, 1, MPI_INT64_T, target, SHARED_FIRST, 1, MPI_INT64_T, win);
        }
        MPI_Win_unlock(target, win);
    }
}

/* Shared and exclusive holders, several targets locked at once. */
static void mixed(MPI_Win win)
{
    int64_t one = 1;
    for (int i = 0; i < ROUNDS / 10; i++) {
        int first = i % check_size, second = (i + 1) % check_size;
        MPI_Win_lock(MPI_LOCK_SHARED, first, 0, win);
        MPI_Accumulate(&one, 1, MPI_INT64_T, first, SHARED_FIRST + 1, 1, MPI_INT64_T, MPI_SUM, win);
        MPI_Win_unlock(first, win);
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, second, 0, win);
        MPI_Accumulate(&one, 1, MPI_INT64_T, second, SHARED_FIRST + 1, 1, MPI_INT64_T, MPI_SUM, win);
        MPI_Win_unlock(second, win);
    }
}

/* A holder of a shared lock waits for another process to have had one, while a third wants it for itself.
 * Plain MPIs hang here for want of progress at the target or because they serve in order. */
static void readers_pass(MPI_Win win)
{
    if (check_size < 3)
        return;
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank == 0) {
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
        MPI_Send(NULL, 0, MPI_INT, 1, 0, MPI_COMM_WORLD);
        MPI_Recv(NULL, 0, MPI_INT, 2, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Win_unlock(0, win);
    } else if (check_rank == 1) {
        MPI_Recv(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(NULL, 0, MPI_INT, 2, 0, MPI_COMM_WORLD);
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
        MPI_Win_unlock(0, win);
    } else if (check_rank == 2) {
        MPI_Recv(NULL, 0, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        check_compute(COMPUTE_US);
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
        MPI_Win_unlock(0, win);
        MPI_Send(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    int64_t sums[PLACES];
    MPI_Init(&argc, &argv);
    check_begin();
    MPI_Win win;
    MPI_Win_allocate(PLACES * sizeof *base, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, check_rank, 0, win);
    memset(base, 0, PLACES * sizeof *base);
    MPI_Win_unlock(check_rank, win);
    MPI_Barrier(MPI_COMM_WORLD);
    count_up(win);
    spin_lock(win);
    exclusive(win);
    mixed(win);
    if (argc > 1 && strcmp(argv[1], "readers") == 0)
        readers_pass(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, check_rank, 0, win);
    MPI_Reduce(base, sums, PLACES, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Win_unlock(check_rank, win);
    if (check_rank == 0) {
        CHECK(sums[COUNTER] == (int64_t)ROUNDS * check_size);
        CHECK(sums[ACCUMULATED] == (int64_t)ROUNDS * check_size);
        CHECK(sums[SPIN] == 0 && sums[GUARDED] == (int64_t)ROUNDS / 10 * check_size);
        CHECK(sums[SHARED_FIRST] == (int64_t)ROUNDS / 4 * check_size);
        CHECK(sums[SHARED_FIRST + 1] == (int64_t)ROUNDS / 10 * 2 * check_size);
        check_report("contention", check_digest(sums, sizeof sums));
    }
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
