/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: moved_refused LEVEL [own]: calls that send and receive of which the MPI refuses one half,
 * whose errors return or are heard by a handler of the program's. They return, nothing is sent or received of
 * them, also where a probe has seen the message before; and no post that is refused leaves a request. */
#include "check.h"

enum { TICKET_INTS = 12, TAG = 1, PROBED_TAG = 2, POSTS = 3 };

static MPI_Comm comm;
static MPI_Errhandler handler = MPI_ERRORS_RETURN;
static int heard, peer;
static int *sent, *received;

static void hear(MPI_Comm *at, int *code, ...)
{
    (void)at, (void)code;
    heard++;
}

/* MPICH 5 returns MPI_SUCCESS after a handler. */
static void expect(const char *name, int rc)
{
    CHECK(rc != MPI_SUCCESS || heard > 0);
    CHECK(handler == MPI_ERRORS_RETURN || heard == 1);
    heard = 0;
    check_report(name, 1);
}

static void refuse_halves(void)
{
    MPI_Status status;
    expect("sent", MPI_Sendrecv(sent, LARGE_INTS, MPI_INT, check_size, TAG, received, LARGE_INTS, MPI_INT,
                                peer, TAG, comm, &status));
    expect("received", MPI_Sendrecv(sent, LARGE_INTS, MPI_INT, peer, TAG, received, LARGE_INTS, MPI_INT,
                                    check_size, TAG, comm, &status));
    expect("replaced-sent",
           MPI_Sendrecv_replace(received, LARGE_INTS, MPI_INT, check_size, TAG, peer, TAG, comm, &status));
    expect("replaced-received",
           MPI_Sendrecv_replace(received, LARGE_INTS, MPI_INT, peer, TAG, check_size, TAG, comm, &status));
}

static void refuse_posts(void)
{
    MPI_Request before, posts[POSTS];
    memset(&before, 'U', sizeof before);
    memset(posts, 'U', sizeof posts);
    expect("isend", MPI_Isend(sent, LARGE_INTS, MPI_INT, check_size, TAG, comm, &posts[0]));
    expect("irecv", MPI_Irecv(received, LARGE_INTS, MPI_INT, check_size, TAG, comm, &posts[1]));
    expect("recv-init", MPI_Recv_init(received, LARGE_INTS, MPI_INT, check_size, TAG, comm, &posts[2]));
    for (int i = 0; i < POSTS && handler == MPI_ERRORS_RETURN; i++)
        check_report("kept", memcmp(&posts[i], &before, sizeof before) == 0);
}

static void exchange(void)
{
    MPI_Status status;
    memset(received, 0, LARGE_INTS * sizeof *received);
    CHECK(MPI_Sendrecv(sent, LARGE_INTS, MPI_INT, peer, TAG, received, LARGE_INTS, MPI_INT, peer, TAG, comm,
                       &status) == MPI_SUCCESS);
    CHECK(check_is_filled(received, LARGE_INTS, (unsigned)peer));
    check_report("exchanged", check_digest(received, LARGE_INTS * sizeof *received));
}

/* As long as a ticket: the probe takes it from the MPI. */
static void probe_before(void)
{
    MPI_Request request;
    MPI_Status status;
    MPI_Isend(sent, TICKET_INTS, MPI_INT, peer, PROBED_TAG, comm, &request);
    MPI_Probe(peer, PROBED_TAG, comm, &status);
    expect("probed", MPI_Sendrecv(sent, 1, MPI_INT, check_size, TAG, received, TICKET_INTS, MPI_INT, peer,
                                  PROBED_TAG, comm, &status));
    memset(received, 0, TICKET_INTS * sizeof *received);
    MPI_Recv(received, TICKET_INTS, MPI_INT, peer, PROBED_TAG, comm, &status);
    CHECK(check_is_filled(received, TICKET_INTS, (unsigned)peer));
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check_report("received-after", 1);
}

int main(int argc, char **argv)
{
    int level = argc > 1 && strcmp(argv[1], "multiple") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED;
    MPI_Init_thread(&argc, &argv, level, &level);
    check_begin();
    peer = check_size - 1 - check_rank;
    sent = check_ints(LARGE_INTS);
    received = check_ints(LARGE_INTS);
    check_fill(sent, LARGE_INTS, (unsigned)check_rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (argc > 2)
        MPI_Comm_create_errhandler(hear, &handler);
    MPI_Comm_set_errhandler(comm, handler);
    refuse_halves();
    refuse_posts();
    exchange();
    if (level != MPI_THREAD_MULTIPLE) /* there the receive comes first */
        probe_before();
    exchange();
    MPI_Comm_free(&comm);
    if (argc > 2)
        MPI_Errhandler_free(&handler);
    free(sent);
    free(received);
    MPI_Finalize();
    return 0;
}
