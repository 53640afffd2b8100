/* SPDX-License-Identifier: BSD-3-Clause */
/* A program whose time depends on the library's options, for `headway tune`: both ranks exchange something
 * that is tracked, then sleep. Usage: tuned FASTER|SLOWER|FAIL|SERVED|UNSERVED. FASTER: fast with
 * HEADWAY_TICK_US=200us, any other way slow, as it says. SLOWER: fast only without the library, by the clock.
 * FAIL: ends with status 3 under the library. SERVED: puts something into a window, and is fast with a ghost,
 * as it says. UNSERVED: the same, slow with a ghost. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BYTES = 1 << 20, LONG_US = 80000 };

static void put(int target)
{
    double *base, value = 1;
    MPI_Win window;
    MPI_Win_allocate(sizeof value, sizeof value, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
    MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window);
    MPI_Put(&value, 1, MPI_DOUBLE, target, 0, 1, MPI_DOUBLE, window);
    MPI_Win_unlock(target, window);
    MPI_Win_free(&window);
}

/* By how the library is told to go about it. */
static int is_fast_here(const char *wanted, int is_loaded)
{
    const char *tick = getenv("HEADWAY_TICK_US"), *ghosts = getenv("HEADWAY_GHOSTS");
    if (strcmp(wanted, "FASTER") == 0)
        return tick && strcmp(tick, "200us") == 0;
    if (strcmp(wanted, "SERVED") == 0)
        return ghosts && strcmp(ghosts, "1") == 0;
    if (strcmp(wanted, "UNSERVED") == 0)
        return !ghosts;
    return !is_loaded;
}

int main(int argc, char **argv)
{
    const char *wanted = argc > 1 ? argv[1] : "FASTER";
    int rank, is_loaded = getenv("HEADWAY_RECORD") != NULL;
    int is_fast = is_fast_here(wanted, is_loaded);
    MPI_Request requests[2];
    static char out[BYTES], in[BYTES];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Irecv(in, BYTES, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, BYTES, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    if (strstr(wanted, "SERVED"))
        put(1 - rank);
    if (!is_fast && strcmp(wanted, "SLOWER") == 0)
        usleep(LONG_US);
    if (rank == 0)
        printf("solved in %s s\n", is_fast ? "1.25" : "2.5e0");
    MPI_Finalize();
    return is_loaded && strcmp(wanted, "FAIL") == 0 ? 3 : 0;
}
