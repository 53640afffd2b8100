/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: sessions ROUNDS: MPI 4 sessions without MPI_Init: a large exchange on a session's
 * communicator, each round in a new session after the one before has ended. */
#include "check.h"

static void exchange(int round)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    MPI_Request requests[2];
    int *sent = check_ints(LARGE_INTS), *received = check_ints(LARGE_INTS);
    if (MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session) != MPI_SUCCESS)
        exit(8);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "check", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Group_free(&group);
    MPI_Comm_rank(comm, &check_rank);
    check_fill(sent, LARGE_INTS, (unsigned)(check_rank + 10 * round));
    MPI_Irecv(received, LARGE_INTS, MPI_INT, check_rank ^ 1, 1, comm, &requests[0]);
    MPI_Isend(sent, LARGE_INTS, MPI_INT, check_rank ^ 1, 1, comm, &requests[1]);
    check_compute(10 * COMPUTE_US);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    if (!check_is_filled(received, LARGE_INTS, (unsigned)((check_rank ^ 1) + 10 * round)))
        exit(9);
    check_report("session", check_digest(received, LARGE_INTS * sizeof(int)));
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
    free(sent);
    free(received);
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 1;
    for (int i = 0; i < rounds; i++)
        exchange(i);
    return 0;
}
