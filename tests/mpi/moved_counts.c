/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: messages that ghosts move, by the calls that take MPI_Count, and of datatypes that such calls
 * make, which a broadcast has, too. Rank 0 sends, rank 1 receives and prints what differs. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 30000, WAYS = 10, FOURS = 8, HALVES = 9, BACK_TAG = 50 };

static int rank, failures;
static int in[COUNT], out[COUNT], back[COUNT];
static MPI_Datatype fours, halves; /* without gaps, COUNT / 4 of them, and one */

static void make_types(void)
{
    MPI_Type_contiguous_c(4, MPI_INT, &fours);
    MPI_Type_vector_c(2, COUNT / 2, COUNT / 2, MPI_INT, &halves);
    MPI_Type_commit(&fours);
    MPI_Type_commit(&halves);
}

static int has_answer(int way) { return way == 6 || way == 7; }

static void send(int way)
{
    MPI_Request request;
    if (way == 1)
        MPI_Issend_c(out, COUNT, MPI_INT, 1, way, MPI_COMM_WORLD, &request);
    else if (way == 2)
        MPI_Send_init_c(out, COUNT, MPI_INT, 1, way, MPI_COMM_WORLD, &request);
    else if (way == FOURS)
        MPI_Isend(out, COUNT / 4, fours, 1, way, MPI_COMM_WORLD, &request);
    else if (way == HALVES)
        MPI_Isend(out, 1, halves, 1, way, MPI_COMM_WORLD, &request);
    else
        MPI_Isend_c(out, COUNT, MPI_INT, 1, way, MPI_COMM_WORLD, &request);
    if (way == 2)
        MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (way == 2)
        MPI_Request_free(&request);
    if (has_answer(way))
        MPI_Recv_c(back, COUNT, MPI_INT, 1, BACK_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void receive(int way, MPI_Status *status)
{
    MPI_Message message;
    MPI_Request request = MPI_REQUEST_NULL;
    switch (way) {
    case 0:
        MPI_Recv_c(in, COUNT, MPI_INT, 0, way, MPI_COMM_WORLD, status);
        break;
    case 1:
        MPI_Irecv_c(in, COUNT, MPI_INT, 0, way, MPI_COMM_WORLD, &request);
        break;
    case 2:
        MPI_Recv_init_c(in, COUNT, MPI_INT, 0, way, MPI_COMM_WORLD, &request);
        MPI_Start(&request);
        break;
    case 3:
        MPI_Mprobe(0, way, MPI_COMM_WORLD, &message, status);
        MPI_Mrecv_c(in, COUNT, MPI_INT, &message, status);
        break;
    case 4:
        MPI_Mprobe(0, way, MPI_COMM_WORLD, &message, status);
        MPI_Imrecv_c(in, COUNT, MPI_INT, &message, &request);
        break;
    case 5:
        MPI_Sendrecv_c(NULL, 0, MPI_INT, MPI_PROC_NULL, 0, in, COUNT, MPI_INT, 0, way, MPI_COMM_WORLD,
                       status);
        break;
    case 6:
        MPI_Sendrecv_c(out, COUNT, MPI_INT, 0, BACK_TAG, in, COUNT, MPI_INT, 0, way, MPI_COMM_WORLD, status);
        break;
    case FOURS:
        MPI_Recv(in, COUNT / 4, fours, 0, way, MPI_COMM_WORLD, status);
        break;
    case HALVES:
        MPI_Irecv(in, 1, halves, 0, way, MPI_COMM_WORLD, &request);
        break;
    default:
        memcpy(in, out, sizeof in);
        MPI_Sendrecv_replace_c(in, COUNT, MPI_INT, 0, BACK_TAG, 0, way, MPI_COMM_WORLD, status);
    }
    if (request != MPI_REQUEST_NULL)
        MPI_Wait(&request, status);
    if (way == 2)
        MPI_Request_free(&request);
}

static void check(int way, const MPI_Status *status)
{
    MPI_Count count = -1;
    int wrong = 0;
    MPI_Get_count_c(status, MPI_INT, &count);
    for (int i = 0; i < COUNT; i++)
        wrong += in[i] != i * 3 + way;
    if (count != COUNT || wrong || status->MPI_TAG != way || status->MPI_SOURCE != 0) {
        failures++;
        printf("way %d: count %d, source %d, tag %d, %d wrong\n", way, (int)count, status->MPI_SOURCE,
               status->MPI_TAG, wrong);
    }
}

static void broadcast(void)
{
    MPI_Request request;
    for (int i = 0; i < COUNT; i++)
        in[i] = rank == 0 ? i : -1;
    MPI_Ibcast(in, COUNT / 4, fours, 0, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < COUNT; i++)
        failures += in[i] != i;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    make_types();
    for (int way = 0; way < WAYS && rank < 2; way++) {
        MPI_Status status;
        memset(in, 0, sizeof in);
        for (int i = 0; i < COUNT; i++)
            out[i] = i * 3 + way + 1000 * rank;
        if (rank == 0) {
            send(way);
            for (int i = 0; has_answer(way) && i < COUNT; i++)
                failures += back[i] != out[i] + 1000;
        } else {
            receive(way, &status);
            check(way, &status);
        }
    }
    broadcast();
    MPI_Type_free(&fours);
    MPI_Type_free(&halves);
    printf("rank %d: %d failures\n", rank, failures);
    MPI_Finalize();
    return failures != 0;
}
