/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: the function of an attribute of MPI_COMM_SELF, which MPI_Finalize calls first (MPI-4.1 section
 * 11.2.4), receives what was sent before, uses windows that were made before, and frees them.
 *
 * late_calls messages|windows */
#include "check.h"

enum { INTS = 200 * 1000, PLACES = 100 };

static MPI_Win win;
static int *base;
static int *sent, *received, *posted;
static MPI_Request requests[3];
static bool is_of_windows;

static void verify(const int *found, int tag)
{
    for (int i = 0; i < INTS; i++)
        CHECK(found[i] == check_left * 1000 + tag + i);
}

static void complete_messages(void)
{
    MPI_Status status;
    int count;
    MPI_Probe(check_left, 1, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK(count == INTS);
    MPI_Recv(received, INTS, MPI_INT, check_left, 1, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK(count == INTS);
    verify(received, 1);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    verify(posted, 2);
    check_report("messages", check_digest(received, INTS * sizeof(int)));
}

static void use_windows(void)
{
    int mine = check_rank + 1, found = 0, one = 1;
    MPI_Win_fence(0, win);
    MPI_Put(&mine, 1, MPI_INT, check_right, 0, 1, MPI_INT, win);
    MPI_Accumulate(&one, 1, MPI_INT, 0, 1, 1, MPI_INT, MPI_SUM, win);
    MPI_Win_fence(0, win);
    CHECK(base[0] == check_left + 1);
    CHECK(check_rank > 0 || base[1] == check_size);
    MPI_Win_lock(MPI_LOCK_SHARED, check_right, 0, win);
    MPI_Put(&mine, 1, MPI_INT, check_right, 2, 1, MPI_INT, win);
    MPI_Win_flush(check_right, win);
    MPI_Get(&found, 1, MPI_INT, check_right, 2, 1, MPI_INT, win);
    MPI_Win_unlock(check_right, win);
    CHECK(found == mine);
    MPI_Win_free(&win);
    check_report("windows", 1);
}

static int erase(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)comm, (void)keyval, (void)value, (void)extra;
    if (is_of_windows)
        use_windows();
    else
        complete_messages();
    return MPI_SUCCESS;
}

static void begin_messages(void)
{
    sent = malloc(2 * INTS * sizeof *sent);
    received = calloc(INTS, sizeof *received);
    posted = calloc(INTS, sizeof *posted);
    for (int tag = 1; tag <= 2; tag++)
        for (int i = 0; i < INTS; i++)
            sent[(tag - 1) * INTS + i] = check_rank * 1000 + tag + i;
    MPI_Irecv(posted, INTS, MPI_INT, check_left, 2, MPI_COMM_WORLD, &requests[0]);
    for (int tag = 1; tag <= 2; tag++)
        MPI_Isend(sent + (tag - 1) * INTS, INTS, MPI_INT, check_right, tag, MPI_COMM_WORLD, &requests[tag]);
}

int main(int argc, char **argv)
{
    int keyval;
    MPI_Init(&argc, &argv);
    check_begin();
    is_of_windows = argc > 1 && strcmp(argv[1], "windows") == 0;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, erase, &keyval, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, keyval, NULL);
    MPI_Comm_free_keyval(&keyval);
    if (is_of_windows)
        MPI_Win_allocate(PLACES * sizeof *base, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    else
        begin_messages();
    if (is_of_windows)
        memset(base, 0, PLACES * sizeof *base);
    MPI_Finalize();
    free(sent);
    free(received);
    free(posted);
    return 0;
}
