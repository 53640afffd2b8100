/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: large receives with sends right after them, which the library may begin late: in which order
 * they match, what handles and statuses show, and who ends them. */
#include "check.h"

enum { ROUNDS = 6, MANY = 70, SMALL_INTS = 8 };

static int *sent, *received;
static int peer;

/* Teaches the library that sends follow receives. */
static void exchange(const char *name, bool has_array)
{
    uint64_t digest = 0;
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Request requests[2];
        MPI_Status statuses[2];
        int count;
        check_fill(sent, LARGE_INTS, (unsigned)(check_rank + 10 * round));
        MPI_Irecv(received, LARGE_INTS, MPI_INT, peer, round, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(sent, LARGE_INTS, MPI_INT, peer, round, MPI_COMM_WORLD, &requests[1]);
        check_compute(COMPUTE_US);
        if (has_array)
            MPI_Waitall(2, requests, statuses);
        for (int i = 0; i < 2 && !has_array; i++)
            MPI_Wait(&requests[i], &statuses[i]);
        CHECK(requests[0] == MPI_REQUEST_NULL && requests[1] == MPI_REQUEST_NULL);
        MPI_Get_count(&statuses[0], MPI_INT, &count);
        CHECK(count == LARGE_INTS && statuses[0].MPI_SOURCE == peer && statuses[0].MPI_TAG == round);
        CHECK(check_is_filled(received, LARGE_INTS, (unsigned)(peer + 10 * round)));
        digest += check_digest(received, LARGE_INTS * sizeof(int));
    }
    check_report(name, digest);
}

/* The same tag: the first receive gets the first message, whatever their sizes. */
static void in_order(void)
{
    int *parts[3] = {received, received + LARGE_INTS, received + LARGE_INTS + SMALL_INTS};
    int counts[3] = {LARGE_INTS, SMALL_INTS, LARGE_INTS};
    MPI_Request requests[6];
    for (int i = 0; i < 3; i++)
        MPI_Irecv(parts[i], counts[i], MPI_INT, peer, 7, MPI_COMM_WORLD, &requests[i]);
    check_fill(sent, 3 * LARGE_INTS, (unsigned)check_rank);
    for (int i = 0; i < 3; i++)
        MPI_Isend(sent + i * LARGE_INTS, counts[i], MPI_INT, peer, 7, MPI_COMM_WORLD, &requests[3 + i]);
    MPI_Waitall(6, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 3; i++)
        check_report("in order", check_digest(parts[i], (size_t)counts[i] * sizeof(int)));
}

