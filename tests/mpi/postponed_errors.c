/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: large receives that are too small for their messages, with sends right after them, on
 * communicators with handlers of their own: which handler hears of it, in which call, and what that returns.
 * On Open MPI 4 in each call that completes them: others hang there, keep the request, or raise it again,
 * plain. */
#include "check.h"

#if defined OPEN_MPI && OMPI_MAJOR_VERSION < 5
#define IS_OPEN_MPI_4 1
#endif

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

#if IS_OPEN_MPI_4
enum way { WAITALL, WAITALL_IGNORING, TESTALL, TESTALL_IGNORING, TESTANY, WAYS };
static const char *const names[WAYS] = {"Waitall", "Waitall ignoring", "Testall", "Testall ignoring",
                                        "Testany"};

/* One call that completes one of two: the other one is null, or complete and right. */
static int complete(enum way way, MPI_Request requests[2], MPI_Status statuses[2])
{
    MPI_Status *where = way == WAITALL_IGNORING || way == TESTALL_IGNORING ? MPI_STATUSES_IGNORE : statuses;
    int flag = 0, index, rc = MPI_SUCCESS;
    if (way == WAITALL || way == WAITALL_IGNORING)
        return MPI_Waitall(2, requests, where);
    while (!flag && rc == MPI_SUCCESS)
        rc = way == TESTANY ? MPI_Testany(2, requests, &index, &flag, where)
                            : MPI_Testall(2, requests, &flag, where);
    return rc;
}

/* Its message has come before, and the one of a receive that is right. */
static void complete_each(void)
{
    for (enum way way = 0; way < WAYS; way++) {
        MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL}, sends[2];
        MPI_Status statuses[2];
        MPI_Isend(sent, LARGE_INTS, MPI_INT, peer, 1, one, &sends[0]);
        MPI_Barrier(other);
        check_compute(COMPUTE_US);
        MPI_Irecv(received, SMALL_INTS, MPI_INT, peer, 1, one, &requests[0]);
        if (way != TESTANY)
            MPI_Irecv(received + LARGE_INTS, LARGE_INTS, MPI_INT, peer, 2, one, &requests[1]);
        MPI_Isend(sent, LARGE_INTS, MPI_INT, peer, 2, one, &sends[1]);
        check_compute(COMPUTE_US); /* for the thread, which may complete it */
        step(names[way], complete(way, requests, statuses));
        CHECK(requests[0] == MPI_REQUEST_NULL);
        if (way == TESTANY)
            MPI_Irecv(received, LARGE_INTS, MPI_INT, peer, 2, one, &requests[1]);
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE); /* some MPIs come back before it is complete */
        MPI_Waitall(2, sends, MPI_STATUSES_IGNORE);
        memset(heard, 0, sizeof heard); /* whether senders learn of it is the MPI's choice */
    }
}

#endif

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
#if IS_OPEN_MPI_4
    complete_each();
#endif
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&handler);
    MPI_Comm_free(&one);
    MPI_Comm_free(&other);
    free(sent);
    free(received);
    MPI_Finalize();
    return 0;
}
