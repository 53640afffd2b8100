/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: persistent receives whose starts the library may put behind those of sends, and receives of
 * other messages between a large one and its send: in which order they match, and what ends them. */
#include "check.h"

enum { ROUNDS = 5, MESSAGES = 2, MANY = 70, SMALL_INTS = 8 };

static int *sent, *received;
static int peer;
static MPI_Request receives[MESSAGES], sends[MESSAGES];

static void start_at_once(void)
{
    MPI_Request all[2 * MESSAGES];
    memcpy(all, receives, sizeof receives);
    memcpy(all + MESSAGES, sends, sizeof sends);
    MPI_Startall(2 * MESSAGES, all);
    memcpy(receives, all, sizeof receives);
    memcpy(sends, all + MESSAGES, sizeof sends);
}

static void start_mixed(void)
{
    MPI_Request all[] = {receives[0], sends[0], receives[1], sends[1], MPI_REQUEST_NULL};
    MPI_Startall(4, all);
    receives[0] = all[0], sends[0] = all[1], receives[1] = all[2], sends[1] = all[3];
}

static void start_in_two(void)
{
    MPI_Startall(MESSAGES, receives);
    MPI_Startall(MESSAGES, sends);
}

static void start_each(void)
{
    for (int i = 0; i < MESSAGES; i++)
        MPI_Start(&receives[i]);
    for (int i = 0; i < MESSAGES; i++)
        MPI_Start(&sends[i]);
}

static void check_received(int round, const MPI_Status *statuses)
{
    for (int i = 0; i < MESSAGES; i++) {
        int count;
        MPI_Get_count(&statuses[i], MPI_INT, &count);
        CHECK(count == LARGE_INTS && statuses[i].MPI_SOURCE == peer && statuses[i].MPI_TAG == i);
        CHECK(check_is_filled(received + i * LARGE_INTS, LARGE_INTS, (unsigned)(peer + 10 * round + i)));
    }
}

static void exchange(const char *name, void (*start)(void))
{
    uint64_t digest = 0;
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Status statuses[MESSAGES];
        for (int i = 0; i < MESSAGES; i++)
            check_fill(sent + i * LARGE_INTS, LARGE_INTS, (unsigned)(check_rank + 10 * round + i));
        start();
        check_compute(COMPUTE_US);
        if (round % 2)
            MPI_Waitall(MESSAGES, receives, statuses);
        for (int i = 0, flag = 0; i < MESSAGES && round % 2 == 0; i++, flag = 0)
            while (!flag)
                MPI_Test(&receives[i], &flag, &statuses[i]);
        MPI_Waitall(MESSAGES, sends, MPI_STATUSES_IGNORE);
        for (int i = 0; i < MESSAGES; i++)
            CHECK(receives[i] != MPI_REQUEST_NULL && sends[i] != MPI_REQUEST_NULL);
        check_received(round, statuses);
        digest += check_digest(received, (size_t)MESSAGES * LARGE_INTS * sizeof(int));
    }
    check_report(name, digest);
}

