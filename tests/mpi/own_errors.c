/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: calls with a type that is none, on a communicator whose handler returns errors, while that of
 * MPI_COMM_WORLD ends the job: each returns its error, and leaves in the program's variable what was there.
 * And posts that fail under a handler of the program's which returns: what their variables held before is no
 * request, and the handler hears of each once; also of those that have no room for a request. */
#include "check.h"

static MPI_Comm own;

static void report_class(const char *name, int rc)
{
    int class = MPI_SUCCESS;
    MPI_Error_class(rc, &class);
    check_report(name, class == MPI_ERR_TYPE);
}

static void fail(void)
{
    int value = 0, peer = check_rank ^ 1;
    MPI_Request request;
    report_class("Send", MPI_Send(&value, 1, MPI_DATATYPE_NULL, peer, 1, own));
    report_class("Isend", MPI_Isend(&value, 1, MPI_DATATYPE_NULL, peer, 1, own, &request));
    report_class("Irecv", MPI_Irecv(&value, 1, MPI_DATATYPE_NULL, peer, 1, own, &request));
    report_class("Send_init", MPI_Send_init(&value, 1, MPI_DATATYPE_NULL, peer, 1, own, &request));
#if MPI_VERSION >= 4
    report_class("Isendrecv", MPI_Isendrecv(&value, 1, MPI_DATATYPE_NULL, peer, 1, &value, 1, MPI_INT, peer,
                                            1, own, &request));
#endif
    report_class("Ibcast", MPI_Ibcast(&value, 1, MPI_DATATYPE_NULL, 0, own, &request));
}

static void keep_requests(void)
{
    MPI_Request before, posts[4];
    int *memory = check_ints(LARGE_INTS);
    memset(&before, 'U', sizeof before);
    memset(posts, 'U', sizeof posts);
    CHECK(MPI_Isend(memory, LARGE_INTS, MPI_INT, check_size, 4, own, &posts[0]) != MPI_SUCCESS);
    CHECK(MPI_Irecv(memory, LARGE_INTS, MPI_INT, check_size, 4, own, &posts[1]) != MPI_SUCCESS);
    CHECK(MPI_Recv_init(memory, LARGE_INTS, MPI_INT, check_size, 4, own, &posts[2]) != MPI_SUCCESS);
    CHECK(MPI_Ibcast(memory, LARGE_INTS, MPI_INT, check_size, own, &posts[3]) != MPI_SUCCESS);
    for (int i = 0; i < 4; i++)
        check_report("kept", memcmp(&posts[i], &before, sizeof before) == 0);
    free(memory);
}

/* The same while something is outstanding, when the time of posts is taken. */
static void exchange(void)
{
    MPI_Request requests[2];
    int *sent = check_ints(LARGE_INTS), *received = check_ints(LARGE_INTS), peer = check_rank ^ 1;
    check_fill(sent, LARGE_INTS, (unsigned)check_rank);
    MPI_Irecv(received, LARGE_INTS, MPI_INT, peer, 2, own, &requests[0]);
    fail();
    MPI_Isend(sent, LARGE_INTS, MPI_INT, peer, 2, own, &requests[1]);
    check_compute(COMPUTE_US);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    CHECK(check_is_filled(received, LARGE_INTS, (unsigned)peer));
    free(sent);
    free(received);
}

static int heard;

static void hear(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
    heard++;
}

static void set_handlers(MPI_Errhandler at_own, MPI_Errhandler elsewhere)
{
    MPI_Comm_set_errhandler(own, at_own);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, elsewhere);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, elsewhere);
}

static void post_of_no_type(int *memory)
{
    MPI_Request posts[4];
    int peer = check_rank ^ 1;
    heard = 0;
    MPI_Isend(memory, LARGE_INTS, MPI_DATATYPE_NULL, peer, 3, own, &posts[0]);
    MPI_Irecv(memory, LARGE_INTS, MPI_DATATYPE_NULL, peer, 3, own, &posts[1]);
    MPI_Recv_init(memory, LARGE_INTS, MPI_DATATYPE_NULL, peer, 3, own, &posts[2]);
    MPI_Ibcast(memory, LARGE_INTS, MPI_DATATYPE_NULL, 0, own, &posts[3]);
    MPI_Send(memory, LARGE_INTS, MPI_DATATYPE_NULL, peer, 3, own);
    check_report("heard-of-no-type", (uint64_t)heard);
}

static void post_nowhere(int *memory)
{
    int peer = check_rank ^ 1;
    heard = 0;
    MPI_Isend(memory, LARGE_INTS, MPI_INT, peer, 3, own, NULL);
    MPI_Ibsend(memory, LARGE_INTS, MPI_INT, peer, 3, own, NULL);
    MPI_Irecv(memory, LARGE_INTS, MPI_INT, peer, 3, own, NULL);
    MPI_Recv_init(memory, LARGE_INTS, MPI_INT, peer, 3, own, NULL);
#ifndef OPEN_MPI /* which does not look */
    MPI_Ibcast(memory, LARGE_INTS, MPI_INT, 0, own, NULL);
#endif
    check_report("heard-of-nowhere", (uint64_t)heard);
}

/* MPICH 5 returns MPI_SUCCESS then. */
static void post_in_vain(void)
{
    MPI_Errhandler handler;
    MPI_Request posts[3];
    int *memory = check_ints(LARGE_INTS);
    MPI_Comm_create_errhandler(hear, &handler);
    set_handlers(handler, handler);
    MPI_Errhandler_free(&handler);
    memset(posts, 'U', sizeof posts);
    MPI_Isend(memory, LARGE_INTS, MPI_INT, check_size, 3, own, &posts[0]);
    MPI_Irecv(memory, LARGE_INTS, MPI_INT, check_size, 3, own, &posts[1]);
    MPI_Ireduce(memory, memory + 1, 1, MPI_INT, MPI_SUM, check_size, own, &posts[2]);
    check_compute(COMPUTE_US);
    check_report("heard", (uint64_t)heard);
    post_of_no_type(memory);
    post_nowhere(memory);
    set_handlers(MPI_ERRORS_RETURN, MPI_ERRORS_ARE_FATAL);
    free(memory);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    check_begin();
    MPI_Comm_dup(MPI_COMM_WORLD, &own);
    MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
    fail();
    keep_requests();
    exchange();
    post_in_vain();
    exchange();
    MPI_Comm_free(&own);
    MPI_Finalize();
    return 0;
}
