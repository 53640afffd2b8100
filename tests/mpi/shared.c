/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: windows of MPI_Win_allocate_shared over the processes of a node: parts of odd lengths lie one
 * behind the other, each process finds everybody's, what one stores another gets and loads, stores of one
 * process and accumulates of others under exclusive locks lose nothing, a lock of all keeps out an exclusive
 * one, some or all parts are empty and have no place where parts need not touch, and windows of parts of the
 * world.
 */
#include "check.h"

#include <unistd.h>

enum { ROUNDS = 40, PLACES = 8 };

static MPI_Comm node;
static int node_rank, node_size;

/* Of rank `rank`: no multiple of anything, none for one rank of three. */
static MPI_Aint bytes_of(int rank)
{
    return rank % 3 == 1 ? 0 : (MPI_Aint)(PLACES * sizeof(int)) * (rank + 1);
}

static char *find(MPI_Win win, int rank, MPI_Aint *bytes, int *unit)
{
    char *found = NULL;
    CHECK(MPI_Win_shared_query(win, rank, bytes, unit, &found) == MPI_SUCCESS);
    return found;
}

static void try_places(MPI_Win win, char *own)
{
    MPI_Aint bytes, *size, total = 0;
    int unit, *shown_unit, *flavor, flag;
    char *first = find(win, MPI_PROC_NULL, &bytes, &unit), *shown;
    CHECK(bytes == bytes_of(0) && unit == 1);
    for (int i = 0; i < node_size; i++) {
        char *part = find(win, i, &bytes, &unit);
        CHECK(bytes == bytes_of(i) && unit == 1 + i % 2 * 3);
        CHECK(bytes == 0 || part == first + total);
        CHECK(i != node_rank || bytes == 0 || part == own);
        total += bytes;
    }
    MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &flavor, &flag);
    CHECK(flag && *flavor == MPI_WIN_FLAVOR_SHARED);
    MPI_Win_get_attr(win, MPI_WIN_SIZE, &size, &flag);
    CHECK(flag && *size == bytes_of(node_rank));
    MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &shown_unit, &flag);
    CHECK(flag && *shown_unit == 1 + node_rank % 2 * 3);
    MPI_Win_get_attr(win, MPI_WIN_BASE, &shown, &flag);
    CHECK(flag && (*size == 0 || shown == own));
}

/* Everybody stores into everybody's memory, then all get it. */
static void try_stores(MPI_Win win)
{
    int unit, got;
    MPI_Aint bytes;
    MPI_Win_fence(0, win);
    for (int i = 0; i < node_size; i++)
        if (bytes_of(i) > node_rank * (MPI_Aint)sizeof(int))
            ((int *)find(win, i, &bytes, &unit))[node_rank] = 100 * i + node_rank;
    MPI_Win_fence(0, win);
    for (int i = 0; i < node_size; i++) {
        for (int j = 0; j < node_size && bytes_of(i) > 0; j++) {
            MPI_Win_lock(MPI_LOCK_SHARED, i, 0, win);
            MPI_Get(&got, 1, MPI_INT, i, j * (MPI_Aint)sizeof(int) / (1 + i % 2 * 3), 1, MPI_INT, win);
            MPI_Win_unlock(i, win);
            CHECK(got == 100 * i + j);
        }
    }
    MPI_Barrier(node);
    check_report("stores", 1);
}

/* Rank 0's first places, by loads and stores under a lock, by accumulates, by both in turns. */
static void try_counters(MPI_Win win)
{
    MPI_Aint bytes;
    int unit, one = 1, fetched;
    int *places = (int *)find(win, 0, &bytes, &unit);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    for (int i = 0; i < PLACES && node_rank == 0; i++)
        places[i] = 0;
    MPI_Win_unlock(0, win);
    MPI_Barrier(node);
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
        if ((i + node_rank) % 2)
            places[0]++;
        else
            MPI_Accumulate(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win);
        MPI_Win_unlock(0, win);
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
        MPI_Fetch_and_op(&one, &fetched, MPI_INT, 0, sizeof(int), MPI_SUM, win);
        MPI_Win_flush(0, win);
        CHECK(fetched >= i && fetched < node_size * ROUNDS);
        MPI_Win_unlock(0, win);
    }
    MPI_Barrier(node);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    CHECK(places[0] == node_size * ROUNDS && places[1] == node_size * ROUNDS);
    MPI_Win_unlock(0, win);
    MPI_Barrier(node);
    check_report("counters", (uint64_t)node_size);
}

