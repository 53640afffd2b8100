/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: moved_persistent BYTES: persistent sends of large messages
 * between small ones of the same tag, in all modes and through every door,
 * freed while they are active, and defined before their datatype is freed;
 * synchronous sends that are cancelled, and messages that follow them. Rank 0
 * sends, rank 1 receives and prints what differs. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 7, PARTS = 4, SMALL = 24, TAG = 5, CANCELLED_TAG = 6, NEWS_TAG = 7, CANCELLED = 70 };

static int rank, bytes, failures;

static int length(int part) { return part % 2 ? bytes : SMALL; }

static unsigned char value(int round, int part, int i)
{
    return (unsigned char)(i * 7 + (i >> 9) + 50 * round + part);
}

static void fill(unsigned char *buffer, int round, int part)
{
    for (int i = 0; i < length(part); i++)
        buffer[i] = value(round, part, i);
}

/* Whatever comes next of TAG is this. */
static void expect(unsigned char *buffer, int round, int part)
{
    MPI_Status status;
    int count = -1, wrong = 0;
    memset(buffer, 255, (size_t)bytes);
    MPI_Recv(buffer, bytes, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_BYTE, &count);
    for (int i = 0; i < length(part); i++)
        wrong += buffer[i] != value(round, part, i);
    if (count != length(part) || wrong > 0) {
        printf("round %d part %d: %d bytes, %d of %d wrong\n", round, part, count, wrong, length(part));
        failures++;
    }
}

static void complete(int way, MPI_Request requests[PARTS])
{
    MPI_Status statuses[PARTS];
    int flag = 0, index, count, indices[PARTS], done = 0, cancelled = 0;
    switch (way) {
    case 0:
        MPI_Waitall(PARTS, requests, statuses);
        break;
    case 1:
        while (!flag)
            MPI_Testall(PARTS, requests, &flag, statuses);
        break;
    case 2:
        for (int i = 0; i < PARTS; i++)
            MPI_Waitany(PARTS, requests, &index, &statuses[i]);
        break;
    case 3:
        while (done < PARTS) {
            MPI_Waitsome(PARTS, requests, &count, indices, statuses);
            done += count;
        }
        break;
    case 4:
        for (int i = 0; i < PARTS; i++)
            for (flag = 0; !flag;)
                MPI_Test(&requests[i], &flag, &statuses[i]);
        break;
    case 5:
        for (int i = PARTS; i-- > 0;) {
            for (flag = 0; !flag;)
                MPI_Request_get_status(requests[i], &flag, &statuses[i]);
            MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
        }
        break;
    default:
        for (int i = 0; i < PARTS; i++)
            MPI_Wait(&requests[i], &statuses[i]);
    }
    for (int i = 0; way != 3 && i < PARTS; i++) {
        MPI_Test_cancelled(&statuses[i], &flag);
        cancelled += flag;
    }
    if (cancelled > 0)
        printf("way %d: cancelled\n", way);
    MPI_Waitany(PARTS, requests, &index, MPI_STATUS_IGNORE);
    if (index != MPI_UNDEFINED)
        printf("way %d: request %d is active\n", way, index);
}

static void restarts(unsigned char *buffers[PARTS])
{
    MPI_Request requests[PARTS];
    MPI_Datatype block;
    if (rank == 0) {
        MPI_Type_contiguous(bytes, MPI_BYTE, &block);
        MPI_Type_commit(&block);
        MPI_Send_init(buffers[0], SMALL, MPI_BYTE, 1, TAG, MPI_COMM_WORLD, &requests[0]);
        MPI_Send_init(buffers[1], 1, block, 1, TAG, MPI_COMM_WORLD, &requests[1]);
        MPI_Ssend_init(buffers[2], SMALL, MPI_BYTE, 1, TAG, MPI_COMM_WORLD, &requests[2]);
        MPI_Ssend_init(buffers[3], bytes, MPI_BYTE, 1, TAG, MPI_COMM_WORLD, &requests[3]);
        MPI_Type_free(&block);
    }
    for (int round = 0; round < ROUNDS; round++) {
        for (int part = 0; part < PARTS; part++)
            rank == 0 ? fill(buffers[part], round, part) : expect(buffers[0], round, part);
        if (rank != 0)
            continue;
        if (round % 2)
            MPI_Startall(PARTS, requests);
        else
            for (int part = 0; part < PARTS; part++)
                MPI_Start(&requests[part]);
        complete(round, requests);
    }
    for (int part = 0; rank == 0 && part < PARTS; part++)
        MPI_Request_free(&requests[part]);
}

