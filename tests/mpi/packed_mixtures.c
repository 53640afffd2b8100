/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: structs of two basic datatypes, and rows of one, are sent again and again with the same handle
 * and received each time with a new one, which nobody has learnt anything of. MPICH 4.0 ends receives as
 * truncated if such a message is sent without its gaps, MPICH 5 between nodes matched receives, and MPICH 5
 * what comes in parts: what a process sends to itself, and within a node without cross-memory attach.
 *
 * packed_mixtures [matched|self|large] */
#include "check.h"

enum { BYTES = 20000, BYTES_LARGE = 200000, SENDS = 24, GAP = 64, KINDS = 12 };

static bool is_matched; /* by MPI_Mrecv and MPI_Imrecv */
static bool is_self;    /* each to itself; the receive is posted before */
static bool is_large;   /* and fewer pairs */

static MPI_Datatype kinds[KINDS];

/* LENGTH elements of each kind, a gap between them and one behind. */
struct pair {
    int kinds[2], length;
    size_t bytes[2], extent;
};

static struct pair pair_of(int first, int second, int length)
{
    struct pair pair = {.kinds = {first, second}, .length = length, .extent = 2 * GAP};
    for (int i = 0; i < 2; i++) {
        int size;
        MPI_Type_size(kinds[pair.kinds[i]], &size);
        pair.bytes[i] = (size_t)length * (size_t)size;
        pair.extent += pair.bytes[i];
    }
    return pair;
}

static MPI_Datatype make(const struct pair *pair)
{
    int lengths[] = {pair->length, pair->length};
    MPI_Aint places[] = {0, (MPI_Aint)pair->bytes[0] + GAP};
    MPI_Datatype types[] = {kinds[pair->kinds[0]], kinds[pair->kinds[1]]}, made, resized;
    MPI_Type_create_struct(2, lengths, places, types, &made);
    MPI_Type_create_resized(made, 0, (MPI_Aint)pair->extent, &resized);
    MPI_Type_free(&made);
    MPI_Type_commit(&resized);
    return resized;
}

/* Of long doubles not all bytes are copied. */
static bool has_padding(int kind)
{
    return kinds[kind] == MPI_LONG_DOUBLE || kinds[kind] == MPI_C_LONG_DOUBLE_COMPLEX;
}

/* What the byte AT of the message in memory is, of an element; 0 where bytes may be lost. */
static char byte_of(const struct pair *pair, int part, size_t at, int number)
{
    return has_padding(pair->kinds[part]) ? 0 : (char)((size_t)number * 31 + at * 7);
}

/* Where a part of one of the datatype begins. */
static size_t begin_of(const struct pair *pair, int element, int part)
{
    return (size_t)element * pair->extent + (part ? pair->bytes[0] + GAP : 0);
}

static void write_all(const struct pair *pair, char *memory, int count, int number)
{
    for (int i = 0; i < 2 * count; i++) {
        size_t begin = begin_of(pair, i / 2, i % 2), end = begin + pair->bytes[i % 2];
        for (size_t at = begin; at < end; at++)
            memory[at] = byte_of(pair, i % 2, at, number);
    }
}

static void tell_error(const struct pair *pair, int rc)
{
    char text[MPI_MAX_ERROR_STRING];
    int length;
    if (rc == MPI_SUCCESS)
        return;
    MPI_Error_string(rc, text, &length);
    fprintf(stderr, "%d and %d, %d of each: %s\n", pair->kinds[0], pair->kinds[1], pair->length, text);
}

static int receive_matched(char *memory, int count, MPI_Datatype type, bool is_blocking)
{
    MPI_Message message;
    MPI_Request request;
    MPI_Status status;
    int received;
    CHECK(MPI_Mprobe(0, 0, MPI_COMM_WORLD, &message, &status) == MPI_SUCCESS);
    int rc = is_blocking ? MPI_Mrecv(memory, count, type, &message, &status)
                         : MPI_Imrecv(memory, count, type, &message, &request);
    if (!is_blocking)
        rc = MPI_Wait(&request, &status);
    if (rc != MPI_SUCCESS)
        return rc;
    MPI_Get_count(&status, type, &received);
    CHECK(received == count && status.MPI_SOURCE == 0 && message == MPI_MESSAGE_NULL);
    return rc;
}

