/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: the one-sided calls that take MPI_Count, those that make windows among them, under locks and
 * fences, with derived datatypes of such calls. Small counts: what is large is their type. */
#include "check.h"

enum { COUNT = 96, PART = COUNT / 6, REQUESTS = 4 };

static int *base, values[COUNT], fetched[4 * PART];
static MPI_Win win;

static void clear(void)
{
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, check_rank, 0, win);
    for (int i = 0; i < COUNT; i++)
        base[i] = check_rank * 1000 + i;
    MPI_Win_unlock(check_rank, win);
    for (int i = 0; i < COUNT; i++)
        values[i] = check_rank * 31 + i;
    memset(fetched, 0, sizeof fetched);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void report(const char *window, const char *what)
{
    char name[64];
    snprintf(name, sizeof name, "%s-%s", window, what);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, check_rank, 0, win);
    check_report(name, check_digest(base, COUNT * sizeof *base) ^ 31 * check_digest(fetched, sizeof fetched));
    MPI_Win_unlock(check_rank, win);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void operate(void)
{
    const MPI_Count part = PART;
    MPI_Put_c(values, part, MPI_INT, check_right, 0, part, MPI_INT, win);
    MPI_Get_c(fetched, part, MPI_INT, check_right, 1 * PART, part, MPI_INT, win);
    MPI_Accumulate_c(values, part, MPI_INT, check_right, 2 * PART, part, MPI_INT, MPI_SUM, win);
    MPI_Get_accumulate_c(values, part, MPI_INT, fetched + PART, part, MPI_INT, check_right, 3 * PART, part,
                         MPI_INT, MPI_SUM, win);
    MPI_Put_c(values, part, MPI_INT, MPI_PROC_NULL, 0, part, MPI_INT, win);
}

static void operate_with_requests(void)
{
    const MPI_Count part = PART;
    MPI_Request requests[REQUESTS];
    MPI_Rput_c(values, part, MPI_INT, check_right, 0, part, MPI_INT, win, &requests[0]);
    MPI_Rget_c(fetched, part, MPI_INT, check_right, 1 * PART, part, MPI_INT, win, &requests[1]);
    MPI_Raccumulate_c(values, part, MPI_INT, check_right, 2 * PART, part, MPI_INT, MPI_BXOR, win,
                      &requests[2]);
    MPI_Rget_accumulate_c(values, part, MPI_INT, fetched + PART, part, MPI_INT, check_right, 3 * PART, part,
                          MPI_INT, MPI_REPLACE, win, &requests[3]);
    MPI_Waitall(REQUESTS, requests, MPI_STATUSES_IGNORE);
}

/* Every second integer at the target, in order at the origin. */
static void operate_with_types(void)
{
    MPI_Datatype strided;
    MPI_Type_vector_c(PART, 1, 2, MPI_INT, &strided);
    MPI_Type_commit(&strided);
    MPI_Put_c(values, PART, MPI_INT, check_right, 0, 1, strided, win);
    MPI_Get_c(fetched, PART, MPI_INT, check_right, 2 * PART, 1, strided, win);
    MPI_Accumulate_c(values, PART, MPI_INT, check_right, 4 * PART, 1, strided, MPI_SUM, win);
    MPI_Type_free(&strided);
}

static void use(const char *window)
{
    clear();
    MPI_Win_lock(MPI_LOCK_SHARED, check_right, 0, win);
    operate();
    MPI_Win_unlock(check_right, win);
    report(window, "lock");
    clear();
    MPI_Win_lock_all(0, win);
    operate_with_requests();
    MPI_Win_unlock_all(win);
    report(window, "requests");
    clear();
    MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
    operate_with_types();
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    report(window, "types");
}

static void try_allocated(void)
{
    MPI_Win_allocate_c(COUNT * sizeof *base, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    use("allocated");
    MPI_Win_free(&win);
}

static void try_shared(void)
{
    MPI_Aint length, unit;
    int *found;
    MPI_Win_allocate_shared_c(COUNT * sizeof *base, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win_shared_query_c(win, check_rank, &length, &unit, &found);
    CHECK(found == base && length == COUNT * sizeof *base && unit == sizeof *base);
    use("shared");
    MPI_Win_free(&win);
}

/* As in test_ghosts.py: plain, some MPIs fail in MPI_Win_create, and the control allocates instead. */
static void try_created(bool is_created)
{
    if (is_created) {
        MPI_Alloc_mem(COUNT * sizeof *base, MPI_INFO_NULL, &base);
        MPI_Win_create_c(base, COUNT * sizeof *base, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    } else {
        MPI_Win_allocate_c(COUNT * sizeof *base, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    }
    use("created");
    MPI_Win_free(&win);
    if (is_created)
        MPI_Free_mem(base);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    check_begin();
    try_allocated();
    try_shared();
    try_created(argc > 1 && strcmp(argv[1], "create") == 0);
    MPI_Finalize();
    return 0;
}
