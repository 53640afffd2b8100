/* SPDX-License-Identifier: BSD-3-Clause */
/* Argument: 1 if MPI_Request_free is called, which not every MPI refuses. Description: wrong calls of
 * nonblocking collectives, with MPI_ERRORS_RETURN, each followed by right ones. What MPIs disagree about is
 * left to MPICH and Intel MPI. */
#include "coll.h"

enum { BYTES = 1 << 18, RANKS_MAX = 64 };

static char *from, *to;

static void say(const char *what, int rc)
{
    if (rank == 0)
        printf("%s: %s\n", what, rc == MPI_SUCCESS ? "taken" : "refused");
}

static void check(const char *what, int first)
{
    int wrong = 0;
    for (int sender = 0; sender < size; sender++)
        for (int i = 0; i < BYTES; i++)
            wrong += to[sender * BYTES + i] != (char)(first + sender);
    printf("%d: %s: %d wrong\n", rank, what, wrong);
}

static void alltoall(MPI_Request *request, int first)
{
    memset(from, first + rank, (size_t)size * BYTES);
    memset(to, -1, (size_t)size * BYTES);
    MPI_Ialltoall(from, BYTES, MPI_CHAR, to, BYTES, MPI_CHAR, MPI_COMM_WORLD, request);
}

/* A request of a collective that is not over must not be cancelled or freed. */
static void refuse_requests(int is_freed)
{
    MPI_Request request = MPI_REQUEST_NULL;
    if (rank == 0) {
        alltoall(&request, 1);
        say("MPI_Cancel", MPI_Cancel(&request));
        if (is_freed)
            say("MPI_Request_free", MPI_Request_free(&request));
    }
    for (int other = 1; rank == 0 && other < size; other++)
        MPI_Send(NULL, 0, MPI_INT, other, 0, MPI_COMM_WORLD);
    if (rank != 0) {
        MPI_Recv(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        alltoall(&request, 1);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check("after both", 1);
}

static void refuse_buffers(void)
{
    MPI_Request request;
    say("MPI_Iallreduce into MPI_IN_PLACE",
        MPI_Iallreduce(from, MPI_IN_PLACE, BYTES / 4, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &request));
#ifndef OPEN_MPI
    int counts[RANKS_MAX], displs[RANKS_MAX];
    for (int i = 0; i < size; i++) {
        counts[i] = BYTES;
        displs[i] = i * BYTES;
    }
    say("MPI_Ibcast of NULL", MPI_Ibcast(NULL, BYTES, MPI_CHAR, 0, MPI_COMM_WORLD, &request));
    say("MPI_Iallreduce into NULL",
        MPI_Iallreduce(from, NULL, BYTES / 4, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &request));
    say("MPI_Iallgather into NULL",
        MPI_Iallgather(from, BYTES, MPI_CHAR, NULL, BYTES, MPI_CHAR, MPI_COMM_WORLD, &request));
    say("MPI_Iallreduce of one buffer",
        MPI_Iallreduce(from, from, BYTES / 4, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &request));
    say("MPI_Ialltoall of one buffer",
        MPI_Ialltoall(from, BYTES, MPI_CHAR, from, BYTES, MPI_CHAR, MPI_COMM_WORLD, &request));
    say("MPI_Ialltoallv of one buffer", MPI_Ialltoallv(from, counts, displs, MPI_CHAR, from, counts, displs,
                                                       MPI_CHAR, MPI_COMM_WORLD, &request));
    say("MPI_Iallgather of one buffer",
        MPI_Iallgather(to + rank * BYTES, BYTES, MPI_CHAR, to, BYTES, MPI_CHAR, MPI_COMM_WORLD, &request));
#endif
}

/* Two datatypes may pick different parts of one array. */
static void take_fields(void)
{
    enum { PAIRS = BYTES / 2 };
    MPI_Datatype left, right;
    MPI_Request request;
    const MPI_Aint at[] = {0, 1};
    int length = 1, wrong = 0;
    char *pairs = malloc((size_t)size * 2 * PAIRS);
    for (int i = 0; i < 2; i++) {
        MPI_Datatype one, *type = i == 0 ? &left : &right;
        MPI_Type_create_hindexed(1, &length, &at[i], MPI_CHAR, &one);
        MPI_Type_create_resized(one, 0, 2, type);
        MPI_Type_commit(type);
        MPI_Type_free(&one);
    }
    for (int i = 0; i < size * PAIRS; i++) {
        pairs[2 * i] = (char)(60 + rank);
        pairs[2 * i + 1] = -1;
    }
    MPI_Ialltoall(pairs, PAIRS, left, pairs, PAIRS, right, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < size * PAIRS; i++)
        wrong += pairs[2 * i] != (char)(60 + rank) || pairs[2 * i + 1] != (char)(60 + i / PAIRS);
    printf("%d: fields: %d wrong\n", rank, wrong);
    MPI_Type_free(&left);
    MPI_Type_free(&right);
    free(pairs);
}

int main(int argc, char **argv)
{
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    from = calloc((size_t)size, BYTES);
    to = calloc((size_t)size, BYTES);
    refuse_requests(argc > 1 && strcmp(argv[1], "1") == 0);
    refuse_buffers();
#ifndef OPEN_MPI /* takes one buffer for MPI_IN_PLACE */
    take_fields();
#endif
    alltoall(&request, 40);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check("in the end", 40);
    MPI_Finalize();
    return 0;
}
