/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: truncation [waitall|dup]: a receive too small for its message, under MPI_ERRORS_RETURN, at
 * MPI_COMM_WORLD alone and at MPI_COMM_SELF too, and under the program's own error handler, which must be
 * called as often as it is without the library. With `dup` at the receive's communicator alone: a fatal
 * handler elsewhere must not see it. */
#include "check.h"

static int *sent, *received;
static int handler_calls, handler_class;

static void count_error(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    handler_calls++;
    MPI_Error_class(*code, &handler_class); /* MPI called inside a callback of MPI */
}

enum place { AT_DUPLICATE, AT_WORLD, AT_SELF_TOO };

static void too_small(bool has_handler, enum place place, bool uses_waitall)
{
    int peer = check_rank ^ 1, code, class = MPI_SUCCESS;
    MPI_Comm comm;
    MPI_Errhandler handler = MPI_ERRORS_RETURN;
    MPI_Request requests[2];
    MPI_Status statuses[2];
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (has_handler)
        MPI_Comm_create_errhandler(count_error, &handler);
    MPI_Comm_set_errhandler(comm, handler);
    if (place >= AT_WORLD) /* MPICH 4.0 gives errors of complete requests to it */
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    if (place == AT_SELF_TOO) /* MPICH 5 gives them to this one when asked, and only then */
        MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
    handler_calls = handler_class = 0;
    MPI_Irecv(received, LARGE_INTS / 2, MPI_INT, peer, 3, comm, &requests[0]);
    MPI_Barrier(comm);
    MPI_Isend(sent, LARGE_INTS, MPI_INT, peer, 3, comm, &requests[1]);
    check_compute(2 * COMPUTE_US);
    if (uses_waitall) {
        code = MPI_Waitall(2, requests, statuses);
        MPI_Error_class(code, &class);
        CHECK(class == MPI_ERR_IN_STATUS);
        MPI_Error_class(statuses[0].MPI_ERROR, &class);
    } else {
        code = MPI_Wait(&requests[0], &statuses[0]);
        MPI_Error_class(code, &class);
    }
    int calls = handler_calls;
    if (!uses_waitall)
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE); /* whether the sender learns of it is the MPI's choice */
    CHECK(has_handler ? calls > 0 : class != MPI_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    if (has_handler)
        MPI_Errhandler_free(&handler);
    MPI_Comm_free(&comm);
    char name[64];
    snprintf(name, sizeof name, "truncate-%d-%d-%d", has_handler, place, uses_waitall);
    check_report(name, (uint64_t) class * 10000u + (uint64_t)handler_class * 100u + (uint64_t)calls);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    check_begin();
    sent = check_ints(LARGE_INTS);
    received = check_ints(LARGE_INTS);
    bool uses_waitall = argc > 1 && strcmp(argv[1], "waitall") == 0;
    if (argc > 1 && !uses_waitall) {
        too_small(false, AT_DUPLICATE, false);
    } else {
        too_small(false, AT_WORLD, false);
        too_small(false, AT_SELF_TOO, uses_waitall);
        too_small(true, AT_WORLD, false);
        too_small(true, AT_SELF_TOO, false);
    }
    free(sent);
    free(received);
    MPI_Finalize();
    return 0;
}
