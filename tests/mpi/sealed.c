/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages on a communicator on which nobody uses wildcards, in every way to send and to receive them: each
 * rank of the first half talks to one of the second. Prints what came, alike in every legal run. Arguments:
 * bytes of large messages, how the communicator gets its info: dup, set, split. */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size, peer, bytes, failures;
static MPI_Comm comm;

static void trace(const char *what, int way)
{
    if (getenv("SEALED_TRACE"))
        fprintf(stderr, "%d: %s %d\n", rank, what, way);
}

static void fill(unsigned char *buffer, int count, int seed)
{
    for (int i = 0; i < count; i++)
        buffer[i] = (unsigned char)(i * 31 + seed * 7 + (i >> 8));
}

static void check(const char *what, const unsigned char *buffer, int count, int seed,
                  const MPI_Status *status, int tag)
{
    int seen = -1, is_cancelled = 0;
    unsigned char *wanted = malloc((size_t)count + 1);
    fill(wanted, count, seed);
    MPI_Get_count(status, MPI_BYTE, &seen);
    MPI_Test_cancelled(status, &is_cancelled);
    bool is_right = memcmp(buffer, wanted, (size_t)count) == 0;
    if (seen != count || status->MPI_SOURCE != peer || status->MPI_TAG != tag || !is_right || is_cancelled) {
        printf("%s on %d: count %d of %d, source %d, tag %d, bytes %s\n", what, rank, seen, count,
               status->MPI_SOURCE, status->MPI_TAG, is_right ? "are right" : "differ");
        failures++;
    }
    free(wanted);
}

static void make_comm(const char *how)
{
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_assert_exact_length", "true");
    if (strcmp(how, "set") == 0) {
        MPI_Info_set(info, "wildcard_used", "none");
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Comm_set_info(comm, info);
    } else {
        MPI_Info_set(info, "mpi_assert_no_any_source", "true");
        MPI_Info_set(info, "mpi_assert_no_any_tag", "true");
        if (strcmp(how, "split") == 0)
            MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, info, &comm);
        else
            MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
    }
    MPI_Info_free(&info);
}

enum { SMALL = 24 };

/* ---- every way to send, which standard receives get ------------------------------------------------------
 */

enum { SENDS = 14 };

