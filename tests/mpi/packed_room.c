/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: structs are received by each call with room for more than comes: for more than there is
 * memory, which plain MPIs do not touch, for (`vast`) as many as a count can say, and for (`one`) one
 * datatype of very many, of which MPICH 5 lists each in each round if it comes packed.
 *
 * packed_room [vast|one] */
#include "check.h"

#include <limits.h>
#include <sys/mman.h>

enum { ELEMENTS = 8192, ROUNDS = 24, ROUNDS_OF_ONE = 6, EXTENT = 16, BYTES = ELEMENTS * EXTENT, WAYS = 6 };

static const char *const names[WAYS] = {"recv", "irecv", "mrecv", "imrecv", "recv_init", "sendrecv"};

/* What follows may not be touched. */
static char *make_memory(void)
{
    enum { GUARD = 256 * 1024 * 1024 };
    char *memory = mmap(NULL, BYTES + GUARD, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(memory != MAP_FAILED && mprotect(memory, BYTES, PROT_READ | PROT_WRITE) == 0);
    return memory;
}

static void receive(int way, char *memory, int count, MPI_Datatype type, MPI_Status *status)
{
    MPI_Message message;
    MPI_Request request = MPI_REQUEST_NULL;
    if (way == 2 || way == 3)
        MPI_Mprobe(0, way, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    if (way == 0)
        MPI_Recv(memory, count, type, 0, way, MPI_COMM_WORLD, status);
    else if (way == 1)
        MPI_Irecv(memory, count, type, 0, way, MPI_COMM_WORLD, &request);
    else if (way == 2)
        MPI_Mrecv(memory, count, type, &message, status);
    else if (way == 3)
        MPI_Imrecv(memory, count, type, &message, &request);
    else if (way == 5)
        MPI_Sendrecv(NULL, 0, MPI_INT, MPI_PROC_NULL, 0, memory, count, type, 0, way, MPI_COMM_WORLD, status);
    else
        MPI_Recv_init(memory, count, type, 0, way, MPI_COMM_WORLD, &request);
    if (way == 4)
        MPI_Start(&request);
    if (request != MPI_REQUEST_NULL)
        MPI_Wait(&request, status);
    if (request != MPI_REQUEST_NULL)
        MPI_Request_free(&request);
}

static void check_received(const char *memory, int round)
{
    for (int i = 0; i < BYTES; i++)
        CHECK(memory[i] == (i % EXTENT <= 8 ? (char)(round + i / EXTENT) : 0));
}

/* Rank 0 sends to rank 1. */
static void exchange(int way, int round, char *memory, MPI_Datatype type, int room, MPI_Datatype taken)
{
    for (int i = 0; i < BYTES; i++)
        memory[i] = check_rank == 0 ? (char)(round + i / EXTENT) : 0;
    if (check_rank == 0)
        MPI_Send(memory, ELEMENTS, type, 1, way, MPI_COMM_WORLD);
    if (check_rank == 1) {
        MPI_Status status;
        int count;
        receive(way, memory, room, taken, &status);
        MPI_Get_elements(&status, taken, &count);
        CHECK(count == 2 * ELEMENTS && status.MPI_SOURCE == 0 && status.MPI_TAG == way);
        check_received(memory, round);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    enum { IN_ONE = 8 * 1024 * 1024 };
    MPI_Init(&argc, &argv);
    check_begin();
    bool is_vast = argc > 1 && strcmp(argv[1], "vast") == 0, is_one = argc > 1 && strcmp(argv[1], "one") == 0;
    int lengths[] = {1, 1}, room = is_vast ? INT_MAX : 4 * ELEMENTS;
    MPI_Aint places[] = {0, 8};
    MPI_Datatype types[] = {MPI_DOUBLE, MPI_CHAR};
    char *memory = make_memory();
    for (int way = 0; way < WAYS; way++) {
        MPI_Datatype type, taken;
        MPI_Type_create_struct(2, lengths, places, types, &type);
        MPI_Type_contiguous(is_one ? IN_ONE : 1, type, &taken);
        MPI_Type_commit(&type);
        MPI_Type_commit(&taken);
        for (int round = 0; round < (is_one ? ROUNDS_OF_ONE : ROUNDS); round++)
            exchange(way, round, memory, type, is_one ? 1 : room, is_one ? taken : type);
        MPI_Type_free(&taken);
        MPI_Type_free(&type);
        printf("rank %d %s received\n", check_rank, names[way]);
    }
    munmap(memory, BYTES);
    MPI_Finalize();
    return 0;
}
