/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: many messages both ways, persistent ones among them, completed one by one or some at a time by
 * doors that wait. Each must end once, with its data. */
#include "check.h"

enum { MESSAGES = 48, REQUESTS = 2 * MESSAGES, INTS = 4096, ROUNDS = 3 };

static int *sent, *received;
static MPI_Request requests[REQUESTS]; /* receives, then sends */
static int ends[REQUESTS];

static bool is_persistent(int message) { return message % 3 == 0; }

static int *part(int *memory, int message) { return memory + (size_t)message * INTS; }

static void define(int peer)
{
    for (int i = 0; i < MESSAGES; i++) {
        requests[i] = requests[MESSAGES + i] = MPI_REQUEST_NULL;
        if (!is_persistent(i))
            continue;
        MPI_Recv_init(part(received, i), INTS, MPI_INT, peer, i, MPI_COMM_WORLD, &requests[i]);
        MPI_Send_init(part(sent, i), INTS, MPI_INT, peer, i, MPI_COMM_WORLD, &requests[MESSAGES + i]);
    }
}

static void begin(int peer, unsigned seed)
{
    memset(received, 0, (size_t)MESSAGES * INTS * sizeof(int));
    memset(ends, 0, sizeof ends);
    for (int i = 0; i < MESSAGES; i++)
        check_fill(part(sent, i), INTS, seed + (unsigned)i);
    for (int i = 0; i < MESSAGES; i++)
        if (is_persistent(i))
            MPI_Start(&requests[i]);
        else
            MPI_Irecv(part(received, i), INTS, MPI_INT, peer, i, MPI_COMM_WORLD, &requests[i]);
    for (int i = 0; i < MESSAGES; i++)
        if (is_persistent(i))
            MPI_Start(&requests[MESSAGES + i]);
        else
            MPI_Isend(part(sent, i), INTS, MPI_INT, peer, i, MPI_COMM_WORLD, &requests[MESSAGES + i]);
    check_compute(COMPUTE_US);
}

static void by_any(void)
{
    int index;
    for (int i = 0; i < REQUESTS; i++) {
        CHECK(MPI_Waitany(REQUESTS, requests, &index, MPI_STATUS_IGNORE) == MPI_SUCCESS);
        ends[index]++;
    }
    MPI_Waitany(REQUESTS, requests, &index, MPI_STATUS_IGNORE);
    CHECK(index == MPI_UNDEFINED);
}

static void by_some(void)
{
    int count, indices[REQUESTS];
    MPI_Status statuses[REQUESTS];
    for (int i = 0; i < REQUESTS; i += count) {
        CHECK(MPI_Waitsome(REQUESTS, requests, &count, indices, statuses) == MPI_SUCCESS);
        for (int j = 0; j < count; j++)
            ends[indices[j]]++;
    }
    MPI_Waitsome(REQUESTS, requests, &count, indices, MPI_STATUSES_IGNORE);
    CHECK(count == MPI_UNDEFINED);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    check_begin();
    int peer = check_rank ^ 1;
    sent = check_ints(MESSAGES * INTS);
    received = check_ints(MESSAGES * INTS);
    define(peer);
    for (int round = 0; round < ROUNDS; round++)
        for (int door = 0; door < 2; door++) {
            unsigned seed = (unsigned)(round * 2 + door) * MESSAGES * 2;
            begin(peer, seed + (unsigned)check_rank * MESSAGES);
            (door ? by_some : by_any)();
            for (int i = 0; i < REQUESTS; i++)
                CHECK(ends[i] == 1);
            for (int i = 0; i < MESSAGES; i++)
                CHECK(check_is_filled(part(received, i), INTS, seed + (unsigned)(peer * MESSAGES + i)));
            check_report(door ? "some" : "any", (uint64_t)round);
        }
    for (int i = 0; i < REQUESTS; i++)
        if (requests[i] != MPI_REQUEST_NULL)
            MPI_Request_free(&requests[i]);
    free(sent);
    free(received);
    MPI_Finalize();
    return 0;
}