/* Each part, and that nothing was written into the gap behind it. */
static void verify(const struct pair *pair, const char *memory, int count, int number)
{
    static const char nothing[GAP];
    for (int i = 0; i < 2 * count; i++) {
        size_t begin = begin_of(pair, i / 2, i % 2), end = begin + pair->bytes[i % 2];
        for (size_t at = begin; at < end; at++)
            CHECK(memory[at] == byte_of(pair, i % 2, at, number));
        CHECK(memcmp(memory + end, nothing, GAP) == 0);
    }
}

static void receive(const struct pair *pair, char *memory, int count, int number)
{
    MPI_Datatype type = make(pair);
    memset(memory, 0, (size_t)count * pair->extent);
    int rc = is_matched ? receive_matched(memory, count, type, number % 2 == 0)
                        : MPI_Recv(memory, count, type, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    tell_error(pair, rc);
    CHECK(rc == MPI_SUCCESS);
    verify(pair, memory, count, number);
    MPI_Type_free(&type);
}

static void send_to_self(const struct pair *pair, const char *memory, int count, MPI_Datatype type,
                         int number)
{
    char *received = calloc((size_t)count, pair->extent);
    MPI_Datatype new = make(pair);
    MPI_Request requests[2];
    MPI_Irecv(received, count, new, check_rank, 0, MPI_COMM_WORLD, &requests[0]);
    if (number % 3 == 0)
        MPI_Issend(memory, count, type, check_rank, 0, MPI_COMM_WORLD, &requests[1]);
    else
        MPI_Isend(memory, count, type, check_rank, 0, MPI_COMM_WORLD, &requests[1]);
    CHECK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
    verify(pair, received, count, number);
    MPI_Type_free(&new);
    free(received);
}

static void exchange(int first, int second, int length)
{
    struct pair pair = pair_of(first, second, length);
    MPI_Datatype type = make(&pair);
    int count = (is_large ? BYTES_LARGE : BYTES) / (int)(pair.bytes[0] + pair.bytes[1]) + 1;
    char *memory = calloc((size_t)count, pair.extent);
    for (int number = 0; number < SENDS; number++) {
        if (is_self || check_rank == 0)
            write_all(&pair, memory, count, number);
        if (is_self)
            send_to_self(&pair, memory, count, type, number);
        else if (check_rank == 0)
            MPI_Send(memory, count, type, 1, 0, MPI_COMM_WORLD);
        else
            receive(&pair, memory, count, number);
    }
    free(memory);
    MPI_Type_free(&type);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    check_begin();
    const MPI_Datatype all[KINDS] = {
        MPI_CHAR,        MPI_SHORT,           MPI_INT,    MPI_FLOAT,
        MPI_DOUBLE,      MPI_C_FLOAT_COMPLEX, MPI_C_BOOL, MPI_C_DOUBLE_COMPLEX,
        MPI_LONG_DOUBLE, MPI_INT64_T,         MPI_WCHAR,  MPI_C_LONG_DOUBLE_COMPLEX};
    memcpy(kinds, all, sizeof all);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    is_matched = argc > 1 && strcmp(argv[1], "matched") == 0;
    is_self = argc > 1 && strcmp(argv[1], "self") == 0;
    is_large = argc > 1 && !is_self;
    for (int first = 0; first < KINDS; first++)
        for (int second = first; second < KINDS; second += is_large ? 3 : 1) {
            exchange(first, second, 1);
            exchange(first, second, 8);
        }
    printf("rank %d mixtures\n", check_rank);
    MPI_Finalize();
    return 0;
}
