/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: many_windows COUNT: a window, COUNT others made and freed one after the other, and one more:
 * the first and the last in exposure epochs at once, completed in another order than they are waited for. */
#include "check.h"

#include <unistd.h>

static MPI_Win make(long **memory)
{
    MPI_Win win;
    MPI_Win_allocate(sizeof **memory, sizeof **memory, MPI_INFO_NULL, MPI_COMM_WORLD, memory, &win);
    return win;
}

static void put(MPI_Win win, MPI_Group target, long value)
{
    MPI_Win_start(target, 0, win);
    MPI_Put(&value, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win);
    MPI_Win_complete(win);
}

int main(int argc, char **argv)
{
    long *first_memory, *last_memory, *memory;
    int count = argc > 1 ? atoi(argv[1]) : 1;
    MPI_Init(&argc, &argv);
    check_begin();
    MPI_Win first = make(&first_memory);
    for (int i = 0; i < count; i++) {
        MPI_Win win = make(&memory);
        MPI_Win_free(&win);
    }
    MPI_Win last = make(&last_memory);
    MPI_Group peer = check_group_of(check_rank ^ 1);
    *first_memory = *last_memory = 0;
    if (check_rank == 0) {
        MPI_Win_post(peer, 0, first);
        MPI_Win_post(peer, 0, last);
        MPI_Win_wait(first);
        check_report("first", (uint64_t)*first_memory);
        MPI_Win_wait(last);
        check_report("last", (uint64_t)*last_memory);
    } else {
        put(last, peer, 8);
        usleep(200 * 1000); /* a wait that takes the other's completion for its own has ended by then */
        put(first, peer, 7);
    }
    MPI_Group_free(&peer);
    MPI_Win_free(&first);
    MPI_Win_free(&last);
    MPI_Finalize();
    return 0;
}