/* Freed while they are active, twice, and with a receive that is ready. */
static void let_go(unsigned char *buffers[PARTS])
{
    MPI_Request request, received;
    MPI_Status status;
    for (int round = 0; round < 2; round++) {
        if (rank == 0) {
            fill(buffers[round], 20 + round, 1);
            MPI_Send_init(buffers[round], bytes, MPI_BYTE, 1, TAG, MPI_COMM_WORLD, &request);
            MPI_Start(&request);
            MPI_Request_free(&request);
        } else {
            expect(buffers[0], 20 + round, 1);
        }
    }
    if (rank == 0) {
        fill(buffers[2], 30, 1);
        MPI_Rsend_init(buffers[2], bytes, MPI_BYTE, 1, TAG, MPI_COMM_WORLD, &request);
        MPI_Recv(NULL, 0, MPI_BYTE, 1, NEWS_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Request_free(&request);
        return;
    }
    MPI_Irecv(buffers[0], bytes, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, &received);
    MPI_Send(NULL, 0, MPI_BYTE, 0, NEWS_TAG, MPI_COMM_WORLD);
    MPI_Wait(&received, &status);
    for (int i = 0; i < bytes; i++)
        if (buffers[0][i] != value(30, 1, i)) {
            failures++;
            printf("ready: byte %d differs\n", i);
            break;
        }
}

/* Some MPIs cannot cancel a send: the receiver is told what became of each. */
static void cancelled(unsigned char *buffers[PARTS])
{
    for (int i = 0; i < CANCELLED; i++) {
        MPI_Request request;
        MPI_Status status;
        int flag = 0, was_cancelled = 0;
        if (rank == 0) {
            double began = MPI_Wtime();
            fill(buffers[1], i, 1);
            MPI_Issend(buffers[1], bytes, MPI_BYTE, 1, CANCELLED_TAG, MPI_COMM_WORLD, &request);
            MPI_Cancel(&request);
            while (!flag && MPI_Wtime() - began < 0.02)
                MPI_Test(&request, &flag, &status);
            if (flag)
                MPI_Test_cancelled(&status, &was_cancelled);
            MPI_Send(&was_cancelled, 1, MPI_INT, 1, NEWS_TAG, MPI_COMM_WORLD);
            if (!flag)
                MPI_Wait(&request, &status);
        } else {
            MPI_Recv(&was_cancelled, 1, MPI_INT, 0, NEWS_TAG, MPI_COMM_WORLD, &status);
            if (!was_cancelled)
                MPI_Recv(buffers[0], bytes, MPI_BYTE, 0, CANCELLED_TAG, MPI_COMM_WORLD, &status);
        }
    }
}

static void follow(unsigned char *buffers[PARTS])
{
    for (int round = 0; round < 4; round++) {
        MPI_Request request;
        if (rank == 0) {
            fill(buffers[1], round, 1);
            MPI_Isend(buffers[1], bytes, MPI_BYTE, 1, TAG, MPI_COMM_WORLD, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        } else {
            expect(buffers[0], round, 1);
        }
    }
}

int main(int argc, char **argv)
{
    unsigned char *buffers[PARTS];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    bytes = argc > 1 ? atoi(argv[1]) : 100000;
    for (int part = 0; part < PARTS; part++)
        buffers[part] = calloc(1, (size_t)bytes);
    if (rank < 2) {
        restarts(buffers);
        let_go(buffers);
        cancelled(buffers);
        follow(buffers);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    printf("rank %d: %d failures\n", rank, failures);
    MPI_Finalize();
    for (int part = 0; part < PARTS; part++)
        free(buffers[part]);
    return failures != 0;
}
