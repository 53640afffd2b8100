/* SPDX-License-Identifier: BSD-3-Clause */
/* Arguments: bytes of a vector. Description: MPI_Iallreduce that ghosts make, of all operations and datatypes
 * whose order of combination does not show, completed in every door, in place and not, several at a time, and
 * those that the MPI makes. Prints a digest of what each rank has. */
#include "coll.h"

#include <stdbool.h>

enum { SEVERAL = 5, SHORT = 3, SHORT_BYTES = 2 };

/* Only what C defines and MPIs agree on: sums and products that wrap round are of unsigned ones, small
 * ones are not added, and unsigned ones have no highest bit (plain MPICH 4.0 takes them for signed). */
static const struct {
    MPI_Datatype type;
    int size;
    bool is_signed, is_floating;
} kinds[] = {{MPI_INT, sizeof(int), true, false},
             {MPI_UNSIGNED_CHAR, 1, false, false},
             {MPI_UINT16_T, 2, false, false},
             {MPI_UNSIGNED, sizeof(unsigned), false, false},
             {MPI_UINT64_T, sizeof(uint64_t), false, false},
             {MPI_INT8_T, 1, true, false},
             {MPI_SHORT, 2, true, false},
             {MPI_LONG, sizeof(long), true, false},
             {MPI_FLOAT, sizeof(float), true, true},
             {MPI_DOUBLE, sizeof(double), true, true}};
enum { KINDS = sizeof kinds / sizeof kinds[0], FIRST_ORDER = 6, INTEGER_OPS = 8, OPS = 10, BITS = 8 };

static MPI_Op op_at(int index)
{
    const MPI_Op ops[OPS] = {MPI_LAND, MPI_LOR, MPI_LXOR, MPI_BAND, MPI_BOR,
                             MPI_BXOR, MPI_MIN, MPI_MAX,  MPI_SUM,  MPI_PROD};
    return ops[index];
}

static int first_op(int kind) { return kinds[kind].is_floating ? FIRST_ORDER : 0; }

/* Behind the last one. */
static int op_count(int kind)
{
    if (kinds[kind].size <= SHORT_BYTES)
        return INTEGER_OPS;
    return kinds[kind].is_signed ? INTEGER_OPS : OPS;
}

static bool is_highest(int kind, int byte) { return !kinds[kind].is_signed && byte == kinds[kind].size - 1; }

/* Bytes that are any number, but for floating point: those are whole. Every fourth integer is zero. */
static void fill(unsigned char *memory, size_t count, int kind, int round)
{
    for (size_t i = 0; i < count; i++) {
        unsigned number = pattern(rank, kind, round, i) * 2654435761u >> BITS;
        if (kinds[kind].type == MPI_FLOAT)
            ((float *)(void *)memory)[i] = (float)((int)(number % 4096) - 2048);
        else if (kinds[kind].type == MPI_DOUBLE)
            ((double *)(void *)memory)[i] = (double)((int)(number % 65536) - 32768);
        else
            for (int byte = 0; byte < kinds[kind].size; byte++)
                memory[i * (size_t)kinds[kind].size + (size_t)byte] =
                    number % 4 ? (unsigned char)(number >> byte) & (is_highest(kind, byte) ? 0x7f : 0xff) : 0;
    }
}

struct reduction {
    unsigned char *sent, *received;
    size_t count, bytes;
    MPI_Request request;
};

static struct reduction begin(MPI_Comm comm, int kind, int op, int round, size_t bytes, bool is_in_place)
{
    struct reduction it = {.count = bytes / (size_t)kinds[kind].size};
    it.bytes = it.count * (size_t)kinds[kind].size;
    it.sent = malloc(it.bytes + 1);
    it.received = malloc(it.bytes + 1);
    memset(it.received, 0xee, it.bytes + 1);
    fill(is_in_place ? it.received : it.sent, it.count, kind, round);
    MPI_Iallreduce(is_in_place ? MPI_IN_PLACE : it.sent, it.received, (int)it.count, kinds[kind].type,
                   op_at(op), comm, &it.request);
    return it;
}

static void end(struct reduction *it)
{
    for (size_t i = 0; i < it->bytes; i++)
        mix(it->received[i]);
    if (it->received[it->bytes] != 0xee)
        failures++;
    free(it->sent);
    free(it->received);
}

static void several(MPI_Comm dup, size_t bytes)
{
    struct reduction all[SEVERAL];
    MPI_Request requests[SEVERAL];
    for (int i = 0; i < SEVERAL; i++) {
        all[i] = begin(i % 2 ? dup : MPI_COMM_WORLD, i, op_count(i) - 1, i, bytes, i % 3 == 0);
        requests[i] = all[i].request;
    }
    MPI_Waitall(SEVERAL, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < SEVERAL; i++)
        end(&all[i]);
}

static void add(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *count; i++)
        ((unsigned *)inout)[i] += ((unsigned *)in)[i];
}

/* What ghosts leave to the MPI: sums of floating-point numbers, which are whole here, pairs, and operations
 * of the program. */
static void left(MPI_Comm comm, size_t bytes)
{
    int count = (int)(bytes / sizeof(double));
    double *sent = calloc((size_t)count, sizeof *sent), *sum = calloc((size_t)count, sizeof *sum);
    MPI_Op own;
    MPI_Request request;
    MPI_Op_create(add, 1, &own);
    for (int i = 0; i < count; i++)
        sent[i] = rank + i % SHORT;
    MPI_Iallreduce(sent, sum, count, MPI_DOUBLE, MPI_SUM, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < count; i++)
        mix((uint64_t)sum[i]);
    for (int i = 0; i < 2 * count; i++)
        ((int *)sent)[i] = rank + i;
    MPI_Iallreduce(sent, sum, count, MPI_2INT, MPI_MAXLOC, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < 2 * count; i++)
        mix((uint64_t)((int *)sum)[i]);
    MPI_Iallreduce(sent, sum, 2 * count, MPI_UNSIGNED, own, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < 2 * count; i++)
        mix((uint64_t)((unsigned *)sum)[i]);
    MPI_Op_free(&own);
    free(sent);
    free(sum);
}

int main(int argc, char **argv)
{
    MPI_Comm dup;
    start(argc, argv);
    size_t bytes = words * sizeof(unsigned);
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    for (int kind = 0, round = 0; kind < KINDS; kind++)
        for (int op = first_op(kind); op < op_count(kind); op++, round++) {
            struct reduction it =
                begin(round % 2 ? dup : MPI_COMM_WORLD, kind, op, round, bytes, round % 3 == 0);
            finish(&it.request, round % DOORS);
            end(&it);
        }
    several(dup, bytes);
    left(dup, bytes);
    MPI_Comm_free(&dup);
    return say_and_end();
}
