/* SPDX-License-Identifier: BSD-3-Clause */
/* Arguments: bytes of a block. Description: nonblocking collectives that ghosts make, each kind from every
 * root, completed in every door, several at a time on two communicators, of datatypes with gaps, in place,
 * and between other messages. Prints a digest of what each rank has. */
#include "coll.h"

enum { ROUNDS = 3, GAP = 3, MANY = 150, FEW_WORDS = 40 };

static void check_bcast(const unsigned *data, int root, int round, size_t stride)
{
    for (size_t i = 0; i < words; i += 1 + words / 977)
        expect("bcast", data[i * stride], pattern(root, 0, round, i));
}

static void bcast(MPI_Comm comm, int root, int round, MPI_Datatype type, size_t stride)
{
    unsigned *data = make(words * stride);
    MPI_Request request;
    for (size_t i = 0; rank == root && i < words; i++)
        data[i * stride] = pattern(root, 0, round, i);
    MPI_Ibcast(data, (int)words, type, root, comm, &request);
    finish(&request, round % DOORS);
    check_bcast(data, root, round, stride);
    for (size_t i = 0; stride > 1 && rank != root && i < words; i++)
        for (size_t gap = 1; gap < stride; gap++)
            if (data[i * stride + gap] != 0xeeeeeeee)
                failures++;
    free(data);
}

static void allgather(MPI_Comm comm, int round, int is_in_place, MPI_Datatype type, size_t stride)
{
    unsigned *own = make(words * stride), *all = make(words * stride * (size_t)size);
    unsigned *from = is_in_place ? all + (size_t)rank * words * stride : own;
    MPI_Request request;
    for (size_t i = 0; i < words; i++)
        from[i * stride] = pattern(rank, 0, round, i);
    MPI_Iallgather(is_in_place ? MPI_IN_PLACE : own, (int)words, type, all, (int)words, type, comm, &request);
    finish(&request, round % DOORS);
    for (int sender = 0; sender < size; sender++)
        for (size_t i = 0; i < words; i += 1 + words / 977)
            expect("allgather", all[((size_t)sender * words + i) * stride], pattern(sender, 0, round, i));
    free(own);
    free(all);
}

static void alltoall(MPI_Comm comm, int round, int is_in_place)
{
    unsigned *own = make(words * (size_t)size), *all = make(words * (size_t)size);
    unsigned *from = is_in_place ? all : own;
    MPI_Request request;
    for (int to = 0; to < size; to++)
        for (size_t i = 0; i < words; i++)
            from[(size_t)to * words + i] = pattern(rank, to, round, i);
    MPI_Ialltoall(is_in_place ? MPI_IN_PLACE : own, (int)words, MPI_INT, all, (int)words, MPI_INT, comm,
                  &request);
    finish(&request, round % DOORS);
    for (int sender = 0; sender < size; sender++)
        for (size_t i = 0; i < words; i += 1 + words / 977)
            expect("alltoall", all[(size_t)sender * words + i], pattern(sender, rank, round, i));
    free(own);
    free(all);
}

/* Several at once on two communicators, posted in unlike orders, one of which is freed before they end; a
 * message and other collectives between. */
static void mixture(int round)
{
    MPI_Comm comms[2];
    MPI_Request requests[6];
    unsigned *data[4], token = (unsigned)round, got = 0, sum = 0;
    int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[0]);
    MPI_Comm_dup(comms[0], &comms[1]);
    for (int i = 0; i < 4; i++) {
        data[i] = make(words);
        for (size_t j = 0; rank == i % size && j < words; j++)
            data[i][j] = pattern(i % size, 0, round, j);
    }
    for (int i = 0; i < 2; i++) {
        int first = rank % 2 ? i : 1 - i; /* of which communicator */
        MPI_Ibcast(data[first], (int)words, MPI_INT, first % size, comms[first], &requests[first]);
    }
    MPI_Irecv(&got, 1, MPI_INT, previous, 5, comms[0], &requests[4]);
    MPI_Isend(&token, 1, MPI_INT, next, 5, comms[0], &requests[5]);
    for (int i = 2; i < 4; i++)
        MPI_Ibcast(data[i], (int)words, MPI_INT, i % size, comms[i - 2], &requests[i]);
    MPI_Allreduce(&token, &sum, 1, MPI_UNSIGNED, MPI_SUM, comms[1]);
    MPI_Comm_free(&comms[1]);
    MPI_Waitall(6, requests, MPI_STATUSES_IGNORE);
    expect("message", got, (unsigned)round);
    expect("sum", sum, (unsigned)(round * size));
    for (int i = 0; i < 4; i++) {
        check_bcast(data[i], i % size, round, 1);
        free(data[i]);
    }
    MPI_Comm_free(&comms[0]);
}

/* More at once on one communicator than ghosts have tags for. */
static void many(MPI_Comm comm)
{
    unsigned *data = make((size_t)MANY * FEW_WORDS);
    MPI_Request requests[MANY];
    for (int i = 0; i < MANY; i++) {
        for (int j = 0; rank == i % size && j < FEW_WORDS; j++)
            data[i * FEW_WORDS + j] = pattern(i, 0, 0, (size_t)j);
        MPI_Ibcast(data + (size_t)i * FEW_WORDS, FEW_WORDS, MPI_INT, i % size, comm, &requests[i]);
    }
    MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < MANY * FEW_WORDS; i++)
        expect("many", data[i], pattern(i / FEW_WORDS, 0, 0, (size_t)(i % FEW_WORDS)));
    free(data);
}

int main(int argc, char **argv)
{
    MPI_Comm dup, part;
    start(argc, argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &part);
    MPI_Datatype gaps = make_gaps(GAP);
    for (int round = 0; round < DOORS; round++) {
        bcast(round % 2 ? dup : MPI_COMM_WORLD, round % size, round, MPI_INT, 1);
        allgather(round % 2 ? dup : MPI_COMM_WORLD, round, round % 3 == 0, MPI_INT, 1);
        alltoall(round % 2 ? dup : MPI_COMM_WORLD, round, 0);
    }
    for (int round = 0; round < ROUNDS; round++) {
        bcast(dup, round % size, round, gaps, GAP);
        allgather(dup, round, round % 2, gaps, GAP);
        mixture(round);
    }
    many(dup);
    bcast(part, 0, 1, MPI_INT, 1); /* what ghosts leave to the MPI */
    alltoall(dup, 1, 1);
    MPI_Type_free(&gaps);
    MPI_Comm_free(&part);
    MPI_Comm_free(&dup);
    return say_and_end();
}
