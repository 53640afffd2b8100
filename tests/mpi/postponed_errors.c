/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: large receives that are too small for their messages, with sends right after them, on
 * communicators with handlers of their own: which handler hears of it, and in which call. */
#include "check.h"

enum { SMALL_INTS = LARGE_INTS / 2 };

static MPI_Comm one, other;
static int *sent, *received;
static int peer;
static char heard[64];

static void hear(MPI_Comm *comm, int *code, ...)
{
    size_t length = strlen(heard);
    (void)code;
    if (length + 1 < sizeof heard)
        heard[length] = *comm == one ? '1' : *comm == other ? '2' : 'W';
}

/* What was heard since the last step. */
static void step(const char *name, int rc)
{
    int class = MPI_SUCCESS;
    MPI_Error_class(rc, &class);
    printf("rank %d %s class %d heard %s\n", check_rank, name, class, heard);
    memset(heard, 0, sizeof heard);
}

/* Its message has come before. */
static void receive(void)
{
    MPI_Request requests[3];
    MPI_Status status;
    MPI_Isend(sent, LARGE_INTS, MPI_INT, peer, 1, one, &requests[0]);
    MPI_Barrier(other);
    check_compute(COMPUTE_US);
    step("Irecv", MPI_Irecv(received, SMALL_INTS, MPI_INT, peer, 1, one, &requests[1]));
    step("Isend", MPI_Isend(sent, LARGE_INTS, MPI_INT, peer, 2, other, &requests[2]));
    step("Recv", MPI_Recv(received + LARGE_INTS, LARGE_INTS, MPI_INT, peer, 2, other, MPI_STATUS_IGNORE));
    step("Wait", MPI_Wait(&requests[1], &status));
    CHECK(status.MPI_SOURCE == peer && status.MPI_TAG == 1 && requests[1] == MPI_REQUEST_NULL);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE); /* whether the sender learns of it is the MPI's choice */
    MPI_Wait(&requests[2], MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    MPI_Errhandler handler;
    MPI_Init(&argc, &argv);
    check_begin();
    peer = check_rank ^ 1;
    sent = check_ints(2 * LARGE_INTS);
    received = check_ints(2 * LARGE_INTS);
    MPI_Comm_dup(MPI_COMM_WORLD, &one);
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    MPI_Comm_create_errhandler(hear, &handler);
    MPI_Comm_set_errhandler(one, handler);
    MPI_Comm_set_errhandler(other, handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    receive();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&handler);
    MPI_Comm_free(&one);
    MPI_Comm_free(&other);
    free(sent);
    free(received);
    MPI_Finalize();
    return 0;
}
