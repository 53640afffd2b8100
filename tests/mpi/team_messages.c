/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: large messages of derived datatypes, and no other packing, where OpenMP threads of the program
 * are idle or not: between parallel regions, within `single`, and by one thread while the others compute.
 * Argument: how often in each of the first two, if less. */
#include "idle_threads.h"

/* No processor packs these in the 100 us below which nothing is shared. */
enum { CALLS = 12, ROWS = 1 << 19, WORDS = 5, STRIDE = 7, TAG = 3, SHORT = 8 };
enum { CELLS = ROWS * STRIDE };

static int *grid, *again;
static MPI_Datatype rows;
static MPI_Request persistent[2];

/* `again` has what the rank to the left has sent, and nothing between. */
static void look(unsigned seed, int count)
{
    unsigned theirs = seed * 16 + (unsigned)check_left;
    int *sent = check_ints(CELLS);
    check_fill(sent, CELLS, theirs);
    for (int row = 0; row < ROWS; row++)
        for (int word = 0; word < STRIDE; word++) {
            int at = row * STRIDE + word;
            CHECK(again[at] == (word < WORDS && row < count ? sent[at] : -1));
        }
    free(sent);
}

static void prepare(unsigned seed)
{
    check_fill(grid, CELLS, seed * 16 + (unsigned)check_rank);
    memset(again, -1, CELLS * sizeof(int));
}

static void by_requests(unsigned seed)
{
    MPI_Request requests[2];
    prepare(seed);
    MPI_Irecv(again, ROWS, rows, check_left, TAG, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(grid, ROWS, rows, check_right, TAG, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    look(seed, ROWS);
}

/* Less comes than there is room for. */
static void by_sendrecv(unsigned seed)
{
    prepare(seed);
    MPI_Sendrecv(grid, ROWS - SHORT, rows, check_right, TAG, again, ROWS, rows, check_left, TAG,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    look(seed, ROWS - SHORT);
}

static void by_persistent(unsigned seed)
{
    prepare(seed);
    MPI_Startall(2, persistent);
    MPI_Waitall(2, persistent, MPI_STATUSES_IGNORE);
    look(seed, ROWS);
}

static void work(unsigned call)
{
    by_requests(call);
    by_sendrecv(call + 1);
    by_persistent(call + 2);
}

int main(int argc, char **argv)
{
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    check_begin();
    grid = check_ints(CELLS);
    again = check_ints(CELLS);
    MPI_Type_contiguous(WORDS, MPI_INT, &rows);
    MPI_Datatype dense = rows;
    MPI_Type_create_resized(dense, 0, STRIDE * sizeof(int), &rows);
    MPI_Type_free(&dense);
    MPI_Type_commit(&rows);
    MPI_Recv_init(again, ROWS, rows, check_left, TAG, MPI_COMM_WORLD, &persistent[0]);
    MPI_Send_init(grid, ROWS, rows, check_right, TAG, MPI_COMM_WORLD, &persistent[1]);
    idle_threads_everywhere(work, argc > 1 ? (unsigned)atoi(argv[1]) : CALLS);
    check_report("team messages", check_digest(again, CELLS * sizeof(int)));
    MPI_Request_free(&persistent[0]);
    MPI_Request_free(&persistent[1]);
    MPI_Type_free(&rows);
    free(grid), free(again);
    MPI_Finalize();
    return 0;
}
