/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: moved_freed tickets|sealed [world]: receives too small for their messages, on communicators
 * that are freed before they are complete. The handler that the communicator had then hears of it, or that of
 * MPI_COMM_WORLD on an MPI that takes that: with `world` it never ends the job. And more communicators, each
 * with a handler of its own, than an MPI has at once. */
#include "check.h"

enum { TAG = 5, COMMS = 2500, FEW = 12 };

static int *sent, *received;
static int calls[2]; /* of the communicator's handler, of MPI_COMM_WORLD's */

static void count_at_comm(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
    calls[0]++;
}

static void count_at_world(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
    calls[1]++;
}

static MPI_Comm make(bool is_sealed)
{
    MPI_Comm comm;
    if (is_sealed)
        return check_seal(MPI_COMM_WORLD);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    return comm;
}

static void too_small(bool is_sealed, const char *name, MPI_Errhandler at_comm, MPI_Errhandler at_world)
{
    int peer = check_rank ^ 1, class = MPI_SUCCESS;
    MPI_Request requests[2];
    MPI_Comm comm = make(is_sealed);
    if (at_world != MPI_ERRHANDLER_NULL)
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, at_world);
    MPI_Comm_set_errhandler(comm, at_comm);
    calls[0] = calls[1] = 0;
    MPI_Irecv(received, LARGE_INTS / 2, MPI_INT, peer, TAG, comm, &requests[0]);
    MPI_Barrier(comm);
    MPI_Isend(sent, LARGE_INTS, MPI_INT, peer, TAG, comm, &requests[1]);
    MPI_Comm_free(&comm);
    check_compute(2 * COMPUTE_US);
    int code = MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    int at[2] = {calls[0], calls[1]};
    MPI_Error_class(code, &class);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    if (at_comm != MPI_ERRORS_RETURN)
        class = MPI_SUCCESS; /* MPICH 5 returns that after a handler of the program, others the error */
    check_report(name, (uint64_t) class * 10000u + (uint64_t)at[0] * 100u + (uint64_t)at[1]);
}

static void one_after_another(void)
{
    int ended = 0;
    for (int i = 0; i < COMMS; i++) {
        MPI_Comm comm;
        MPI_Errhandler own;
        MPI_Request requests[2];
        MPI_Comm_dup(MPI_COMM_SELF, &comm);
        MPI_Comm_create_errhandler(count_at_comm, &own);
        MPI_Comm_set_errhandler(comm, own);
        MPI_Errhandler_free(&own);
        MPI_Irecv(received, FEW, MPI_INT, 0, TAG, comm, &requests[0]);
        MPI_Isend(sent, FEW, MPI_INT, 0, TAG, comm, &requests[1]);
        MPI_Comm_free(&comm);
        ended += MPI_Waitall(2, requests, MPI_STATUSES_IGNORE) == MPI_SUCCESS;
    }
    check_report("one-after-another", (uint64_t)ended);
}

int main(int argc, char **argv)
{
    MPI_Errhandler at_comm, at_world;
    MPI_Init(&argc, &argv);
    check_begin();
    bool is_sealed = argc > 1 && strcmp(argv[1], "sealed") == 0;
    sent = check_ints(LARGE_INTS);
    received = check_ints(LARGE_INTS);
    MPI_Comm_create_errhandler(count_at_comm, &at_comm);
    MPI_Comm_create_errhandler(count_at_world, &at_world);
    too_small(is_sealed, "both-return", MPI_ERRORS_RETURN, MPI_ERRORS_RETURN);
    too_small(is_sealed, "returns-world-hears", MPI_ERRORS_RETURN, at_world);
    too_small(is_sealed, "both-hear", at_comm, at_world);
    if (argc <= 2)
        too_small(is_sealed, "returns", MPI_ERRORS_RETURN, MPI_ERRHANDLER_NULL);
    one_after_another();
    MPI_Errhandler_free(&at_comm);
    MPI_Errhandler_free(&at_world);
    free(sent);
    free(received);
    MPI_Finalize();
    return 0;
}
