/* SPDX-License-Identifier: BSD-3-Clause */
/* No arguments; two ranks. Description: what a probe has found early is received by calls that must not wait
 * for their sender, by the call after one that the MPI refuses, and by a persistent request whose
 * communicator was freed. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DOUBLES = 1 << 17, TICKET = 48 };

static int rank;
static double *one;
static MPI_Datatype
    spread; /* of every second double: what is sent is the MPI's own, and waits for its receiver */

static void fill(void)
{
    for (int i = 0; i < 2 * DOUBLES; i++)
        one[i] = rank * 1e7 + i;
}

static int wrong(double base)
{
    int count = 0;
    for (int i = 0; i < 2 * DOUBLES; i += 2)
        count += one[i] != base + i;
    return count;
}

static void first(int is_replaced)
{
    char small[TICKET] = "hello";
    MPI_Request request;
    fill();
    MPI_Isend(one, 1, spread, 1, 1, MPI_COMM_WORLD, &request);
    MPI_Send(small, TICKET, MPI_BYTE, 1, 2, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE); /* before the other's message is received */
    MPI_Recv(one, 1, spread, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    printf("0: %d wrong%s\n", wrong(1e7), is_replaced ? ", replaced" : "");
}

static void second(int is_replaced)
{
    char small[TICKET] = "";
    double *out = malloc(2 * DOUBLES * sizeof *out);
    MPI_Status status;
    fill();
    memcpy(out, one, 2 * DOUBLES * sizeof *out);
    MPI_Probe(0, 2, MPI_COMM_WORLD, &status);
    if (is_replaced)
        MPI_Sendrecv_replace(one, 1, spread, 0, 3, 0, 1, MPI_COMM_WORLD, &status);
    else
        MPI_Sendrecv(out, 1, spread, 0, 3, one, 1, spread, 0, 1, MPI_COMM_WORLD, &status);
    printf("1: %d wrong of tag %d\n", wrong(0), status.MPI_TAG);
    MPI_Recv(small, TICKET, MPI_BYTE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    printf("1: %s\n", small);
    free(out);
}

static void refused(void)
{
    char bytes[TICKET] = "there";
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    if (rank == 0)
        MPI_Send(bytes, TICKET, MPI_CHAR, 1, 1, comm);
    if (rank == 1) {
        memset(bytes, 0, TICKET);
        MPI_Probe(0, 1, comm, MPI_STATUS_IGNORE);
        int rc = MPI_Recv(bytes, -1, MPI_CHAR, 0, 1, comm, MPI_STATUS_IGNORE);
        printf("1: %s\n", rc == MPI_SUCCESS ? "taken" : "refused");
        MPI_Recv(bytes, TICKET, MPI_CHAR, 0, 1, comm, MPI_STATUS_IGNORE);
        printf("1: it is %s\n", bytes);
    }
    MPI_Comm_free(&comm);
}

/* It outlives its communicator (MPI-4.1 section 7.4.3), of which a message is held, and another one. */
static void outlives(void)
{
    enum { STARTS = 2 };
    char bytes[TICKET] = "on a freed communicator", other[TICKET] = "";
    MPI_Comm comm;
    MPI_Request request;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (rank == 0) {
        MPI_Send_init(bytes, TICKET, MPI_CHAR, 1, 6, comm, &request);
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Send(bytes, TICKET, MPI_CHAR, 1, 7, MPI_COMM_WORLD);
    } else if (rank == 1) {
        MPI_Recv_init(other, TICKET, MPI_CHAR, 0, 6, comm, &request);
        MPI_Probe(0, 6, comm, MPI_STATUS_IGNORE);
        MPI_Probe(0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(comm);
    MPI_Comm_free(&comm);
    for (int i = 0; i < STARTS && rank < 2; i++) {
        if (rank == 1 || i > 0) {
            MPI_Start(&request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        if (rank == 1)
            printf("1: %s, %d\n", other, i);
        memset(other, 0, TICKET);
    }
    if (rank == 1) {
        MPI_Recv(other, TICKET, MPI_CHAR, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        printf("1: %s, of another\n", other);
    }
    if (rank < 2)
        MPI_Request_free(&request);
}

/* One that is moved, so that the engine is known to be there. */
static void moved(void)
{
    fill();
    if (rank == 0) {
        MPI_Request request;
        MPI_Isend(one, DOUBLES, MPI_DOUBLE, 1, 4, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
        MPI_Recv(one, DOUBLES, MPI_DOUBLE, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    one = malloc(2 * DOUBLES * sizeof *one);
    MPI_Type_vector(DOUBLES, 1, 2, MPI_DOUBLE, &spread);
    MPI_Type_commit(&spread);
    for (int is_replaced = 0; is_replaced < 2; is_replaced++) {
        if (rank == 0)
            first(is_replaced);
        if (rank == 1)
            second(is_replaced);
    }
    refused();
    outlives();
    moved();
    MPI_Type_free(&spread);
    free(one);
    MPI_Finalize();
    return 0;
}
