/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages that ghosts move, in every way to receive them: the bytes and what the status says. Rank 0 sends,
 * rank 1 receives, and prints what it got. Arguments: bytes of the messages, rounds. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, bytes, failures;

static void fill(unsigned char *buffer, int count, int seed)
{
    for (int i = 0; i < count; i++)
        buffer[i] = (unsigned char)(i * 31 + seed * 7 + (i >> 8));
}

static void check(const char *what, const unsigned char *buffer, int seed, const MPI_Status *status, int tag)
{
    int count = -1;
    unsigned char *wanted = malloc((size_t)bytes);
    fill(wanted, bytes, seed);
    MPI_Get_count(status, MPI_BYTE, &count);
    if (count != bytes || status->MPI_SOURCE != 0 || status->MPI_TAG != tag ||
        memcmp(buffer, wanted, (size_t)bytes) != 0) {
        printf("%s: count %d, source %d, tag %d, bytes %s\n", what, count, status->MPI_SOURCE,
               status->MPI_TAG, memcmp(buffer, wanted, (size_t)bytes) ? "differ" : "are right");
        failures++;
    }
    free(wanted);
}

static MPI_Request sent[64];
static unsigned char *kept[64];
static int sent_count;

static void send_one(int seed, int tag, int count)
{
    kept[sent_count] = malloc((size_t)count + 1);
    fill(kept[sent_count], count, seed);
    MPI_Isend(kept[sent_count], count, MPI_BYTE, 1, tag, MPI_COMM_WORLD, &sent[sent_count]);
    sent_count++;
}

static void end_sends(void)
{
    MPI_Waitall(sent_count, sent, MPI_STATUSES_IGNORE);
    for (int i = 0; i < sent_count; i++)
        free(kept[i]);
    sent_count = 0;
}

enum { WAYS = 18, SMALL = 48, ECHO_TAG = 99, ECHO_SEED = 77 };

