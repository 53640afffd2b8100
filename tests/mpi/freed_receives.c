/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: a process posts many receives of a datatype with gaps, and frees the request of each before
 * anything is sent: all receive what is sent. Many at once are freed, too, when all are posted. */
#include "check.h"

enum { RECEIVES = 8000, AT_ONCE = 200, ROWS = 256, FIRST = 200 };

static int received[RECEIVES][ROWS][2];
static int sent[ROWS][2];
static MPI_Datatype column;

/* Receives from others: plain MPICH 4.0 hangs in a send to itself whose receive was freed. */
static void post_each(int other)
{
    for (int i = 0; i < RECEIVES; i++) {
        MPI_Request request;
        MPI_Irecv(received[i], 1, column, other, i, MPI_COMM_WORLD, &request);
        MPI_Request_free(&request);
    }
}

static void post_at_once(int count, int other)
{
    static MPI_Request requests[AT_ONCE];
    for (int i = 0; i < count; i++)
        MPI_Irecv(received[i], 1, column, other, i, MPI_COMM_WORLD, &requests[i]);
    for (int i = 0; i < count; i++)
        MPI_Request_free(&requests[i]);
}

static void send_all(int count, int other)
{
    for (int i = 0; i < count; i++) {
        sent[0][0] = sent[ROWS - 1][0] = i + 1;
        MPI_Ssend(sent, 1, column, other, i, MPI_COMM_WORLD);
    }
}

/* What is synchronous is received once it is over, but not unpacked before the receiver is told of that. */
static uint64_t sum_of(int count)
{
    uint64_t sum = 0;
    for (int i = 0; i < count; i++) {
        CHECK(received[i][0][0] == i + 1 && received[i][ROWS - 1][0] == i + 1);
        sum = sum * 31 + (uint64_t)received[i][0][0];
        received[i][0][0] = received[i][ROWS - 1][0] = 0;
    }
    return sum;
}

int main(int argc, char **argv)
{
    int rank;
    uint64_t sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    check_begin();
    MPI_Type_vector(ROWS, 1, 2, MPI_INT, &column);
    MPI_Type_commit(&column);
    for (int i = 0; i < FIRST; i++) /* so that it is known what they take */
        MPI_Sendrecv(sent, 1, column, rank, 0, received, 1, column, rank, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    if (rank == 1)
        post_each(0);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        send_all(RECEIVES, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
        sum = sum_of(RECEIVES);
        post_at_once(AT_ONCE, 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        send_all(AT_ONCE, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1)
        sum += sum_of(AT_ONCE);
    check_report("freed-receives", sum);
    MPI_Type_free(&column);
    MPI_Finalize();
    return 0;
}
