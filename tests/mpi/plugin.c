/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: the library of plugin_host.c: all of its MPI, MPI_Init included, happens in here. */
#include "check.h"

void plugin_run(void);

void plugin_run(void)
{
    int *sent = check_ints(LARGE_INTS), *received = check_ints(LARGE_INTS);
    MPI_Request requests[2];
    MPI_Init(NULL, NULL);
    check_begin();
    check_fill(sent, LARGE_INTS, (unsigned)check_rank);
    MPI_Irecv(received, LARGE_INTS, MPI_INT, check_rank ^ 1, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(sent, LARGE_INTS, MPI_INT, check_rank ^ 1, 1, MPI_COMM_WORLD, &requests[1]);
    check_compute(10 * COMPUTE_US);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    CHECK(check_is_filled(received, LARGE_INTS, (unsigned)(check_rank ^ 1)));
    check_report("plugin", check_digest(received, LARGE_INTS * sizeof(int)));
    MPI_Finalize();
    free(sent);
    free(received);
}
