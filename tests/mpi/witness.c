/* SPDX-License-Identifier: BSD-3-Clause */
/* witness [ASYNC_CONFIG]: what a flush says is complete another process finds at the target, however it
 * learns of the flush: by what was put or counted near or far, by a message, by a collective call, by a look.
 * With ASYNC_CONFIG owners may have to bring it about, so who waits makes progress. */
#include "check.h"

enum { ROUNDS = 40, ROUNDS_BY_OWNERS = 8, LENGTH = 64 }; /* these wait for turns on cores that are shared */
/* Places in each process's memory. */
enum { DATA, FLAG = LENGTH, PLACES };
enum way { PUT, COUNT, OTHER_WINDOW, STORE, SEND, BARRIER, WAYS };
static const char *const names[WAYS] = {"put", "count", "other-window", "store", "send", "barrier"};

static MPI_Win win, other_win;
static long *base, *other_base;
static int writer, target, witness;
static bool makes_progress;

static long look(MPI_Win where, int rank, int place)
{
    long found = -1;
    MPI_Get(&found, 1, MPI_LONG, rank, place, 1, MPI_LONG, where);
    MPI_Win_flush(rank, where);
    return found;
}

static void tell(enum way way, long number)
{
    long old, one = 1;
    switch (way) {
    case PUT:
        MPI_Put(&number, 1, MPI_LONG, witness, FLAG, 1, MPI_LONG, win);
        MPI_Win_flush(witness, win);
        break;
    case COUNT:
        MPI_Fetch_and_op(&one, &old, MPI_LONG, witness, FLAG, MPI_SUM, win);
        MPI_Win_flush(witness, win);
        break;
    case OTHER_WINDOW:
        MPI_Put(&number, 1, MPI_LONG, witness, 0, 1, MPI_LONG, other_win);
        MPI_Win_flush(witness, other_win);
        break;
    case STORE:
        MPI_Win_sync(win);
        *(volatile long *)&base[FLAG] = number;
        MPI_Win_sync(win);
        break;
    case SEND:
        MPI_Send(&number, 1, MPI_LONG, witness, 0, MPI_COMM_WORLD);
        break;
    default:
        break;
    }
}

static void look_again(MPI_Win where)
{
    int flag;
    if (makes_progress)
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
    MPI_Win_sync(where);
}

static void await(enum way way, long number)
{
    long told;
    switch (way) {
    case PUT:
    case COUNT:
        while (*(volatile long *)&base[FLAG] != number)
            look_again(win);
        break;
    case OTHER_WINDOW:
        while (*(volatile long *)other_base != number)
            look_again(other_win);
        break;
    case STORE:
        while (look(win, writer, FLAG) != number)
            continue;
        break;
    case SEND:
        MPI_Recv(&told, 1, MPI_LONG, writer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(told == number);
        break;
    default:
        break;
    }
}

/* Some flushes one upon the other, so that each but the last is followed by what may overtake it least. */
static void write_all(long number)
{
    for (int i = 0; i < LENGTH; i++) {
        MPI_Put(&number, 1, MPI_LONG, target, DATA + i, 1, MPI_LONG, win);
        if (i % 4 == 3)
            MPI_Win_flush(target, win);
    }
}

static void verify(long number)
{
    for (int i = LENGTH - 1; i >= 0; i -= 9)
        CHECK(look(win, target, DATA + i) == number);
}

static void round_run(enum way way, long number)
{
    if (check_rank == writer) {
        write_all(number);
        tell(way, number);
    }
    if (way == BARRIER)
        MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank == witness) {
        await(way, number);
        verify(number);
    } else if (check_rank == target) {
        check_compute(500);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    check_begin();
    MPI_Info info;
    MPI_Info_create(&info);
    makes_progress = argc > 1;
    if (makes_progress)
        MPI_Info_set(info, "async_config", argv[1]);
    writer = 0;
    target = check_size - 1;
    witness = check_size > 2 ? 1 : target;
    MPI_Win_allocate(PLACES * sizeof(long), sizeof(long), info, MPI_COMM_WORLD, &base, &win);
    MPI_Win_allocate(sizeof(long), sizeof(long), info, MPI_COMM_WORLD, &other_base, &other_win);
    MPI_Info_free(&info);
    for (int way = 0; way < WAYS; way++) {
        memset(base, 0, PLACES * sizeof(long));
        *other_base = 0;
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_lock_all(0, win);
        MPI_Win_lock_all(0, other_win);
        for (long number = 1; number <= (makes_progress ? ROUNDS_BY_OWNERS : ROUNDS); number++)
            round_run((enum way)way, number);
        MPI_Win_unlock_all(other_win);
        MPI_Win_unlock_all(win);
        check_report(names[way], check_rank == target ? check_digest(base, LENGTH * sizeof(long)) : 0);
    }
    MPI_Win_free(&other_win);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
