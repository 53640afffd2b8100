/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: windows of MPI_Win_create over all kinds of memory: parts of one allocation, of another
 * window, none at some processes, of the stack or static at some; the memory given back in any order and from
 * an attribute's callback; a child of fork. Ghosts must change nothing, and serve what they can. */
#include "check.h"

#include <sys/wait.h>
#include <unistd.h>

enum { COUNT = 100, WINDOWS = 3 };

/* Everybody adds to everybody who has memory, and puts to the right. `own` has COUNT ints, or is not there:
 * at rank 0, unless it is in. */
static void use(MPI_Win win, int *own, const char *what, bool is_first_in)
{
    int one = 1, got = -1;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    for (int target = 0; target < check_size; target++)
        if (is_first_in || target != 0)
            MPI_Accumulate(&one, 1, MPI_INT, target, 3, 1, MPI_INT, MPI_SUM, win);
    MPI_Win_flush_all(win);
    if (is_first_in || check_right != 0)
        MPI_Put(&check_rank, 1, MPI_INT, check_right, COUNT - 1, 1, MPI_INT, win);
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_fence(0, win);
    if (is_first_in || check_right != 0)
        MPI_Get(&got, 1, MPI_INT, check_right, COUNT - 1, 1, MPI_INT, win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    CHECK(got == (is_first_in || check_right != 0 ? check_rank : -1));
    if (own)
        CHECK(own[3] == check_size && own[COUNT - 1] == check_left);
    check_report(what, own ? check_digest(own, COUNT * sizeof *own) : 0);
}

static MPI_Win make(int *own, MPI_Aint count)
{
    MPI_Win win;
    CHECK(MPI_Win_create(own, count * (MPI_Aint)sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD,
                         &win) == MPI_SUCCESS);
    return win;
}

static int *allocate(size_t bytes)
{
    int *memory;
    CHECK(MPI_Alloc_mem((MPI_Aint)bytes, MPI_INFO_NULL, &memory) == MPI_SUCCESS && memory);
    memset(memory, 0, bytes);
    return memory;
}

/* Three windows over one allocation, apart, freed in another order than they were made. */
static void try_parts(void)
{
    int *memory = allocate(5000 * sizeof(int));
    MPI_Win wins[WINDOWS];
    for (int i = 0; i < WINDOWS; i++)
        wins[i] = make(memory + i * 1300 + 7, COUNT);
    for (int i = 0; i < WINDOWS; i++)
        use(wins[i], memory + i * 1300 + 7, "part", true);
    MPI_Win_free(&wins[1]);
    MPI_Win_free(&wins[0]);
    MPI_Win_free(&wins[2]);
    CHECK(memory[7 + 3] == check_size && memory[1300 + 7 + 3] == check_size);
    MPI_Free_mem(memory);
}

/* Two windows over the same memory, used one after the other. */
static void try_overlapping(void)
{
    int *memory = allocate(COUNT * sizeof(int));
    MPI_Win first = make(memory, COUNT), second = make(memory, COUNT);
    use(first, memory, "first", true);
    memset(memory, 0, COUNT * sizeof(int));
    use(second, memory, "second", true);
    MPI_Win_free(&second);
    MPI_Win_free(&first);
    MPI_Free_mem(memory);
}

static void try_over_window(void)
{
    int *memory;
    MPI_Win outer;
    MPI_Win_allocate(4 * COUNT * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &outer);
    memset(memory, 0, 4 * COUNT * sizeof(int));
    MPI_Win inner = make(memory + COUNT, COUNT);
    use(inner, memory + COUNT, "over-window", true);
    MPI_Win_free(&inner);
    MPI_Win_free(&outer);
}

static void try_none_at_first(void)
{
    int *memory = check_rank == 0 ? NULL : allocate(COUNT * sizeof(int));
    MPI_Win win = make(memory, memory ? COUNT : 0);
    use(win, memory, "none", false);
    MPI_Win_free(&win);
    if (memory)
        MPI_Free_mem(memory);
}

/* At one process memory that no ghost can reach: all of the window is the MPI's. */
static void try_mixed(void)
{
    static int of_program[COUNT];
    int *memory = check_rank == check_size - 1 ? of_program : allocate(COUNT * sizeof(int));
    MPI_Win win = make(memory, COUNT);
    use(win, memory, "mixed", true);
    MPI_Win_free(&win);
    if (memory != of_program)
        MPI_Free_mem(memory);
}

/* Bytes from the beginning of the memory, at each process in other units. */
static void try_units(void)
{
    int *memory = allocate(64 * sizeof(int)), value = check_rank + 50;
    MPI_Win win;
    MPI_Win_create(memory, 64 * sizeof(int), 1 << (check_rank % 4), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    MPI_Put(&value, 1, MPI_INT, check_right, 16 >> (check_right % 4), 1, MPI_INT, win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    CHECK(memory[4] == check_left + 50);
    MPI_Win_free(&win);
#if MPI_VERSION >= 4 && !defined OPEN_MPI
    MPI_Win_create_c(memory, 64 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    MPI_Put(&value, 1, MPI_INT, check_right, 9, 1, MPI_INT, win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    CHECK(memory[9] == check_left + 50);
    MPI_Win_free(&win);
#endif
    MPI_Free_mem(memory);
}

static int freed_count;

static int free_memory(MPI_Win win, int keyval, void *memory, void *unused)
{
    (void)win;
    (void)keyval;
    (void)unused;
    freed_count++;
    return MPI_Free_mem(memory);
}

static int free_window(MPI_Win win, int keyval, void *other, void *unused)
{
    (void)win;
    (void)keyval;
    (void)unused;
    return MPI_Win_free(other);
}

/* A window is freed when another is, by an attribute of that. */
static void try_nested(void)
{
    int keyval, *memory = allocate(COUNT * sizeof(int));
    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, free_window, &keyval, NULL);
    MPI_Win outer = make(memory, COUNT), inner = make(memory, COUNT);
    MPI_Win_set_attr(outer, keyval, &inner);
    use(inner, memory, "nested", true);
    MPI_Win_free(&outer);
    CHECK(inner == MPI_WIN_NULL);
    MPI_Win_free_keyval(&keyval);
    MPI_Free_mem(memory);
}

/* Where the MPI tells it of any window (MPI-4.1 section 12.2.3), it is what the process gave. */
static void try_query(void)
{
#if defined MPICH_NUMVERSION && MPICH_NUMVERSION >= 50000000
    int *memory = allocate(COUNT * sizeof(int)), *seen, unit;
    MPI_Aint size;
    MPI_Win win = make(memory, COUNT);
    MPI_Win_shared_query(win, check_rank, &size, &unit, &seen);
    CHECK(size == COUNT * sizeof(int) && unit == sizeof(int) && seen == memory);
    MPI_Win_free(&win);
    MPI_Free_mem(memory);
#endif
}

/* The window's memory lives as long as it does: given back by an attribute of the window. */
static void try_callback(void)
{
    int keyval, *memory = allocate(COUNT * sizeof(int));
    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, free_memory, &keyval, NULL);
    MPI_Win win = make(memory, COUNT);
    MPI_Win_set_attr(win, keyval, memory);
    use(win, memory, "callback", true);
    MPI_Win_free(&win);
    CHECK(freed_count == 1);
    MPI_Win_free_keyval(&keyval);
}

static void try_alignment(void)
{
    int *memory;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_minimum_memory_alignment", "4096");
    MPI_Alloc_mem(COUNT * sizeof(int), info, &memory);
    CHECK(getenv("HEADWAY_GHOSTS") == NULL || (uintptr_t)memory % 4096 == 0); /* not all MPIs do it */
    memset(memory, 0, COUNT * sizeof(int));
    MPI_Info_free(&info);
    MPI_Win win = make(memory, COUNT);
    use(win, memory, "aligned", true);
    MPI_Win_free(&win);
    MPI_Free_mem(memory);
}

/* A child changes memory of its own. */
static void try_fork(void)
{
    int *memory = allocate(COUNT * sizeof(int)), status = -1;
    MPI_Win win = make(memory, COUNT);
    memory[50] = 7;
    pid_t child = fork();
    if (child == 0) {
        bool is_right = memory[50] == 7;
        memset(memory, 9, COUNT * sizeof(int));
        _exit(is_right ? 0 : 1);
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
    use(win, memory, "fork", true);
    MPI_Win_free(&win);
    MPI_Free_mem(memory);
}

/* Pieces of many sizes, given back in another order. */
static void try_many(void)
{
    enum { PIECES = 60 };
    unsigned char *pieces[PIECES];
    for (int i = 0; i < PIECES; i++) {
        size_t bytes = (size_t)(i % 7 == 0 ? 200000 : 1) + (size_t)i * 37;
        pieces[i] = (unsigned char *)allocate(bytes);
        memset(pieces[i], i, bytes);
    }
    for (int i = 0; i < PIECES; i++) {
        int turn = i * 7 % PIECES;
        CHECK(pieces[turn][0] == turn && pieces[turn][turn * 37] == turn);
        MPI_Free_mem(pieces[turn]);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    check_begin();
    try_parts();
    try_overlapping();
    try_over_window();
    try_none_at_first();
    try_mixed();
    try_units();
    try_callback();
    try_nested();
    try_query();
    try_alignment();
    try_fork();
    try_many();
    MPI_Finalize();
    return 0;
}