static void receive_other_way(int way, unsigned char *buffer, MPI_Status *status)
{
    MPI_Request request, both[2];
    MPI_Message message;
    int flag = 0, index, count, indices[2];
    MPI_Status statuses[2];
    switch (way) {
    case 6:
        while (!flag)
            MPI_Improbe(0, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &message, status);
        MPI_Imrecv(buffer, bytes, MPI_BYTE, &message, &request);
        for (flag = 0; !flag;)
            MPI_Testany(1, &request, &index, &flag, status);
        break;
    case 7:
        MPI_Recv_init(buffer, bytes, MPI_BYTE, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
        MPI_Start(&request);
        MPI_Wait(&request, status);
        MPI_Request_free(&request);
        break;
    case 8:
        MPI_Probe(0, way, MPI_COMM_WORLD, status);
        MPI_Recv_init(buffer, bytes, MPI_BYTE, 0, way, MPI_COMM_WORLD, &request);
        MPI_Startall(1, &request);
        for (count = 0; count == 0;)
            MPI_Testsome(1, &request, &count, indices, status);
        MPI_Request_free(&request);
        break;
    case 9:
        both[0] = MPI_REQUEST_NULL;
        MPI_Irecv(buffer, bytes, MPI_BYTE, 0, way, MPI_COMM_WORLD, &both[1]);
        MPI_Waitsome(2, both, &count, indices, statuses);
        *status = statuses[0];
        break;
    case 10:
        MPI_Sendrecv(NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, buffer, bytes, MPI_BYTE, 0, way, MPI_COMM_WORLD,
                     status);
        break;
    default:
        MPI_Irecv(buffer, bytes, MPI_BYTE, 0, way, MPI_COMM_WORLD, &request);
        while (!flag)
            MPI_Request_get_status(request, &flag, status);
        MPI_Wait(&request, status);
    }
}

#if MPI_VERSION >= 4 || (defined OMPI_MAJOR_VERSION && OMPI_MAJOR_VERSION >= 5)
static void sendrecv_with_request(unsigned char *out, unsigned char *buffer, int way, MPI_Status *status)
{
    MPI_Request request;
    MPI_Isendrecv(out, bytes, MPI_BYTE, 1, ECHO_TAG, buffer, bytes, MPI_BYTE, 0, way, MPI_COMM_WORLD,
                  &request);
    MPI_Wait(&request, status);
}

static void sendrecv_replace_with_request(unsigned char *buffer, int way, MPI_Status *status)
{
    MPI_Request request;
    MPI_Isendrecv_replace(buffer, bytes, MPI_BYTE, 1, ECHO_TAG, 0, way, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, status);
}
#else
static void sendrecv_with_request(unsigned char *out, unsigned char *buffer, int way, MPI_Status *status)
{
    MPI_Sendrecv(out, bytes, MPI_BYTE, 1, ECHO_TAG, buffer, bytes, MPI_BYTE, 0, way, MPI_COMM_WORLD, status);
}

static void sendrecv_replace_with_request(unsigned char *buffer, int way, MPI_Status *status)
{
    MPI_Sendrecv_replace(buffer, bytes, MPI_BYTE, 1, ECHO_TAG, 0, way, MPI_COMM_WORLD, status);
}
#endif

/* Sends to itself what is in the buffer while a message comes, which a probe has seen before or not. */
static void receive_both_ways(int way, unsigned char *buffer, MPI_Status *status)
{
    unsigned char *echo = malloc((size_t)bytes), *wanted = malloc((size_t)bytes),
                  *out = malloc((size_t)bytes);
    MPI_Request own;
    fill(wanted, bytes, ECHO_SEED);
    memcpy(out, wanted, (size_t)bytes);
    memcpy(buffer, wanted, (size_t)bytes);
    MPI_Irecv(echo, bytes, MPI_BYTE, 1, ECHO_TAG, MPI_COMM_WORLD, &own);
    if (way < 16)
        MPI_Probe(0, way, MPI_COMM_WORLD, status);
    if (way == 14 || way == 16)
        sendrecv_with_request(out, buffer, way, status);
    else if (way == 15 || way == 17)
        sendrecv_replace_with_request(buffer, way, status);
    else if (way == 12)
        MPI_Sendrecv(out, bytes, MPI_BYTE, 1, ECHO_TAG, buffer, bytes, MPI_BYTE, 0, way, MPI_COMM_WORLD,
                     status);
    else
        MPI_Sendrecv_replace(buffer, bytes, MPI_BYTE, 1, ECHO_TAG, 0, way, MPI_COMM_WORLD, status);
    MPI_Wait(&own, MPI_STATUS_IGNORE);
    if (memcmp(echo, wanted, (size_t)bytes) != 0)
        failures++, printf("way %d: what was sent beside differs\n", way);
    free(echo);
    free(wanted);
    free(out);
}

/* MPICH says nothing in the status of MPI_Isendrecv and MPI_Isendrecv_replace. */
static void amend_status(int way, MPI_Status *status)
{
#ifndef OMPI_MAJOR_VERSION
    if (way >= 14) {
        status->MPI_SOURCE = 0;
        status->MPI_TAG = way;
        MPI_Status_set_elements(status, MPI_BYTE, bytes);
    }
#else
    (void)way, (void)status;
#endif
}

static void receive_way(int way, unsigned char *buffer, MPI_Status *status)
{
    MPI_Request request;
    MPI_Message message;
    int flag = 0, index, count;
    switch (way) {
    case 0:
        MPI_Recv(buffer, bytes, MPI_BYTE, 0, way, MPI_COMM_WORLD, status);
        break;
    case 1:
        MPI_Irecv(buffer, bytes, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, status);
        break;
    case 2:
        MPI_Irecv(buffer, bytes, MPI_BYTE, 0, way, MPI_COMM_WORLD, &request);
        while (!flag)
            MPI_Test(&request, &flag, status);
        break;
    case 3:
        MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, status);
        MPI_Get_count(status, MPI_BYTE, &count);
        if (count != bytes)
            failures++, printf("probe: count %d\n", count);
        MPI_Recv(buffer, count, MPI_BYTE, 0, way, MPI_COMM_WORLD, status);
        break;
    case 4:
        while (!flag)
            MPI_Iprobe(0, way, MPI_COMM_WORLD, &flag, status);
        MPI_Irecv(buffer, bytes, MPI_BYTE, 0, way, MPI_COMM_WORLD, &request);
        MPI_Waitany(1, &request, &index, status);
        break;
    case 5:
        status->MPI_ERROR = MPI_ERR_DIMS; /* which only calls with several statuses set */
        MPI_Mprobe(MPI_ANY_SOURCE, way, MPI_COMM_WORLD, &message, status);
        if (status->MPI_ERROR != MPI_ERR_DIMS)
            failures++, printf("mprobe: error %d\n", status->MPI_ERROR);
        MPI_Get_count(status, MPI_BYTE, &count);
        if (count != bytes)
            failures++, printf("mprobe: count %d\n", count);
        MPI_Mrecv(buffer, bytes, MPI_BYTE, &message, status);
        break;
    default:
        if (way < 12) {
            receive_other_way(way, buffer, status);
        } else {
            receive_both_ways(way, buffer, status);
            amend_status(way, status);
        }
    }
}

