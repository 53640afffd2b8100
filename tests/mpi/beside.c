/* SPDX-License-Identifier: BSD-3-Clause */
/* A window over memory of the program's own beside one of MPI_Win_allocate, both alive: each has its bytes.
 * With an argument: beside one of the first process alone. Windows of some processes make Intel MPI end the
 * job in the next over all, plain too; what ghosts serve is apart from them. */
#include "check.h"

#include <stdbool.h>

enum { COUNT = 8, PLACE = 5 };

static void ring(MPI_Win win, long sent)
{
    int target = (check_rank + 1) % check_size;
    long found = -1;
    MPI_Win_lock_all(0, win);
    MPI_Put(&sent, 1, MPI_LONG, target, PLACE, 1, MPI_LONG, win);
    MPI_Win_flush(target, win);
    MPI_Get(&found, 1, MPI_LONG, target, PLACE, 1, MPI_LONG, win);
    MPI_Win_unlock_all(win);
    CHECK(found == sent);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    static long heap[COUNT];
    long *memory;
    MPI_Win own, served;
    MPI_Init(&argc, &argv);
    check_begin();
    bool is_of_all = argc == 1;
    MPI_Comm comm = is_of_all ? MPI_COMM_WORLD : MPI_COMM_SELF;
    bool has_own = is_of_all || check_rank == 0;
    if (has_own)
        MPI_Win_create(heap, sizeof heap, sizeof(long), MPI_INFO_NULL, comm, &own);
    MPI_Win_allocate(COUNT * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &served);
    for (int i = 0; i < COUNT; i++)
        memory[i] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    ring(served, 100 + check_rank);
    if (is_of_all)
        ring(own, 200 + check_rank);
    check_report("served", check_digest(memory, COUNT * sizeof(long)));
    if (is_of_all)
        check_report("own", check_digest(heap, sizeof heap));
    MPI_Win_free(&served);
    if (has_own)
        MPI_Win_free(&own);
    MPI_Finalize();
    return 0;
}
