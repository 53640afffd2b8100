/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: MPI_Alloc_mem and windows with info keys that mean nothing here, or something to one MPI only:
 * hints, which change no result and are no reason not to serve a window. What mpi_minimum_memory_alignment
 * asks for is given beside them, where the MPI knows that key. */
#include "check.h"

enum { COUNT = 64, CASES = 4 };

static const struct {
    const char *what;
    const char *pairs[4]; /* key and value in turn */
    size_t alignment;
} cases[CASES] = {
    {"shm", {"alloc_shm", "true"}, 1},
    {"unknown", {"acme_colour", "blue", "alloc_shm", "false"}, 1},
    {"aligned", {"alloc_shm", "true", "mpi_minimum_memory_alignment", "4096"}, 4096},
    {"none", {NULL}, 1},
};

static MPI_Info make_info(int number)
{
    MPI_Info info;
    MPI_Info_create(&info);
    for (int i = 0; i < 4 && cases[number].pairs[i]; i += 2)
        CHECK(MPI_Info_set(info, cases[number].pairs[i], cases[number].pairs[i + 1]) == MPI_SUCCESS);
    return info;
}

static void use(MPI_Win win, const int *own, const char *kind, const char *what)
{
    char name[64];
    int value = check_rank + 7, got = -1;
    MPI_Win_lock_all(0, win);
    MPI_Put(&value, 1, MPI_INT, check_right, 3, 1, MPI_INT, win);
    MPI_Win_flush(check_right, win);
    MPI_Get(&got, 1, MPI_INT, check_right, 3, 1, MPI_INT, win);
    MPI_Win_unlock_all(win);
    CHECK(got == value);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_fence(0, win);
    CHECK(own[3] == check_left + 7);
    snprintf(name, sizeof name, "%s %s", kind, what);
    check_report(name, check_digest(own, COUNT * sizeof *own));
}

static void try_created(int number)
{
    MPI_Info info = make_info(number);
    MPI_Win win;
    int *memory;
    CHECK(MPI_Alloc_mem(COUNT * sizeof *memory, info, &memory) == MPI_SUCCESS);
    CHECK(getenv("HEADWAY_GHOSTS") == NULL || (uintptr_t)memory % cases[number].alignment == 0);
    memset(memory, 0, COUNT * sizeof *memory);
    if (cases[number].alignment > 1) /* which Intel MPI refuses for a window, plain */
        MPI_Info_delete(info, "mpi_minimum_memory_alignment");
    CHECK(MPI_Win_create(memory, COUNT * sizeof *memory, sizeof *memory, info, MPI_COMM_WORLD, &win) ==
          MPI_SUCCESS);
    use(win, memory, "created", cases[number].what);
    MPI_Win_free(&win);
    MPI_Free_mem(memory);
    MPI_Info_free(&info);
}

static void try_allocated(int number)
{
    MPI_Info info = make_info(number);
    MPI_Win win;
    int *memory;
    if (cases[number].alignment > 1)
        MPI_Info_delete(info, "mpi_minimum_memory_alignment");
    CHECK(MPI_Win_allocate(COUNT * sizeof *memory, sizeof *memory, info, MPI_COMM_WORLD, &memory, &win) ==
          MPI_SUCCESS);
    memset(memory, 0, COUNT * sizeof *memory);
    MPI_Barrier(MPI_COMM_WORLD);
    use(win, memory, "allocated", cases[number].what);
    MPI_Win_free(&win);
    MPI_Info_free(&info);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    check_begin();
    for (int i = 0; i < CASES; i++) {
        try_created(i);
        try_allocated(i);
    }
    MPI_Finalize();
    return 0;
}