/* Small messages of a ticket's length between large ones, in order. */
static void mixed(void)
{
    if (rank == 0) {
        send_one(1, 5, SMALL);
        send_one(2, 6, bytes);
        send_one(3, 7, 8);
        send_one(4, 5, bytes);
        send_one(5, 5, SMALL);
        end_sends();
        return;
    }
    unsigned char *buffer = malloc((size_t)bytes);
    MPI_Status status;
    int wanted[5][2] = {{5, SMALL}, {6, bytes}, {7, 8}, {5, bytes}, {5, SMALL}};
    MPI_Probe(0, 6, MPI_COMM_WORLD, &status);
    for (int i = 0; i < 5; i++) {
        int count;
        unsigned char right[SMALL];
        MPI_Recv(buffer, bytes, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_BYTE, &count);
        fill(right, SMALL, i + 1);
        if (count != wanted[i][1] || status.MPI_TAG != wanted[i][0] ||
            memcmp(right, buffer, (size_t)(count < SMALL ? count : SMALL)) != 0)
            failures++, printf("mixed %d: tag %d, count %d\n", i, status.MPI_TAG, count);
    }
    free(buffer);
}

/* A datatype with gaps, and more room than comes. */
static void scattered(void)
{
    int doubles = bytes / 8;
    double *data = malloc((size_t)doubles * 8);
    if (rank == 0) {
        for (int i = 0; i < doubles; i++)
            data[i] = i;
        MPI_Request request;
        MPI_Isend(data, doubles, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Datatype type;
        int count;
        double *spread = malloc((size_t)(doubles + 3) * 16);
        MPI_Status status;
        MPI_Type_vector(3, 1, 2, MPI_DOUBLE, &type);
        MPI_Type_commit(&type);
        MPI_Request request;
        MPI_Aint lower, extent;
        MPI_Type_get_extent(type, &lower, &extent);
        MPI_Irecv(spread, doubles / 3 + 1, type, 0, 1, MPI_COMM_WORLD, &request);
        MPI_Type_free(&type);
        MPI_Wait(&request, &status);
        MPI_Get_count(&status, MPI_DOUBLE, &count);
        for (int i = 0; i < doubles; i++)
            if (((double *)((char *)spread + i / 3 * extent))[i % 3 * 2] != i) {
                failures++, printf("scattered: double %d\n", i);
                break;
            }
        if (count != doubles)
            failures++, printf("scattered: count %d\n", count);
        free(spread);
    }
    free(data);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    bytes = argc > 1 ? atoi(argv[1]) : 262144;
    int rounds = argc > 2 ? atoi(argv[2]) : 3;
    unsigned char *buffer = malloc((size_t)bytes);
    for (int round = 0; round < rounds; round++) {
        for (int way = 0; way < WAYS; way++) {
            if (rank == 0) {
                send_one(way + round, way, bytes);
                end_sends();
            } else if (rank == 1) {
                MPI_Status status;
                memset(buffer, 0, (size_t)bytes);
                memset(&status, 0, sizeof status);
                char what[32];
                snprintf(what, sizeof what, "way %d", way);
                receive_way(way, buffer, &status);
                check(what, buffer, way + round, &status, way);
            }
        }
        if (rank < 2) {
            mixed();
            scattered();
        }
    }
    free(buffer);
    printf("rank %d: %d failures\n", rank, failures);
    MPI_Finalize();
    return failures != 0;
}
