/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: request-based one-sided operations, computed over on both sides, and plain ones between
 * fences; windows made in each way the MPI allows. */
#include "check.h"

static int *data;

static void requests_on(MPI_Win win, int *base, const char *name)
{
    int target = (check_rank + 1) % check_size, origin = (check_rank + check_size - 1) % check_size;
    MPI_Request requests[2];
    char label[48];
    check_fill(data, LARGE_INTS, 70u + (unsigned)check_rank);
    MPI_Win_lock_all(0, win);
    MPI_Rput(data, LARGE_INTS, MPI_INT, target, 0, LARGE_INTS, MPI_INT, win, &requests[0]);
    check_compute(COMPUTE_US);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Win_flush(target, win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Rget(data, LARGE_INTS, MPI_INT, target, 0, LARGE_INTS, MPI_INT, win, &requests[0]);
    check_compute(COMPUTE_US);
    for (int done = 0; !done;)
        MPI_Test(&requests[0], &done, MPI_STATUS_IGNORE);
    CHECK(check_is_filled(data, LARGE_INTS, 70u + (unsigned)check_rank));
    MPI_Barrier(MPI_COMM_WORLD);
    int one = 1;
    MPI_Raccumulate(&one, 1, MPI_INT, target, 0, 1, MPI_INT, MPI_SUM, win, &requests[0]);
    MPI_Raccumulate(&one, 1, MPI_INT, target, 1, 1, MPI_INT, MPI_SUM, win, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    check_fill(data, LARGE_INTS, 70u + (unsigned)origin);
    CHECK(base[0] == data[0] + 1 && base[1] == data[1] + 1 && base[2] == data[2]);
    snprintf(label, sizeof label, "requests-%s", name);
    check_report(label, check_digest(base, LARGE_INTS * sizeof(int)));
    MPI_Barrier(MPI_COMM_WORLD);
}

static void fences(MPI_Win win, int *base)
{
    int target = (check_rank + 1) % check_size, origin = (check_rank + check_size - 1) % check_size;
    check_fill(data, LARGE_INTS, 80u + (unsigned)check_rank);
    MPI_Win_fence(0, win);
    MPI_Put(data, LARGE_INTS, MPI_INT, target, 0, LARGE_INTS, MPI_INT, win);
    check_compute(COMPUTE_US);
    MPI_Win_fence(0, win);
    CHECK(check_is_filled(base, LARGE_INTS, 80u + (unsigned)origin));
    check_report("fences", check_digest(base, LARGE_INTS * sizeof(int)));
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    check_begin();
    data = check_ints(LARGE_INTS);
    int *base = check_ints(LARGE_INTS);
    MPI_Win win;
    MPI_Win_create(base, LARGE_INTS * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    requests_on(win, base, "create");
    fences(win, base);
    MPI_Win_free(&win);
    free(base);
    MPI_Win_allocate(LARGE_INTS * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    requests_on(win, base, "allocate");
    MPI_Win_free(&win);
    CHECK(win == MPI_WIN_NULL);
    free(data);
    MPI_Finalize();
    return 0;
}
