/* SPDX-License-Identifier: BSD-3-Clause */
/* No arguments; two ranks. Description: what messages must leave alone: attributes of MPI_COMM_SELF and of
 * datatypes, MPI_ERROR in a single status, and what lies behind a short message. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES = 100000, NOBODYS = 77, LEVELS = 12, TIMES = 3, ROWS = 4096 };

static int rank, copied, deleted;
static char bytes[BYTES];

static int copy(MPI_Comm comm, int key, void *extra, void *value, void *out, int *flag)
{
    (void)comm, (void)key, (void)extra;
    *(void **)out = value;
    *flag = 1;
    copied++;
    return MPI_SUCCESS;
}

static int delete (MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value, (void)extra;
    deleted++;
    return MPI_SUCCESS;
}

static int delete_of_type(MPI_Datatype type, int key, void *value, void *extra)
{
    (void)type, (void)key, (void)value, (void)extra;
    deleted++;
    return MPI_SUCCESS;
}

/* A communicator is freed while a receive is pending on it. */
static void attributes_of_self(void)
{
    int key;
    MPI_Comm comm;
    MPI_Request request;
    MPI_Comm_create_keyval(copy, delete, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, &key);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (rank == 0)
        MPI_Irecv(bytes, BYTES, MPI_CHAR, 1, 1, comm, &request);
    else
        MPI_Isend(bytes, BYTES, MPI_CHAR, 0, 1, comm, &request);
    MPI_Comm_free(&comm);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    printf("%d: of MPI_COMM_SELF %d copied, %d deleted\n", rank, copied, deleted);
    MPI_Comm_delete_attr(MPI_COMM_SELF, key);
    MPI_Comm_free_keyval(&key);
}

static void attributes_of_types(void)
{
    int key;
    MPI_Datatype types[LEVELS];
    deleted = 0;
    MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, delete_of_type, &key, NULL);
    MPI_Type_contiguous(BYTES, MPI_CHAR, &types[0]);
    for (int i = 1; i < LEVELS; i++)
        MPI_Type_contiguous(1, types[i - 1], &types[i]);
    for (int i = 0; i < LEVELS; i++)
        MPI_Type_set_attr(types[i], key, NULL);
    MPI_Type_commit(&types[LEVELS - 1]);
    for (int i = 0; i < TIMES; i++) {
        MPI_Request request;
        if (rank == 0)
            MPI_Isend(bytes, 1, types[LEVELS - 1], 1, 1, MPI_COMM_WORLD, &request);
        else
            MPI_Irecv(bytes, 1, types[LEVELS - 1], 0, 1, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    for (int i = LEVELS - 1; i >= 0; i--)
        MPI_Type_free(&types[i]);
    MPI_Type_free_keyval(&key);
    printf("%d: of datatypes %d of %d deleted\n", rank, deleted, LEVELS);
}

static void show(const char *what, const char *door, MPI_Status *status)
{
    printf("%d: %s, %s: %d\n", rank, what, door, status->MPI_ERROR);
    status->MPI_ERROR = NOBODYS;
}

static void complete(const char *what, MPI_Request *request, int door, MPI_Status *status)
{
    int flag = 0, index;
    if (door == 0)
        MPI_Wait(request, status);
    else if (door == 1)
        MPI_Waitany(1, request, &index, status);
    for (; door == 2 && !flag;)
        MPI_Test(request, &flag, status);
    for (; door == 3 && !flag;)
        MPI_Testany(1, request, &index, &flag, status);
    show(what, (const char *[]){"Wait", "Waitany", "Test", "Testany"}[door], status);
}

static void errors_in_statuses(void)
{
    MPI_Request persistent, request;
    MPI_Status status;
    memset(&status, 0, sizeof status);
    status.MPI_ERROR = NOBODYS;
    if (rank == 0)
        MPI_Send_init(bytes, BYTES, MPI_CHAR, 1, 1, MPI_COMM_WORLD, &persistent);
    else
        MPI_Recv_init(bytes, BYTES, MPI_CHAR, 0, 1, MPI_COMM_WORLD, &persistent);
    for (int door = 0; door < 4; door++) {
        MPI_Start(&persistent);
        complete("persistent", &persistent, door, &status);
        if (rank == 0)
            MPI_Isend(bytes, BYTES, MPI_CHAR, 1, 1, MPI_COMM_WORLD, &request);
        else
            MPI_Irecv(bytes, BYTES, MPI_CHAR, 0, 1, MPI_COMM_WORLD, &request);
        complete("other", &request, door, &status);
    }
    MPI_Request_free(&persistent);
}

static void fill_rows(short *rows, int first)
{
    for (int i = 0; i < 2 * ROWS; i++)
        rows[i] = (short)(first + i);
}

/* A persistent receive of one large element with gaps gets a large message, a short one, and none. */
static void large_elements(void)
{
    static const int counts[] = {ROWS, 24, 0};
    short *rows = malloc(2 * ROWS * sizeof *rows);
    MPI_Datatype type;
    MPI_Request request;
    MPI_Status status;
    MPI_Type_vector(ROWS, 1, 2, MPI_SHORT, &type);
    MPI_Type_commit(&type);
    fill_rows(rows, 10000 * rank);
    if (rank == 1)
        MPI_Recv_init(rows, 1, type, 0, 1, MPI_COMM_WORLD, &request);
    for (int i = 0; i < 3 && rank == 0; i++) {
        MPI_Isend(rows, counts[i], MPI_SHORT, 1, 1, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < 3 && rank == 1; i++) {
        int count, sum = 0;
        fill_rows(rows, 10000);
        MPI_Start(&request);
        MPI_Wait(&request, &status);
        MPI_Get_elements(&status, type, &count);
        for (int k = 0; k < 2 * ROWS; k++)
            sum = (sum * 31 + rows[k]) % 1000003;
        printf("1: %d shorts, %d\n", count, sum);
    }
    if (rank == 1)
        MPI_Request_free(&request);
    MPI_Type_free(&type);
    free(rows);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    attributes_of_self();
    attributes_of_types();
    errors_in_statuses();
    large_elements();
    MPI_Finalize();
    return 0;
}