/* A lock of all keeps out who has one exclusively, though nobody makes an operation. */
static void try_exclusion(MPI_Win win)
{
    enum { TIMES = 10, PAUSE_US = 1000 };
    MPI_Aint bytes;
    int unit;
    volatile int *places = (volatile int *)find(win, 0, &bytes, &unit);
    for (int i = 0; i < TIMES; i++) {
        if (node_rank == 0) {
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
            places[0] = places[1] + 1;
            usleep(PAUSE_US);
            places[1]++;
            MPI_Win_unlock(0, win);
        } else {
            MPI_Win_lock_all(0, win);
            MPI_Win_sync(win);
            CHECK(places[0] == places[1]);
            MPI_Win_unlock_all(win);
        }
        usleep(PAUSE_US / 2);
    }
    MPI_Barrier(node);
    check_report("exclusion", 1);
}

#ifndef OPEN_MPI /* which ends a job that does so, plain too */

/* Told of a window that is being freed: the callback sees it as the program does. */
static int look(MPI_Win win, int keyval, void *own, void *unused)
{
    MPI_Aint bytes;
    int unit;
    (void)keyval;
    (void)unused;
    CHECK(find(win, node_rank, &bytes, &unit) == own || bytes == 0);
    CHECK(bytes == bytes_of(node_rank));
    return MPI_SUCCESS;
}

#endif

static void try_whole(void)
{
    char *own;
    MPI_Win win;
    CHECK(MPI_Win_allocate_shared(bytes_of(node_rank), 1 + node_rank % 2 * 3, MPI_INFO_NULL, node, &own,
                                  &win) == MPI_SUCCESS);
    try_places(win, own);
    try_stores(win);
    try_counters(win);
    try_exclusion(win);
#ifndef OPEN_MPI
    int keyval;
    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, look, &keyval, NULL);
    MPI_Win_set_attr(win, keyval, own);
    MPI_Win_free_keyval(&keyval);
#endif
    MPI_Win_free(&win);
}

static void try_empty(void)
{
    char *own;
    int unit;
    MPI_Aint bytes;
    MPI_Win win;
    MPI_Win_allocate_shared(0, 1, MPI_INFO_NULL, node, &own, &win);
    find(win, node_rank, &bytes, &unit);
    CHECK(bytes == 0);
    MPI_Win_fence(0, win);
    MPI_Put(&unit, 0, MPI_INT, 0, 0, 0, MPI_INT, win);
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
}

/* Without memory, in a window whose parts need not touch: there is no place to show. */
static void try_nowhere(MPI_Info info)
{
    char *own;
    int unit;
    MPI_Aint bytes;
    MPI_Win win;
    MPI_Win_allocate_shared(bytes_of(node_rank), 1, info, node, &own, &win);
    CHECK((own == NULL) == (bytes_of(node_rank) == 0));
    for (int i = 0; i < node_size; i++)
        CHECK((find(win, i, &bytes, &unit) == NULL) == (bytes_of(i) == 0));
    MPI_Win_free(&win);
}

/* Backwards, and of every second rank; parts that need not touch. */
static void try_parts(void)
{
    MPI_Comm reversed, half;
    MPI_Info info;
    MPI_Win win;
    int *own, one = 1, rank, size;
    MPI_Info_create(&info);
    MPI_Info_set(info, "alloc_shared_noncontig", "true");
    MPI_Comm_split(node, 0, -node_rank, &reversed);
    MPI_Comm_split(reversed, node_rank % 2, 0, &half);
    for (int i = 0; i < 2; i++) {
        MPI_Comm comm = i ? half : reversed;
        MPI_Comm_rank(comm, &rank);
        MPI_Comm_size(comm, &size);
        MPI_Win_allocate_shared(3 * sizeof(int), sizeof(int), info, comm, &own, &win);
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
        own[0] = own[1] = own[2] = rank;
        MPI_Win_unlock(rank, win);
        MPI_Barrier(comm);
        MPI_Win_lock_all(0, win);
        MPI_Accumulate(&one, 1, MPI_INT, (rank + 1) % size, 1, 1, MPI_INT, MPI_SUM, win);
        MPI_Put(&rank, 1, MPI_INT, (rank + 1) % size, 2, 1, MPI_INT, win);
        MPI_Win_unlock_all(win);
        MPI_Barrier(comm);
        MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
        CHECK(own[0] == rank && own[1] == rank + 1 && own[2] == (rank + size - 1) % size);
        MPI_Win_unlock(rank, win);
        MPI_Win_free(&win);
    }
    try_nowhere(info);
    MPI_Comm_free(&half);
    MPI_Comm_free(&reversed);
    MPI_Info_free(&info);
    check_report("parts", 1);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    check_begin();
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &node_rank);
    MPI_Comm_size(node, &node_size);
    try_whole();
    try_empty();
    try_parts();
    MPI_Comm_free(&node);
    MPI_Finalize();
    return 0;
}
