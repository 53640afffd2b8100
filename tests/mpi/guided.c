/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: `guided CASE`: a program says where the operations on its window go (async_config), when it
 * makes the window, in MPI_Win_set_info with symmetric=true and for the next fence. Each process makes three
 * times CALLS Puts and as many accumulates on its right neighbour. CASE `right`: to the target, to the ghost,
 * to the target. `differ`, `some`, `wrong`: hints that processes do not agree about, or with other values. */
#include "check.h"

enum { CALLS = 10 };

static const char *mode;

static bool is_case(const char *name) { return strcmp(mode, name) == 0; }

static MPI_Info hints(const char *config, const char *symmetric)
{
    MPI_Info info;
    MPI_Info_create(&info);
    if (config)
        MPI_Info_set(info, "async_config", config);
    if (symmetric)
        MPI_Info_set(info, "symmetric", symmetric);
    return info;
}

static void communicate(MPI_Win win)
{
    static long number, one = 1;
    for (int i = 0; i < CALLS; i++) {
        MPI_Put(&number, 1, MPI_LONG, check_right, 1 + i, 1, MPI_LONG, win);
        MPI_Accumulate(&one, 1, MPI_LONG, check_right, 0, 1, MPI_LONG, MPI_SUM, win);
    }
}

static void set_info(MPI_Win win, const char *config, const char *symmetric)
{
    MPI_Info info = hints(config, symmetric);
    MPI_Win_set_info(win, info);
    MPI_Info_free(&info);
}

int main(int argc, char **argv)
{
    long *base;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    check_begin();
    mode = argc > 1 ? argv[1] : "right";
    MPI_Info info = hints(is_case("wrong")                  ? "sometimes"
                          : is_case("differ") && check_rank ? "on"
                                                            : "off",
                          NULL);
    MPI_Win_allocate((CALLS + 1) * sizeof *base, sizeof *base, info, MPI_COMM_WORLD, &base, &win);
    MPI_Info_free(&info);
    memset(base, 0, (CALLS + 1) * sizeof *base);
    MPI_Win_fence(0, win);
    communicate(win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    CHECK(base[0] == CALLS);
    set_info(win, "on", is_case("wrong") ? "perhaps" : is_case("some") && check_rank ? NULL : "true");
    MPI_Win_lock_all(0, win);
    communicate(win);
    MPI_Win_unlock_all(win);
    set_info(win, "off", NULL);
    MPI_Win_fence(0, win);
    communicate(win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    CHECK(base[0] == 3 * CALLS);
    check_report("sum", (uint64_t)base[0]);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
