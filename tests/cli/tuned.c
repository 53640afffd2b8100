/* A program whose time depends on the library's options, for `headway tune`: both ranks exchange something
 * that is tracked, then sleep. Usage: tuned FASTER|SLOWER|FAIL. FASTER: fast with HEADWAY_TICK_US=200us, any
 * other way slow, as it says. SLOWER: fast only without the library, by the clock. FAIL: ends with status 3
 * under the library. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BYTES = 1 << 20, LONG_US = 80000 };

int main(int argc, char **argv)
{
    const char *wanted = argc > 1 ? argv[1] : "FASTER", *tick = getenv("HEADWAY_TICK_US");
    int rank, is_loaded = getenv("HEADWAY_RECORD") != NULL;
    int is_fast = strcmp(wanted, "FASTER") == 0 ? tick && strcmp(tick, "200us") == 0 : !is_loaded;
    MPI_Request requests[2];
    static char out[BYTES], in[BYTES];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Irecv(in, BYTES, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, BYTES, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    if (!is_fast && strcmp(wanted, "SLOWER") == 0)
        usleep(LONG_US);
    if (rank == 0)
        printf("solved in %s s\n", is_fast ? "1.25" : "2.5e0");
    MPI_Finalize();
    return is_loaded && strcmp(wanted, "FAIL") == 0 ? 3 : 0;
}
