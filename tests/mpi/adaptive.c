/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: `adaptive MS PHASE...`: phases in which processes communicate all the time (`comm`), or are
 * mostly outside MPI (`comp`), MS milliseconds each, on one window. Each process puts numbers to its right
 * neighbour, adds to a counter there, and gets its own numbers back: whichever way these go, the answer is
 * the same. With `flush` in place of the first phase rounds end with MPI_Win_flush and no others', else with
 * MPI_Win_fence. */
#include "check.h"

#include <time.h>

enum { NUMBERS = 8, ROUNDS = 4 };

static MPI_Win win;
static long *base, rounds;
static int wants_flush;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

static void complete(void)
{
    if (wants_flush)
        MPI_Win_flush(check_right, win);
    else
        MPI_Win_fence(0, win);
}

static void make_round(int computes)
{
    long numbers[NUMBERS], back[NUMBERS] = {0}, one = 1;
    struct timespec away = {.tv_nsec = 15000000};
    for (int i = 0; i < NUMBERS; i++)
        numbers[i] = rounds * 100 + check_rank * NUMBERS + i;
    if (computes)
        nanosleep(&away, NULL);
    for (int i = 0; i < NUMBERS; i++)
        MPI_Put(&numbers[i], 1, MPI_LONG, check_right, 1 + i, 1, MPI_LONG, win);
    MPI_Accumulate(&one, 1, MPI_LONG, check_right, 0, 1, MPI_LONG, MPI_SUM, win);
    complete();
    MPI_Get(back, NUMBERS, MPI_LONG, check_right, 1, NUMBERS, MPI_LONG, win);
    complete();
    CHECK(memcmp(back, numbers, sizeof back) == 0);
    rounds++;
}

/* All make as many rounds. */
static void phase(const char *name, double ms)
{
    int computes = strcmp(name, "comp") == 0, goes_on = 1;
    for (double end = now() + ms; goes_on;) {
        for (int i = 0; i < ROUNDS; i++)
            make_round(computes);
        goes_on = now() < end;
        MPI_Bcast(&goes_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    check_begin();
    double ms = argc > 1 ? atof(argv[1]) : 100;
    int first = argc > 2 && strcmp(argv[2], "flush") == 0 ? 3 : 2;
    wants_flush = first == 3;
    MPI_Win_allocate((NUMBERS + 1) * sizeof *base, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    memset(base, 0, (NUMBERS + 1) * sizeof *base);
    MPI_Barrier(MPI_COMM_WORLD);
    if (wants_flush)
        MPI_Win_lock_all(0, win);
    else
        MPI_Win_fence(0, win);
    for (int i = first; i < argc; i++)
        phase(argv[i], ms);
    MPI_Barrier(MPI_COMM_WORLD);
    if (wants_flush)
        MPI_Win_unlock_all(win);
    else
        MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    CHECK(base[0] == rounds);
    MPI_Win_free(&win);
    check_report("as expected", 1);
    MPI_Finalize();
    return 0;
}