/* The same tag: a receive that is posted later gets the message that is sent later. */
static void before_another(void)
{
    MPI_Request later, requests[2];
    int *small = received + LARGE_INTS;
    check_fill(sent, LARGE_INTS + SMALL_INTS, (unsigned)check_rank + 1);
    MPI_Start(&receives[0]);
    MPI_Irecv(small, SMALL_INTS, MPI_INT, peer, MPI_ANY_TAG, MPI_COMM_WORLD, &later);
    MPI_Isend(sent, LARGE_INTS, MPI_INT, peer, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(sent + LARGE_INTS, SMALL_INTS, MPI_INT, peer, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Wait(&receives[0], MPI_STATUS_IGNORE);
    MPI_Wait(&later, MPI_STATUS_IGNORE);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    check_report("another", check_digest(received, (LARGE_INTS + SMALL_INTS) * sizeof(int)));
}

/* Nothing of theirs is the large one's: another tag, a strided one, nobody. */
static void beside_others(void)
{
    MPI_Datatype strided;
    MPI_Request requests[8];
    int *small = received + LARGE_INTS, *columns = small + SMALL_INTS;
    MPI_Type_vector(LARGE_INTS / 4, 1, 2, MPI_INT, &strided);
    MPI_Type_commit(&strided);
    memset(received, 0, (size_t)3 * LARGE_INTS * sizeof *received);
    check_fill(sent, 3 * LARGE_INTS, (unsigned)check_rank + 2);
    MPI_Irecv(received, LARGE_INTS, MPI_INT, peer, 20, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(small, SMALL_INTS, MPI_INT, peer, 21, MPI_COMM_WORLD, &requests[1]);
    MPI_Irecv(columns, 1, strided, peer, 22, MPI_COMM_WORLD, &requests[2]);
    MPI_Irecv(columns, 1, strided, MPI_PROC_NULL, 20, MPI_COMM_WORLD, &requests[3]);
    MPI_Isend(sent + LARGE_INTS, SMALL_INTS, MPI_INT, peer, 21, MPI_COMM_WORLD, &requests[4]);
    MPI_Isend(sent + LARGE_INTS, 1, strided, peer, 22, MPI_COMM_WORLD, &requests[5]);
    MPI_Isend(sent, LARGE_INTS, MPI_INT, MPI_PROC_NULL, 20, MPI_COMM_WORLD, &requests[6]);
    MPI_Isend(sent, LARGE_INTS, MPI_INT, peer, 20, MPI_COMM_WORLD, &requests[7]);
    MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
    check_report("beside", check_digest(received, (size_t)3 * LARGE_INTS * sizeof(int)));
    MPI_Type_free(&strided);
}

/* Packed between the receive and its send. */
static void packed_between(void)
{
    MPI_Request requests[2];
    int bytes, position = 0;
    check_fill(sent, LARGE_INTS, (unsigned)check_rank + 3);
    MPI_Irecv(received, LARGE_INTS, MPI_INT, peer, 23, MPI_COMM_WORLD, &requests[0]);
    MPI_Pack_size(LARGE_INTS, MPI_INT, MPI_COMM_WORLD, &bytes);
    MPI_Pack(sent, LARGE_INTS, MPI_INT, sent + LARGE_INTS, 2 * LARGE_INTS * (int)sizeof(int), &position,
             MPI_COMM_WORLD);
    CHECK(position <= bytes);
    MPI_Isend(sent + LARGE_INTS, position, MPI_PACKED, peer, 23, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    check_report("packed", check_digest(received, LARGE_INTS * sizeof(int)));
}

/* Cancelled while active, and started again; and a call between. */
static void cancelled(void)
{
    MPI_Status status;
    int flag = 0;
    MPI_Start(&receives[1]);
    MPI_Cancel(&receives[1]);
    MPI_Wait(&receives[1], &status);
    MPI_Test_cancelled(&status, &flag);
    CHECK(flag && receives[1] != MPI_REQUEST_NULL);
    MPI_Barrier(MPI_COMM_WORLD); /* nobody sends to the cancelled one */
    check_fill(sent + LARGE_INTS, LARGE_INTS, (unsigned)check_rank + 4);
    MPI_Start(&receives[1]);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Start(&sends[1]);
    flag = 0;
    while (!flag)
        MPI_Request_get_status(receives[1], &flag, &status); /* MPICH 5 forgets it then */
    MPI_Wait(&receives[1], MPI_STATUS_IGNORE);
    MPI_Wait(&sends[1], MPI_STATUS_IGNORE);
    CHECK(status.MPI_SOURCE == peer && status.MPI_TAG == 1);
    check_report("cancelled", check_digest(received + LARGE_INTS, LARGE_INTS * sizeof(int)));
}

/* More than are kept at once. */
static void many(void)
{
    static MPI_Request requests[2 * MANY];
    int ints = LARGE_INTS / MANY;
    check_fill(sent, MANY * ints, (unsigned)check_rank + 5);
    for (int i = 0; i < MANY; i++) {
        MPI_Recv_init(received + i * ints, ints, MPI_INT, peer, i, MPI_COMM_WORLD, &requests[i]);
        MPI_Send_init(sent + i * ints, ints, MPI_INT, peer, i, MPI_COMM_WORLD, &requests[MANY + i]);
    }
    for (int is_split = 0; is_split < 2; is_split++) {
        if (is_split) {
            MPI_Startall(MANY, requests);
            MPI_Startall(MANY, requests + MANY);
        } else {
            MPI_Startall(2 * MANY, requests);
        }
        for (int left = 2 * MANY, index; left > 0; left--)
            MPI_Waitany(2 * MANY, requests, &index, MPI_STATUS_IGNORE);
        check_report("many", check_digest(received, (size_t)(MANY * ints) * sizeof(int)));
    }
    for (int i = 0; i < 2 * MANY; i++)
        MPI_Request_free(&requests[i]);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    check_begin();
    peer = check_rank ^ 1;
    sent = calloc(4 * LARGE_INTS, sizeof *sent);
    received = calloc(4 * LARGE_INTS, sizeof *received);
    for (int i = 0; i < MESSAGES; i++) {
        MPI_Recv_init(received + i * LARGE_INTS, LARGE_INTS, MPI_INT, i == 0 ? peer : MPI_ANY_SOURCE, i,
                      MPI_COMM_WORLD, &receives[i]);
        MPI_Send_init(sent + i * LARGE_INTS, LARGE_INTS, MPI_INT, peer, i, MPI_COMM_WORLD, &sends[i]);
    }
    exchange("at once", start_at_once);
    exchange("mixed", start_mixed);
    exchange("in two", start_in_two);
    before_another();
    exchange("each", start_each);
    beside_others();
    exchange("in two", start_in_two);
    packed_between();
    exchange("in two", start_in_two);
    cancelled();
    exchange("each", start_each);
    many();
    for (int i = 0; i < MESSAGES; i++) {
        MPI_Request_free(&receives[i]);
        MPI_Request_free(&sends[i]);
    }
    free(sent);
    free(received);
    MPI_Finalize();
    return 0;
}
