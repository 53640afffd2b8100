/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: sealed_refused [own]: on a sealed communicator small messages of a datatype that was not
 * committed, whose errors return, or are heard by a handler of its own: the MPI refuses the call. None of
 * them counts, when large messages are probed for or come late. Large ones are refused as well, where ghosts
 * move messages in place of the MPI, and so is what goes both ways if one half is wrong. */
#include "check.h"

#include <limits.h>
#include <unistd.h>

enum { LARGE = 20000, REFUSALS = 6, HALF_TAG = 9 };

/* As long as ghosts look twice for receives that are too short. */
enum { LATE_S = 3 };

static MPI_Comm comm;
static MPI_Datatype refused;
static int small[2], *large;

static MPI_Errhandler handler = MPI_ERRORS_RETURN;
static int heard;

static void hear(MPI_Comm *at, int *code, ...)
{
    (void)at, (void)code;
    heard++;
}

/* MPICH 5 returns MPI_SUCCESS after a handler. */
static void expect(const char *name, int rc)
{
    int class = MPI_SUCCESS;
    MPI_Error_class(rc, &class);
    CHECK(class != MPI_SUCCESS || heard > 0);
    CHECK(handler == MPI_ERRORS_RETURN || heard == 1);
    heard = 0;
    check_report(name, 1);
}

/* With a tag each. */
static void send(int peer)
{
    MPI_Request request;
    expect("Send", MPI_Send(small, 1, refused, peer, 0, comm));
    expect("Ssend", MPI_Ssend(small, 1, refused, peer, 1, comm));
    expect("Isend", MPI_Isend(small, 1, refused, peer, 2, comm, &request));
    expect("Issend", MPI_Issend(small, 1, refused, peer, 3, comm, &request));
    expect("Bsend", MPI_Bsend(small, 1, refused, peer, 5, comm));
    expect("Sendrecv", MPI_Sendrecv(small, 1, refused, peer, 4, small, 1, MPI_INT, peer, REFUSALS, comm,
                                    MPI_STATUS_IGNORE));
    for (int tag = 0; tag < REFUSALS; tag++)
        CHECK(MPI_Send(large, LARGE, MPI_INT, peer, tag, comm) == MPI_SUCCESS);
}

static void probe(int peer)
{
    MPI_Status status;
    int count;
    for (int tag = 0; tag < REFUSALS; tag++) {
        CHECK(MPI_Probe(peer, tag, comm, &status) == MPI_SUCCESS);
        MPI_Get_count(&status, MPI_INT, &count);
        CHECK(count == LARGE);
        CHECK(MPI_Recv(large, LARGE, MPI_INT, peer, tag, comm, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    }
    check_report("probed", REFUSALS);
}

static void come_late(int peer)
{
    MPI_Request request;
    expect("Recv", MPI_Recv(small, 1, refused, peer, 0, comm, MPI_STATUS_IGNORE));
    expect("Irecv", MPI_Irecv(small, 1, refused, peer, 1, comm, &request));
    sleep(LATE_S);
    for (int tag = 0; tag < 2; tag++)
        CHECK(MPI_Recv(large, LARGE, MPI_INT, peer, tag, comm, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    check_report("late", 2);
}

/* Open MPI takes all that an int can be. */
static int tag_beyond(void)
{
    int *most, flag;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &most, &flag);
    return *most < INT_MAX ? *most + 1 : -5;
}

/* Nothing is sent of a call whose other half is wrong. */
static void send_halves(int peer)
{
    large[0] = 1;
    expect("half-type", MPI_Sendrecv(large, LARGE, MPI_INT, peer, HALF_TAG, small, 1, refused, peer, HALF_TAG,
                                     comm, MPI_STATUS_IGNORE));
    expect("half-rank", MPI_Sendrecv(large, LARGE, MPI_INT, peer, HALF_TAG, small, 1, MPI_INT, check_size,
                                     HALF_TAG, comm, MPI_STATUS_IGNORE));
    expect("half-tag", MPI_Sendrecv_replace(large, LARGE, MPI_INT, peer, HALF_TAG, peer, tag_beyond(), comm,
                                            MPI_STATUS_IGNORE));
    expect("half-sent", MPI_Sendrecv(small, 1, refused, peer, HALF_TAG, large, LARGE, MPI_INT, peer, HALF_TAG,
                                     comm, MPI_STATUS_IGNORE));
#if MPI_VERSION >= 4 || (defined OMPI_MAJOR_VERSION && OMPI_MAJOR_VERSION >= 5)
    MPI_Request request;
    expect("half-later", MPI_Isendrecv(large, LARGE, MPI_INT, peer, HALF_TAG, small, 1, refused, peer,
                                       HALF_TAG, comm, &request));
    expect("half-replaced",
           MPI_Isendrecv_replace(large, LARGE, MPI_INT, peer, HALF_TAG, peer, tag_beyond(), comm, &request));
#endif
    large[0] = 2;
    CHECK(MPI_Send(large, LARGE, MPI_INT, peer, HALF_TAG, comm) == MPI_SUCCESS);
}

static void receive_whole(int peer)
{
    CHECK(MPI_Recv(large, LARGE, MPI_INT, peer, HALF_TAG, comm, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    check_report("whole", (uint64_t)large[0]);
}

/* What ghosts would move: the MPI refuses that, too. */
static void send_large(MPI_Comm on, int peer)
{
    MPI_Request request;
    MPI_Datatype dense, sparse;
    MPI_Type_contiguous(LARGE, MPI_INT, &dense);
    MPI_Type_vector(LARGE / 2000, 1000, 2000, MPI_INT, &sparse);
    MPI_Comm_set_errhandler(on, handler);
    expect("large", MPI_Isend(large, 1, dense, peer, 7, on, &request));
    for (int i = 0; i < 3; i++)
        expect("large-sparse", MPI_Isend(large, 1, sparse, peer, 7, on, &request));
    expect("large-received", MPI_Irecv(large, 1, dense, peer, 7, on, &request));
    expect("large-nowhere", MPI_Isend(NULL, LARGE, MPI_INT, peer, 7, on, &request));
    request = MPI_REQUEST_NULL;
    expect("large-tag", MPI_Isend(large, LARGE, MPI_INT, peer, tag_beyond(), on, &request));
    CHECK(request == MPI_REQUEST_NULL || handler == MPI_ERRORS_RETURN);
    MPI_Type_free(&dense);
    MPI_Type_free(&sparse);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    check_begin();
    comm = check_seal(MPI_COMM_WORLD);
    if (argc > 1)
        MPI_Comm_create_errhandler(hear, &handler);
    MPI_Comm_set_errhandler(comm, handler);
    MPI_Type_contiguous(2, MPI_INT, &refused);
    large = check_ints(LARGE);
    MPI_Comm unsealed;
    MPI_Comm_dup(MPI_COMM_WORLD, &unsealed);
    send_large(comm, check_size - 1 - check_rank);
    send_large(unsealed, check_size - 1 - check_rank);
    MPI_Comm_free(&unsealed);
    if (check_rank == 0) {
        send_halves(check_size - 1);
        send(check_size - 1);
        for (int tag = 0; tag < 2; tag++)
            CHECK(MPI_Send(large, LARGE, MPI_INT, check_size - 1, tag, comm) == MPI_SUCCESS);
    } else if (check_rank == check_size - 1) {
        receive_whole(0);
        probe(0);
        come_late(0);
    }
    MPI_Barrier(comm);
    MPI_Type_free(&refused);
    MPI_Comm_free(&comm);
    free(large);
    if (argc > 1)
        MPI_Errhandler_free(&handler);
    MPI_Finalize();
    return 0;
}