/* A blocking receive after a posted one, of the same tag. */
static void before_a_blocking_one(void)
{
    MPI_Request requests[3];
    check_fill(sent, 2 * LARGE_INTS, (unsigned)check_rank + 3);
    MPI_Irecv(received, LARGE_INTS, MPI_INT, peer, 8, MPI_COMM_WORLD, &requests[0]);
    for (int i = 0; i < 2; i++)
        MPI_Isend(sent + i * LARGE_INTS, LARGE_INTS, MPI_INT, peer, 8, MPI_COMM_WORLD, &requests[1 + i]);
    MPI_Recv(received + LARGE_INTS, LARGE_INTS, MPI_INT, peer, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    check_report("blocking", check_digest(received, 2 * LARGE_INTS * sizeof(int)));
}

/* More than are postponed at once; completed one by one, in any order. */
static void many(void)
{
    static MPI_Request requests[2 * MANY];
    int left = 2 * MANY, ints = LARGE_INTS / MANY;
    check_fill(sent, MANY * ints, (unsigned)check_rank + 4);
    for (int i = 0; i < MANY; i++)
        MPI_Irecv(received + i * ints, ints, MPI_INT, peer, 9, MPI_COMM_WORLD, &requests[i]);
    for (int i = 0; i < MANY; i++)
        MPI_Isend(sent + i * ints, ints, MPI_INT, peer, 9, MPI_COMM_WORLD, &requests[MANY + i]);
    while (left > 0) {
        int index, flag = 0, counts[2 * MANY], some = 0;
        MPI_Waitany(2 * MANY, requests, &index, MPI_STATUS_IGNORE);
        CHECK(index != MPI_UNDEFINED && requests[index] == MPI_REQUEST_NULL);
        left--;
        MPI_Testany(2 * MANY, requests, &index, &flag, MPI_STATUS_IGNORE);
        left -= flag && index != MPI_UNDEFINED;
        MPI_Testsome(2 * MANY, requests, &some, counts, MPI_STATUSES_IGNORE);
        left -= some == MPI_UNDEFINED ? 0 : some;
    }
    for (int i = 0; i < 2 * MANY; i++)
        CHECK(requests[i] == MPI_REQUEST_NULL);
    check_report("many", check_digest(received, (size_t)(MANY * ints) * sizeof(int)));
}

/* Asked for before it is completed, freed while it is active, cancelled. */
static void other_ends(void)
{
    MPI_Request requests[2];
    MPI_Status status;
    int flag = 0, count;
    check_fill(sent, LARGE_INTS, (unsigned)check_rank + 5);
    MPI_Irecv(received, LARGE_INTS, MPI_INT, peer, 10, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(sent, LARGE_INTS, MPI_INT, peer, 10, MPI_COMM_WORLD, &requests[1]);
    while (!flag)
        MPI_Request_get_status(requests[0], &flag, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK(count == LARGE_INTS && status.MPI_SOURCE == peer && requests[0] != MPI_REQUEST_NULL);
    MPI_Request_get_status(requests[0], &flag, &status);
    CHECK(flag);
    flag = 0;
    MPI_Test(&requests[0], &flag, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK(flag && count == LARGE_INTS && status.MPI_TAG == 10 && requests[0] == MPI_REQUEST_NULL);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    check_report("asked", check_digest(received, LARGE_INTS * sizeof(int)));

    MPI_Irecv(received, LARGE_INTS, MPI_INT, peer, 11, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(sent, LARGE_INTS, MPI_INT, peer, 11, MPI_COMM_WORLD, &requests[1]);
    MPI_Request_free(&requests[0]);
    CHECK(requests[0] == MPI_REQUEST_NULL);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);

    MPI_Irecv(received + LARGE_INTS, LARGE_INTS, MPI_INT, peer, 12, MPI_COMM_WORLD, &requests[0]);
    MPI_Cancel(&requests[0]);
    MPI_Wait(&requests[0], &status);
    MPI_Test_cancelled(&status, &flag);
    CHECK(flag && requests[0] == MPI_REQUEST_NULL);
}

/* A receive without a send, a call between them, and nothing at all until the end. */
static void alone(void)
{
    MPI_Request requests[2];
    int *from = check_rank == 0 ? sent : received;
    check_fill(sent, LARGE_INTS, 6);
    if (check_rank == 1) {
        MPI_Irecv(from, LARGE_INTS, MPI_INT, peer, 13, MPI_COMM_WORLD, &requests[0]);
        check_compute(COMPUTE_US);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank == 0)
        MPI_Isend(from, LARGE_INTS, MPI_INT, peer, 13, MPI_COMM_WORLD, &requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    check_report("alone", check_digest(from, LARGE_INTS * sizeof(int)));

    MPI_Irecv(received, LARGE_INTS, MPI_INT, MPI_PROC_NULL, 14, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(sent, LARGE_INTS, MPI_INT, MPI_PROC_NULL, 14, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);

    MPI_Irecv(received, LARGE_INTS, MPI_INT, MPI_ANY_SOURCE, 15, MPI_COMM_WORLD, &requests[0]);
    MPI_Sendrecv(sent, LARGE_INTS, MPI_INT, peer, 15, received + LARGE_INTS, SMALL_INTS, MPI_INT,
                 MPI_PROC_NULL, 15, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    check_report("any source", check_digest(received, LARGE_INTS * sizeof(int)));
}

static MPI_Request awaited;

/* Exchanges and completes what the program had posted before its erroneous call. */
static void finish(MPI_Comm *comm, int *code, ...)
{
    MPI_Request request;
    MPI_Status status;
    int count;
    (void)comm;
    (void)code;
    MPI_Isend(sent, LARGE_INTS, MPI_INT, peer, 17, MPI_COMM_WORLD, &request);
    MPI_Wait(&awaited, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK(count == LARGE_INTS && status.MPI_SOURCE == peer && awaited == MPI_REQUEST_NULL);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void within_a_handler(void)
{
    MPI_Errhandler handler;
    MPI_Request request;
    MPI_Comm_create_errhandler(finish, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    check_fill(sent, LARGE_INTS, (unsigned)check_rank + 7);
    MPI_Irecv(received, LARGE_INTS, MPI_INT, peer, 17, MPI_COMM_WORLD, &awaited);
    CHECK(MPI_Isend(sent, LARGE_INTS, MPI_INT, check_size + 5, 17, MPI_COMM_WORLD, &request) != MPI_SUCCESS);
    check_report("handler", check_digest(received, LARGE_INTS * sizeof(int)));
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&handler);
}

/* A collective between the receive and its send. */
static void others_between(void)
{
    MPI_Request requests[2];
    int one = 1, sum = 0;
    check_fill(sent, LARGE_INTS, (unsigned)check_rank + 8);
    MPI_Irecv(received, LARGE_INTS, MPI_INT, peer, 18, MPI_COMM_WORLD, &requests[0]);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == check_size);
    MPI_Isend(sent, LARGE_INTS, MPI_INT, peer, 18, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    check_report("between", check_digest(received, LARGE_INTS * sizeof(int)));
}

/* The message is longer than its receive. */
static void too_long(void)
{
    MPI_Request requests[2];
    MPI_Status statuses[2];
    int class = MPI_SUCCESS;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN); /* MPICH 5 raises it there */
    MPI_Irecv(received, LARGE_INTS / 2, MPI_INT, peer, 16, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(sent, LARGE_INTS, MPI_INT, peer, 16, MPI_COMM_WORLD, &requests[1]);
    int rc = MPI_Waitall(2, requests, statuses);
    MPI_Error_class(rc == MPI_ERR_IN_STATUS ? statuses[0].MPI_ERROR : rc, &class);
    CHECK(class == MPI_ERR_TRUNCATE && requests[0] == MPI_REQUEST_NULL);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE); /* it may go on */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    check_begin();
    peer = check_rank ^ 1;
    sent = calloc(3 * LARGE_INTS, sizeof *sent);
    received = calloc(3 * LARGE_INTS, sizeof *received);
    exchange("waitall", true);
    exchange("wait", false);
    in_order();
    exchange("again", true);
    before_a_blocking_one();
    exchange("again", true);
    many();
    exchange("again", true);
    other_ends();
    exchange("again", true);
    alone();
    exchange("again", true);
#ifdef OPEN_MPI /* others may be built without a check of ranks */
    within_a_handler();
#else
    (void)within_a_handler;
#endif
    exchange("again", true);
    others_between();
    exchange("again", true);
    too_long();
    free(sent);
    free(received);
    MPI_Finalize();
    return 0;
}
