/* SPDX-License-Identifier: BSD-3-Clause */
/* Large messages between two processes of a node whose receiver reads them where they lie: receivers that are
 * late, or blocked in a call that says nothing of the message, and what else may happen to one. Each of both
 * says how many failures it saw. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BYTES = 400000, ROUNDS = 20, MANY = 40 };

static int rank, failures;
static unsigned char *out, *in;

static void fill(unsigned char *buffer, int seed)
{
    for (int i = 0; i < BYTES; i++)
        buffer[i] = (unsigned char)(i * 31 + seed * 7 + (i >> 8));
}

static void check(const char *what, const unsigned char *buffer, int bytes, int seed)
{
    static unsigned char wanted[BYTES];
    fill(wanted, seed);
    if (memcmp(buffer, wanted, (size_t)bytes) != 0) {
        printf("%s: other bytes\n", what);
        failures++;
    }
}

/* The send ends though the receiver is in a barrier, which it leaves after that. */
static void blocked(int how)
{
    MPI_Request request;
    int flag = 0;
    if (rank == 0) {
        fill(out, how);
        MPI_Isend(out, BYTES, MPI_BYTE, 1, how, MPI_COMM_WORLD, &request);
        if (how == 0)
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        while (how > 0 && !flag) {
            MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
            if (how == 2)
                usleep(300);
        }
        fill(out, 99); /* it is the program's again */
        MPI_Barrier(MPI_COMM_WORLD);
    } else {
        MPI_Irecv(in, BYTES, MPI_BYTE, 0, how, MPI_COMM_WORLD, &request);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        check("a receiver in a barrier", in, BYTES, how);
    }
}

/* Each waits for its send first. */
static void exchange(void)
{
    MPI_Request requests[2];
    for (int i = 0; i < ROUNDS; i++) {
        fill(out, rank + i);
        MPI_Irecv(in, BYTES, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(out, BYTES, MPI_BYTE, 1 - rank, i, MPI_COMM_WORLD, &requests[1]);
        if (i % 2) {
            MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        } else {
            MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
            MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        }
        check("an exchange", in, BYTES, 1 - rank + i);
    }
}

static void truncated(void)
{
    MPI_Request request;
    int class = MPI_SUCCESS;
    if (rank == 0) {
        fill(out, 5);
        MPI_Isend(out, BYTES, MPI_BYTE, 1, 5, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        MPI_Error_class(MPI_Recv(in, 1000, MPI_BYTE, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE), &class);
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
        failures += class != MPI_ERR_TRUNCATE;
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Nobody waits for the sends, or all at once; the receives come late, and from the last. */
static void many(int is_freed)
{
    static MPI_Request requests[MANY];
    static unsigned char *buffers[MANY];
    for (int i = 0; i < MANY; i++) {
        if (rank == 0) {
            fill(buffers[i] = malloc(BYTES), i);
            MPI_Isend(buffers[i], BYTES, MPI_BYTE, 1, i, MPI_COMM_WORLD, &requests[i]);
            if (is_freed)
                MPI_Request_free(&requests[i]);
        }
    }
    if (rank == 0 && !is_freed)
        MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE);
    if (rank == 1)
        usleep(20000);
    for (int i = MANY - 1; rank == 1 && i >= 0; i--) {
        MPI_Recv(in, BYTES, MPI_BYTE, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        check("one of many", in, BYTES, i);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; rank == 0 && i < MANY; i++)
        free(buffers[i]);
}

/* The receiver frees its request, and is told by the next message. */
static void freed(void)
{
    MPI_Request request;
    if (rank == 0) {
        fill(out, 7);
        MPI_Isend(out, BYTES, MPI_BYTE, 1, 7, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Send(NULL, 0, MPI_BYTE, 1, 8, MPI_COMM_WORLD);
    } else {
        MPI_Irecv(in, BYTES, MPI_BYTE, 0, 7, MPI_COMM_WORLD, &request);
        MPI_Request_free(&request);
        MPI_Recv(NULL, 0, MPI_BYTE, 0, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_SELF);
        check("a freed receive", in, BYTES, 7);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Every second element, a last one in part. */
static void scattered(void)
{
    MPI_Request request;
    MPI_Datatype type;
    MPI_Status status;
    int count = 0;
    MPI_Type_create_hvector(3, 1, 16, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    if (rank == 0) {
        double *values = (double *)(void *)out;
        for (int i = 0; i < 1000; i++)
            values[i] = i;
        MPI_Isend(values, 1000, MPI_DOUBLE, 1, 9, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(in, 400, type, 0, 9, MPI_COMM_WORLD, &status);
        MPI_Get_elements(&status, MPI_DOUBLE, &count);
        failures += count != 1000;
        for (int i = 0; i < 1000; i++) {
            double value;
            memcpy(&value, in + (size_t)(i / 3) * 40 + (size_t)(i % 3) * 16, sizeof value);
            failures += value != i;
        }
    }
    MPI_Type_free(&type);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    out = malloc(BYTES);
    in = malloc(BYTES);
    for (int how = 0; how < 3; how++)
        blocked(how);
    exchange();
    truncated();
    many(0);
    many(1);
    freed();
    scattered();
    printf("rank %d: %d failures\n", rank, failures);
    free(out);
    free(in);
    MPI_Finalize();
    return failures != 0;
}
