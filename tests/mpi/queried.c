/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: windows of MPI_Win_allocate with the hint `alloc_shm`, as ARMCI-MPI makes them: operations on
 * them, and loads and stores where MPI_Win_shared_query shows another process's memory. */
#include "check.h"

enum { COUNT = 300 };

static int *own;

/* 0: no; 1: yes; 2: this MPI tells nothing. */
static uint64_t says_shared(MPI_Win win)
{
    char value[16] = "";
    MPI_Info info;
    MPI_Win_get_info(win, &info);
    return check_info_take(info, "alloc_shm", value, sizeof value) ? strcmp(value, "true") == 0 : 2;
}

/* Windows that say so themselves, or not. */
static void ask(const char *name, const char *value, MPI_Aint bytes)
{
    MPI_Win win;
    MPI_Info info = MPI_INFO_NULL;
    void *memory;
    if (value) {
        MPI_Info_create(&info);
        MPI_Info_set(info, "alloc_shm", value);
    }
    MPI_Win_allocate(bytes, 1, info, MPI_COMM_WORLD, &memory, &win);
    check_report(name, says_shared(win));
    MPI_Win_free(&win);
    if (value)
        MPI_Info_free(&info);
}

static MPI_Win make(void)
{
    MPI_Win win;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "alloc_shm", "true");
    int count = COUNT + check_rank;
    MPI_Win_allocate(count * (MPI_Aint)sizeof *own, sizeof *own, info, MPI_COMM_WORLD, &own, &win);
    MPI_Info_free(&info);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    for (int i = 0; i < count; i++)
        own[i] = 0;
    return win;
}

/* What the MPI tells of windows that are not MPI_Win_allocate_shared's is its business (MPI-4.1 section
 * 12.2.3); where it tells anything it is to be used. Returns how many processes' memory was shown. */
static int store(MPI_Win win)
{
    int shown = 0;
    for (int rank = 0; rank < check_size; rank++) {
        MPI_Aint size = 0;
        int unit, *base = NULL;
        if (MPI_Win_shared_query(win, rank, &size, &unit, &base) != MPI_SUCCESS || size == 0)
            continue;
        CHECK(base != NULL && unit == sizeof *own && size == (COUNT + rank) * (MPI_Aint)sizeof *own);
        CHECK(rank != check_rank || base == own);
        base[check_rank] += 1;
        shown++;
    }
    return shown;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    check_begin();
    ask("default", NULL, 64);
    ask("refused", "false", 64);
    ask("empty", NULL, check_rank % 2 * 64);
    MPI_Win win = make();
    check_report("asked", says_shared(win));
    int ten = 10;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    int shown = store(win);
    MPI_Win_sync(win);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int rank = 0; rank < check_size; rank++)
        MPI_Accumulate(&ten, 1, MPI_INT, rank, check_rank, 1, MPI_INT, MPI_SUM, win);
    MPI_Win_flush_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_sync(win);
    int stored = 0;
    for (int rank = 0; rank < check_size; rank++) {
        CHECK(own[rank] == 10 || own[rank] == 11);
        stored += own[rank] - 10;
    }
    MPI_Win_unlock_all(win);
    int all_shown, all_stored;
    MPI_Allreduce(&shown, &all_shown, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&stored, &all_stored, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(all_stored == all_shown);
#if defined MPICH_NUMVERSION && MPICH_NUMVERSION >= 50000000
    check_report("shown", (uint64_t)shown);
#endif
    check_report("queried", 0);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