static void send_other_way(int way, unsigned char *buffer, int count)
{
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status;
    int flag = 0, tag = way;
    switch (way) {
    case 6:
    case 7:
        (way == 6 ? MPI_Send_init : MPI_Ssend_init)(buffer, count, MPI_BYTE, peer, tag, comm, &request);
        for (int round = 0; round < 2; round++) {
            MPI_Start(&request);
            MPI_Wait(&request, &status);
        }
        MPI_Request_free(&request);
        break;
    case 8:
        MPI_Bsend_init(buffer, count, MPI_BYTE, peer, tag, comm, &request);
        for (int round = 0; round < 2; round++) {
            MPI_Startall(1, &request);
            while (!flag)
                MPI_Testall(1, &request, &flag, &status);
        }
        MPI_Request_free(&request);
        break;
    case 9:
        MPI_Sendrecv(buffer, count, MPI_BYTE, peer, tag, NULL, 0, MPI_BYTE, MPI_PROC_NULL, tag, comm,
                     &status);
        break;
    case 10: { /* with gaps */
        MPI_Datatype every_other;
        unsigned char *spread = malloc(2 * (size_t)count);
        for (int i = 0; i < count; i++)
            spread[2 * i] = buffer[i];
        MPI_Type_vector(count, 1, 2, MPI_BYTE, &every_other);
        MPI_Type_commit(&every_other);
        MPI_Isend(spread, 1, every_other, peer, tag, comm, &request);
        MPI_Type_free(&every_other);
        MPI_Wait(&request, &status);
        free(spread);
        break;
    }
    case 11: /* freed while it is active */
        MPI_Isend(buffer, count, MPI_BYTE, peer, tag, comm, &request);
        MPI_Request_free(&request);
        MPI_Recv(&flag, 1, MPI_INT, peer, tag, comm, &status);
        break;
    case 12:
        MPI_Rsend(buffer, count, MPI_BYTE, peer, tag, comm);
        break;
    default: {
        MPI_Request both[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
        int index;
        MPI_Irsend(buffer, count, MPI_BYTE, peer, tag, comm, &both[1]);
        MPI_Waitany(2, both, &index, &status);
    }
    }
    if (request != MPI_REQUEST_NULL)
        MPI_Wait(&request, &status);
}

static void send_this_way(int way, unsigned char *buffer, int count)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int tag = way;
    switch (way) {
    case 0:
        MPI_Send(buffer, count, MPI_BYTE, peer, tag, comm);
        break;
    case 1:
        MPI_Ssend(buffer, count, MPI_BYTE, peer, tag, comm);
        break;
    case 2:
        MPI_Bsend(buffer, count, MPI_BYTE, peer, tag, comm);
        break;
    case 3:
        MPI_Isend(buffer, count, MPI_BYTE, peer, tag, comm, &request);
        break;
    case 4:
        MPI_Issend(buffer, count, MPI_BYTE, peer, tag, comm, &request);
        break;
    case 5:
        MPI_Ibsend(buffer, count, MPI_BYTE, peer, tag, comm, &request);
        break;
    default:
        send_other_way(way, buffer, count);
    }
    if (request != MPI_REQUEST_NULL)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void sends(int count)
{
    unsigned char *buffer = malloc((size_t)count + 1);
    for (int way = 0; way < SENDS; way++) {
        trace("send", way);
        int rounds = way >= 6 && way <= 8 ? 2 : 1, token = 1;
        MPI_Request request;
        MPI_Status status;
        if (rank < size / 2) {
            fill(buffer, count, way);
            if (way >= 12)
                MPI_Recv(&token, 1, MPI_INT, peer, 90, comm, &status);
            send_this_way(way, buffer, count);
            continue;
        }
        for (int round = 0; round < rounds; round++) {
            memset(buffer, 0, (size_t)count);
            MPI_Irecv(buffer, count, MPI_BYTE, peer, way, comm, &request);
            if (way >= 12)
                MPI_Send(&token, 1, MPI_INT, peer, 90, comm);
            MPI_Wait(&request, &status);
            check("send", buffer, count, way, &status, way);
        }
        if (way == 11)
            MPI_Send(&token, 1, MPI_INT, peer, way, comm);
    }
    free(buffer);
}

/* ---- every way to receive ---------------------------------------------------------------------------------
 */

enum { RECEIVES = 14 };

static void receive_other_way(int way, unsigned char *buffer, int count, MPI_Status *status)
{
    MPI_Request request, both[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status seen;
    int flag = 0, index, indices[2], tag = way;
    switch (way) {
    case 7:
        MPI_Sendrecv(&flag, 1, MPI_INT, peer, 91, buffer, count, MPI_BYTE, peer, tag, comm, status);
        break;
    case 8:
        fill(buffer, count, 100);
        MPI_Sendrecv_replace(buffer, count, MPI_BYTE, peer, 91, peer, tag, comm, status);
        break;
    case 9: { /* with gaps */
        MPI_Datatype every_other;
        unsigned char *spread = calloc((size_t)count, 2);
        MPI_Type_vector(count, 1, 2, MPI_BYTE, &every_other);
        MPI_Type_commit(&every_other);
        MPI_Irecv(spread, 1, every_other, peer, tag, comm, &request);
        MPI_Type_free(&every_other);
        MPI_Wait(&request, status);
        for (int i = 0; i < count; i++)
            buffer[i] = spread[2 * i];
        free(spread);
        break;
    }
    case 10:
        MPI_Irecv(buffer, count, MPI_BYTE, peer, tag, comm, &request);
        while (!flag)
            MPI_Request_get_status(request, &flag, &seen);
        check("get_status", buffer, count, way, &seen, tag);
        MPI_Waitall(1, &request, status);
        break;
    case 11: /* a receive before it is cancelled */
        MPI_Irecv(buffer, count, MPI_BYTE, peer, 92, comm, &request);
        MPI_Cancel(&request);
        MPI_Wait(&request, &seen);
        MPI_Test_cancelled(&seen, &flag);
        if (!flag)
            printf("%d: a receive was not cancelled\n", rank);
        MPI_Recv(buffer, count, MPI_BYTE, peer, tag, comm, status);
        break;
    case 12:
        MPI_Irecv(buffer, count, MPI_BYTE, peer, tag, comm, &both[0]);
        MPI_Testsome(1, both, &index, indices, status);
        while (index == 0)
            MPI_Testsome(1, both, &index, indices, status);
        break;
    default:
        MPI_Irecv(buffer, count, MPI_BYTE, peer, tag, comm, &request);
        for (flag = 0; !flag;)
            MPI_Testany(1, &request, &index, &flag, status);
    }
}

static void receive_this_way(int way, unsigned char *buffer, int count, MPI_Status *status)
{
    MPI_Request request, both[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Message message;
    MPI_Status seen;
    int flag = 0, index, indices[2], length = -1, tag = way;
    switch (way) {
    case 0:
        MPI_Recv(buffer, count, MPI_BYTE, peer, tag, comm, status);
        break;
    case 1:
        MPI_Irecv(buffer, count, MPI_BYTE, peer, tag, comm, &request);
        while (!flag)
            MPI_Test(&request, &flag, status);
        break;
    case 2:
        MPI_Recv_init(buffer, count, MPI_BYTE, peer, tag, comm, &request);
        MPI_Start(&request);
        MPI_Wait(&request, status);
        MPI_Request_free(&request);
        break;
    case 3:
        seen.MPI_ERROR = MPI_ERR_DIMS; /* which only calls with several statuses set */
        MPI_Mprobe(peer, tag, comm, &message, &seen);
        if (seen.MPI_ERROR != MPI_ERR_DIMS)
            printf("mprobe: error %d\n", seen.MPI_ERROR);
        MPI_Get_count(&seen, MPI_BYTE, &length);
        MPI_Mrecv(buffer, length, MPI_BYTE, &message, status);
        break;
    case 4:
        while (!flag)
            MPI_Improbe(peer, tag, comm, &flag, &message, &seen);
        MPI_Get_count(&seen, MPI_BYTE, &length);
        MPI_Imrecv(buffer, length, MPI_BYTE, &message, &request);
        MPI_Wait(&request, status);
        break;
    case 5:
        while (!flag)
            MPI_Iprobe(peer, tag, comm, &flag, &seen);
        MPI_Get_count(&seen, MPI_BYTE, &length);
        MPI_Recv(buffer, length, MPI_BYTE, peer, tag, comm, status);
        break;
    case 6:
        MPI_Probe(peer, tag, comm, &seen);
        MPI_Get_count(&seen, MPI_BYTE, &length);
        MPI_Irecv(buffer, length, MPI_BYTE, peer, tag, comm, &both[1]);
        MPI_Waitsome(2, both, &index, indices, status);
        break;
    default:
        receive_other_way(way, buffer, count, status);
    }
}

static void receives(int count)
{
    unsigned char *buffer = malloc((size_t)count + 1);
    MPI_Status status;
    for (int way = 0; way < RECEIVES; way++) {
        trace("receive", way);
        int token;
        if (rank < size / 2) {
            fill(buffer, count, way);
            MPI_Send(buffer, count, MPI_BYTE, peer, way, comm);
            if (way == 7)
                MPI_Recv(&token, 1, MPI_INT, peer, 91, comm, &status);
            if (way == 8) {
                MPI_Recv(buffer, count, MPI_BYTE, peer, 91, comm, &status);
                check("replaced", buffer, count, 100, &status, 91);
            }
            continue;
        }
        memset(buffer, 0, (size_t)count);
        receive_this_way(way, buffer, count, &status);
        check("receive", buffer, count, way, &status, way);
    }
    free(buffer);
}

/* ---- order ------------------------------------------------------------------------------------------------
 */

enum { MIXED = 24, ORDER_TAG = 50 };

static int length_of(int index) { return index % 5 == 1 || index % 5 == 2 || index % 7 == 0 ? bytes : SMALL; }

/* Large and small ones with one tag, received one by one as a probe tells their lengths, which nobody else
 * knows. */
static void order(void)
{
    unsigned char *buffers[MIXED];
    MPI_Request requests[MIXED];
    MPI_Status status;
    for (int i = 0; i < MIXED; i++) {
        buffers[i] = malloc((size_t)bytes + SMALL);
        if (rank < size / 2) {
            fill(buffers[i], length_of(i), i);
            MPI_Isend(buffers[i], length_of(i), MPI_BYTE, peer, ORDER_TAG, comm, &requests[i]);
        }
    }
    for (int i = 0; rank >= size / 2 && i < MIXED; i++) {
        int length = -1;
        MPI_Message message;
        if (i % 3 == 0) {
            MPI_Mprobe(peer, ORDER_TAG, comm, &message, &status);
            MPI_Get_count(&status, MPI_BYTE, &length);
            MPI_Imrecv(buffers[i], length, MPI_BYTE, &message, &requests[i]);
        } else {
            trace("order", i);
            MPI_Probe(peer, ORDER_TAG, comm, &status);
            MPI_Get_count(&status, MPI_BYTE, &length);
            MPI_Irecv(buffers[i], length, MPI_BYTE, peer, ORDER_TAG, comm, &requests[i]);
        }
        if (length != length_of(i)) {
            printf("%d: message %d has %d bytes, not %d\n", rank, i, length, length_of(i));
            failures++;
        }
    }
    for (int i = 0; i < MIXED; i++) {
        MPI_Wait(&requests[i], &status);
        if (rank >= size / 2)
            check("order", buffers[i], length_of(i), i, &status, ORDER_TAG);
        free(buffers[i]);
    }
}

/* More receives at once than fit into any queue, the last of which must be over before the others are sent.
 */
static void many(void)
{
    enum { MANY = 700, FIRST_TAG = 1000 };
    static MPI_Request requests[MANY];
    int token = 0;
    unsigned char *buffer = malloc((size_t)MANY * 256);
    for (int i = 0; i < MANY; i++)
        if (rank >= size / 2)
            MPI_Irecv(buffer + 256 * i, 256, MPI_BYTE, peer, FIRST_TAG + i, comm, &requests[i]);
    if (rank >= size / 2) {
        MPI_Wait(&requests[MANY - 1], MPI_STATUS_IGNORE);
        MPI_Send(&token, 1, MPI_INT, peer, 93, comm);
        MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE);
        for (int i = 0; i < MANY; i++)
            failures += buffer[256 * i + 255] != (unsigned char)(i + 1);
    } else {
        for (int i = MANY - 1; i >= 0; i--) {
            memset(buffer + 256 * i, i + 1, 256);
            MPI_Isend(buffer + 256 * i, 256, MPI_BYTE, peer, FIRST_TAG + i, comm, &requests[i]);
            if (i == MANY - 1)
                MPI_Recv(&token, 1, MPI_INT, peer, 93, comm, MPI_STATUS_IGNORE);
        }
        MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE);
    }
    free(buffer);
}

int main(int argc, char **argv)
{
    int room = 1 << 24;
    MPI_Init(&argc, &argv);
    bytes = argc > 1 ? atoi(argv[1]) : 4096;
    make_comm(argc > 2 ? argv[2] : "dup");
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    void *attached = malloc((size_t)room);
    MPI_Buffer_attach(attached, room);
    peer = rank < size / 2 ? rank + size / 2 : rank - size / 2;
    if (size > 1) {
        sends(bytes);
        sends(SMALL);
        receives(bytes);
        receives(SMALL);
        order();
        many();
    }
    MPI_Buffer_detach(&attached, &room);
    free(attached);
    printf("rank %d of %d: %d failures\n", rank, size, failures);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return failures != 0;
}
