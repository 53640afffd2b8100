/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: packing, and large copies within a node, where OpenMP threads of the program are idle or not:
 * between parallel regions, within `single`, and by one thread while the others compute. */
#include "idle_threads.h"

/* No processor copies these in the 100 us below which nothing is shared. */
enum { CALLS = 16, ROWS = 1 << 19, WORDS = 5, STRIDE = 7, COPIED = 1 << 21 };

static int *grid, *again, *packed;
static MPI_Datatype rows;
static MPI_Win win;
static int *window;

static void pack_and_unpack(unsigned seed)
{
    int position = 0, bytes = ROWS * WORDS * (int)sizeof(int);
    check_fill(grid, (size_t)ROWS * STRIDE, seed);
    memset(again, 0, (size_t)ROWS * STRIDE * sizeof(int));
    MPI_Pack(grid, 1, rows, packed, bytes, &position, MPI_COMM_WORLD);
    CHECK(position == bytes);
    position = 0;
    MPI_Unpack(packed, bytes, &position, again, 1, rows, MPI_COMM_WORLD);
    CHECK(position == bytes);
    for (int row = 0; row < ROWS; row++)
        for (int word = 0; word < STRIDE; word++) {
            int at = row * STRIDE + word;
            CHECK(again[at] == (word < WORDS ? grid[at] : 0));
            CHECK(word >= WORDS || packed[row * WORDS + word] == grid[at]);
        }
}

/* To the right, and from there. */
static void put_and_get(unsigned seed)
{
    check_fill(grid, COPIED, seed);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, check_right, 0, win);
    MPI_Put(grid, COPIED, MPI_INT, check_right, 0, COPIED, MPI_INT, win);
    MPI_Win_flush(check_right, win);
    MPI_Get(again, COPIED, MPI_INT, check_right, 0, COPIED, MPI_INT, win);
    MPI_Win_unlock(check_right, win);
    CHECK(memcmp(grid, again, COPIED * sizeof(int)) == 0);
}

static void work(unsigned seed)
{
    pack_and_unpack(seed);
    put_and_get(seed);
}

int main(int argc, char **argv)
{
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    check_begin();
    grid = malloc((size_t)ROWS * STRIDE * sizeof(int));
    again = malloc((size_t)ROWS * STRIDE * sizeof(int));
    packed = malloc((size_t)ROWS * WORDS * sizeof(int));
    CHECK(grid && again && packed);
    MPI_Type_vector(ROWS, WORDS, STRIDE, MPI_INT, &rows);
    MPI_Type_commit(&rows);
    MPI_Win_allocate(COPIED * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window, &win);
    idle_threads_everywhere(work, CALLS);
    MPI_Win_free(&win);
    check_report("team", check_digest(again, COPIED * sizeof(int)));
    MPI_Type_free(&rows);
    free(grid), free(again), free(packed);
    MPI_Finalize();
    return 0;
}
