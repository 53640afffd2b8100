/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: what an origin completed is in the target's memory when the target is told so, through each
 * way of completing and telling, for sizes around the protocols' limits, over and over. */
#include "check.h"

enum { ROUNDS = 60, MAX_INTS = 32 * 1024 };

static int *base, *values;
static const int sizes[] = {1, 16, 500, 5000, MAX_INTS};

static void check_all(int size, int expected)
{
    for (int i = 0; i < size; i++)
        CHECK(((volatile int *)base)[i] == expected + i);
}

static void fill(int size, int first)
{
    for (int i = 0; i < size; i++)
        values[i] = first + i;
}

static void by_fence(MPI_Win win, int right, int left, int size)
{
    MPI_Win_fence(0, win);
    for (int round = 0; round < ROUNDS; round++) {
        fill(size, check_rank + round);
        MPI_Put(values, size, MPI_INT, right, 0, size, MPI_INT, win);
        MPI_Win_fence(0, win);
        check_all(size, left + round);
        MPI_Win_fence(0, win);
    }
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
}

/* flush or unlock, then a message of the program's own. */
static void by_message(MPI_Win win, int right, int left, int size, bool wants_accumulate)
{
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Request request;
        fill(size, check_rank - round);
        MPI_Irecv(NULL, 0, MPI_INT, left, 0, MPI_COMM_WORLD, &request);
        if (round % 2)
            MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win);
        else
            MPI_Win_lock_all(0, win);
        if (wants_accumulate)
            MPI_Accumulate(values, size, MPI_INT, right, 0, size, MPI_INT, MPI_REPLACE, win);
        else
            MPI_Put(values, size, MPI_INT, right, 0, size, MPI_INT, win);
        if (round % 2)
            MPI_Win_unlock(right, win);
        else
            MPI_Win_flush(right, win);
        MPI_Send(NULL, 0, MPI_INT, right, 0, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        if (round % 2) {
            MPI_Win_lock(MPI_LOCK_SHARED, check_rank, 0, win);
            check_all(size, left - round);
            MPI_Win_unlock(check_rank, win);
        } else {
            MPI_Win_sync(win);
            check_all(size, left - round);
            MPI_Win_unlock_all(win);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

static void by_pscw(MPI_Win win, int right, int left, int size)
{
    MPI_Group world, exposed, accessed;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &left, &exposed);
    MPI_Group_incl(world, 1, &right, &accessed);
    for (int round = 0; round < ROUNDS; round++) {
        fill(size, check_rank + 3 * round);
        MPI_Win_post(exposed, 0, win);
        MPI_Win_start(accessed, 0, win);
        MPI_Put(values, size, MPI_INT, right, 0, size, MPI_INT, win);
        MPI_Win_complete(win);
        MPI_Win_wait(win);
        check_all(size, left + 3 * round);
    }
    MPI_Group_free(&world);
    MPI_Group_free(&exposed);
    MPI_Group_free(&accessed);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    check_begin();
    int right = (check_rank + 1) % check_size, left = (check_rank + check_size - 1) % check_size;
    values = check_ints(MAX_INTS);
    MPI_Win win;
    MPI_Win_allocate(MAX_INTS * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        by_fence(win, right, left, sizes[i]);
        by_message(win, right, left, sizes[i], false);
        by_message(win, right, left, sizes[i], true);
        by_pscw(win, right, left, sizes[i]);
        check_report("completed", (uint64_t)sizes[i]);
    }
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
