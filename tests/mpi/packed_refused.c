/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: messages with gaps that the MPI refuses, of which a handler of the program's hears, or whose
 * errors return: what the variables of posts held before is no request, and nothing is received. */
#include "check.h"

enum { REPEATS = 20, ROWS = 1024 };

static int heard, memory[ROWS][2], other[ROWS][2];

static void hear(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
    heard++;
}

static void post(MPI_Datatype column, MPI_Comm comm)
{
    MPI_Request before, posts[4];
    memset(&before, 'U', sizeof before);
    memset(posts, 'U', sizeof posts);
    int refused = 0;
    refused += MPI_Isend(memory, 1, column, check_size, 1, comm, &posts[0]) != MPI_SUCCESS;
    refused += MPI_Irecv(memory, 1, column, check_size, 1, comm, &posts[1]) != MPI_SUCCESS;
    refused += MPI_Send_init(memory, 1, column, check_size, 1, comm, &posts[2]) != MPI_SUCCESS;
    refused += MPI_Recv_init(memory, 1, column, check_size, 1, comm, &posts[3]) != MPI_SUCCESS;
    for (int i = 0; i < 4; i++)
        CHECK(refused != 4 || memcmp(&posts[i], &before, sizeof before) == 0);
}

/* The status is of another message. */
static void receive(MPI_Datatype column, MPI_Comm comm)
{
    MPI_Status status;
    memset(memory, 'V', sizeof memory);
    MPI_Sendrecv(memory, 1, column, check_rank, 3, other, 1, column, check_rank, 3, MPI_COMM_WORLD, &status);
    memset(other, 'W', sizeof other);
    MPI_Recv(other, 1, column, check_size, 3, comm, &status);
    MPI_Sendrecv(memory, 1, column, check_rank, 3, other, 1, column, check_size, 3, comm, &status);
    for (size_t i = 0; i < sizeof other; i++)
        CHECK(((const char *)other)[i] == 'W');
}

static void send_self(MPI_Datatype column, MPI_Comm comm)
{
    MPI_Request request;
    MPI_Irecv(memory, 1, column, check_rank, 2, comm, &request);
    MPI_Send(memory, 1, column, check_rank, 2, comm);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    check_begin();
    MPI_Comm own;
    MPI_Datatype column;
    MPI_Errhandler handler;
    MPI_Comm_dup(MPI_COMM_WORLD, &own);
    MPI_Comm_create_errhandler(hear, &handler);
    MPI_Type_vector(ROWS, 1, 2, MPI_INT, &column);
    MPI_Type_commit(&column);
    for (int i = 0; i < REPEATS; i++) {
        MPI_Comm_set_errhandler(own, i % 2 ? handler : MPI_ERRORS_RETURN);
        post(column, own);
        receive(column, own);
        if (i < REPEATS / 2)
            send_self(column, own);
    }
    check_compute(COMPUTE_US);
    check_report("heard", (uint64_t)heard);
    MPI_Errhandler_free(&handler);
    MPI_Type_free(&column);
    MPI_Comm_free(&own);
    MPI_Finalize();
    return 0;
}
