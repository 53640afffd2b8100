/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: messages of datatypes with gaps, sent and received in all pairs of kinds: long blocks, which
 * the ghost gathers, and short ones. Rank 0 sends, rank 1 receives and prints what differs. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 48 * 1024, KINDS = 7, TIMES = 3, ROOM = 4 * WORDS };

static int rank, failures;

static const char *const names[KINDS] = {"row",     "vector", "indexed", "subarray",
                                         "resized", "sparse", "struct"};

/* WORDS ints in all, in order of addresses. */
static int make(int kind, MPI_Datatype *type)
{
    const int lengths[2] = {1024, 512};
    MPI_Aint places[2] = {0, 2048 * sizeof(int)};
    int sizes[2] = {WORDS / 512, 1024}, parts[2] = {WORDS / 512, 512}, begins[2] = {0, 256};
    MPI_Datatype types[2] = {MPI_INT, MPI_INT}, inner;
    switch (kind) {
    case 0:
        MPI_Type_contiguous(WORDS, MPI_INT, type);
        break;
    case 1:
        MPI_Type_vector(WORDS / 512, 512, 700, MPI_INT, type);
        break;
    case 2:
        MPI_Type_create_hindexed(2, lengths, places, MPI_INT, type);
        break;
    case 3:
        MPI_Type_create_subarray(2, sizes, parts, begins, MPI_ORDER_C, MPI_INT, type);
        break;
    case 4:
        MPI_Type_contiguous(256, MPI_INT, &inner);
        MPI_Type_create_resized(inner, 0, 300 * sizeof(int), type);
        MPI_Type_free(&inner);
        break;
    case 5:
        MPI_Type_vector(WORDS / 2, 2, 5, MPI_INT, type);
        break;
    default:
        MPI_Type_create_struct(2, lengths, places, types, type);
    }
    MPI_Type_commit(type);
    return kind == 2 || kind == 6 ? WORDS / 1536 : kind == 4 ? WORDS / 256 : 1;
}

/* The i-th word of one of this kind: its place. */
static int place_of(int kind, int i)
{
    const int stride = 2560; /* the extent of kinds 2 and 6 */
    switch (kind) {
    case 0:
        return i;
    case 1:
        return i / 512 * 700 + i % 512;
    case 3:
        return i / 512 * 1024 + 256 + i % 512;
    case 4:
        return i / 256 * 300 + i % 256;
    case 5:
        return i / 2 * 5 + i % 2;
    default:
        return i / 1536 * stride + (i % 1536 < 1024 ? i % 1536 : i % 1536 - 1024 + 2048);
    }
}

static void receive(int kind, int count, MPI_Datatype type, int *buffer, int sent_kind, int tag)
{
    MPI_Request request;
    MPI_Status status;
    int got = -1, wrong = 0, touched = 0;
    for (int i = 0; i < ROOM; i++)
        buffer[i] = -1;
    MPI_Irecv(buffer, count, type, 0, tag, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, &status);
    MPI_Get_count(&status, type, &got);
    for (int i = 0; i < WORDS; i++)
        wrong += buffer[place_of(kind, i)] != i + tag;
    for (int i = 0; i < ROOM; i++)
        touched += buffer[i] != -1;
    if (got != count || wrong || touched != WORDS) {
        failures++;
        printf("%s to %s: count %d of %d, %d words wrong, %d touched\n", names[sent_kind], names[kind], got,
               count, wrong, touched);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int *buffer = malloc(ROOM * sizeof *buffer), counts[KINDS];
    MPI_Datatype types[KINDS];
    for (int kind = 0; kind < KINDS; kind++)
        counts[kind] = make(kind, &types[kind]);
    for (int from = 0; from < KINDS && rank < 2; from++)
        for (int to = 0; to < KINDS; to++)
            for (int time = 0; time < TIMES; time++) {
                int tag = 100 * from + 10 * to + time;
                MPI_Request request;
                if (rank == 1) {
                    receive(to, counts[to], types[to], buffer, from, tag);
                    continue;
                }
                for (int i = 0; i < ROOM; i++)
                    buffer[i] = -7;
                for (int i = 0; i < WORDS; i++)
                    buffer[place_of(from, i)] = i + tag;
                MPI_Isend(buffer, counts[from], types[from], 1, tag, MPI_COMM_WORLD, &request);
                MPI_Wait(&request, MPI_STATUS_IGNORE);
            }
    printf("rank %d: %d failures\n", rank, failures);
    for (int kind = 0; kind < KINDS; kind++)
        MPI_Type_free(&types[kind]);
    free(buffer);
    MPI_Finalize();
    return failures != 0;
}
