/* SPDX-License-Identifier: BSD-3-Clause */
/* Arguments: bytes of a block. Description: nonblocking collectives at once on communicators of some
 * processes, of all in another order, and of all in the order of MPI_COMM_WORLD, which alone ghosts make.
 * Processes of odd rank post them in another order. Prints a digest of what each rank has. */
#include "coll.h"

enum { WORLD, DUPLICATE, PARTS, REVERSED, REVERSED_DUPLICATE, COMMS };

/* Blocks as large as a process has for, or from, each. */
struct posted {
    unsigned *sent, *received;
    MPI_Comm comm;
    MPI_Request request;
    int rank, size;
};

/* What number a process has in MPI_COMM_WORLD. */
static int world_rank_of(MPI_Comm comm, int process)
{
    MPI_Group own, world;
    int found;
    MPI_Comm_group(comm, &own);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_translate_ranks(own, 1, &process, world, &found);
    MPI_Group_free(&own);
    MPI_Group_free(&world);
    return found;
}

static struct posted prepare(MPI_Comm comm, int round)
{
    struct posted it = {.comm = comm};
    MPI_Comm_rank(comm, &it.rank);
    MPI_Comm_size(comm, &it.size);
    it.sent = make(words * (size_t)it.size);
    it.received = make(words * (size_t)it.size);
    for (int to = 0; to < it.size; to++)
        for (size_t i = 0; i < words; i++)
            it.sent[(size_t)to * words + i] = pattern(rank, world_rank_of(comm, to), round, i);
    return it;
}

static void post(struct posted *it)
{
    MPI_Ialltoall(it->sent, (int)words, MPI_INT, it->received, (int)words, MPI_INT, it->comm, &it->request);
}

static void check_and_free(struct posted *it, int round)
{
    for (int from = 0; from < it->size; from++)
        for (size_t i = 0; i < words; i += 1 + words / 977)
            expect("alltoall", it->received[(size_t)from * words + i],
                   pattern(world_rank_of(it->comm, from), rank, round, i));
    free(it->sent);
    free(it->received);
}

/* The last of each communicator has it. */
static void bcast(MPI_Comm comm, int round)
{
    unsigned *data = make(words);
    int own, all;
    MPI_Request request;
    MPI_Comm_rank(comm, &own);
    MPI_Comm_size(comm, &all);
    for (size_t i = 0; own == all - 1 && i < words; i++)
        data[i] = pattern(rank, 0, round, i);
    MPI_Ibcast(data, (int)words, MPI_INT, all - 1, comm, &request);
    finish(&request, round % DOORS);
    for (size_t i = 0; i < words; i += 1 + words / 977)
        expect("bcast", data[i], pattern(world_rank_of(comm, all - 1), 0, round, i));
    free(data);
}

int main(int argc, char **argv)
{
    MPI_Comm comms[COMMS] = {MPI_COMM_WORLD};
    start(argc, argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[DUPLICATE]);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &comms[PARTS]);
    MPI_Comm_split(MPI_COMM_WORLD, 0, size - rank, &comms[REVERSED]);
    MPI_Comm_dup(comms[REVERSED], &comms[REVERSED_DUPLICATE]);
    for (int round = 0; round < DOORS; round++) {
        struct posted posted[COMMS];
        MPI_Request requests[COMMS];
        for (int i = 0; i < COMMS; i++)
            posted[i] = prepare(comms[i], round);
        for (int i = 0; i < COMMS; i++)
            post(&posted[rank % 2 ? i : COMMS - 1 - i]);
        for (int i = 0; i < COMMS; i++)
            requests[i] = posted[i].request;
        MPI_Waitall(COMMS, requests, MPI_STATUSES_IGNORE);
        for (int i = 0; i < COMMS; i++) {
            check_and_free(&posted[i], round);
            bcast(comms[i], round);
        }
    }
    for (int i = DUPLICATE; i < COMMS; i++)
        MPI_Comm_free(&comms[i]);
    return say_and_end();
}
