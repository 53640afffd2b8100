/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: what is gained, shown without a clock. While something is pending no rank calls MPI again
 * until it has come: without somebody else who makes progress it never does. Arguments:
 *   message DIR     rank 0 sends to rank 1
 *   alone DIR       the same, after exchanges in which each rank sends after it has computed: for this one
 *                   receive nobody sends anything
 *   collective DIR  an alltoall of all ranks
 *   schedules DIR   a broadcast, an alltoallv and an allreduce, one after the other
 *   window DIR      rank 0 accumulates at the last rank, which is outside MPI until the flush has returned
 *   created DIR     the same on memory of the program's own, some numbers, then many
 *   asked N         N accumulates at the last rank, which is outside MPI for a moment each time
 *   awaited N       N messages from rank 0 to rank 1, which waits for each at once
 *   stopped N       windows N, while the ghosts of this node stand still
 *   killed N        the same, after they were killed
 *   told N          N messages from rank 0 to rank 1, which computes; the ghosts slept, and stand still
 *   windows N       N exchanges with a computation each: for the policy, which has to find out by itself
 * DIR is empty at first. */
#include "order.h"

#include "check.h"

enum { COUNT = 1 << 18, COMPUTE_MS = 40 };

/* Intel MPI copies a message within a node in many steps on some processors. A thread that is told nothing
 * looks 3, 9, 21, 45, ... ms after the post. */
enum { LONG_COMPUTE_MS = 160 };

static int numbers[2][COUNT];

/* Looking at a buffer that the MPI still fills is not for programs. */
static void await_number(const int *place, int wanted)
{
    for (int ms = 0; *(volatile const int *)place != wanted; ms++) {
        CHECK(ms < ORDER_PATIENCE_MS);
        order_sleep(1);
    }
}

static void message(void)
{
    MPI_Request request;
    if (check_rank == 0) {
        for (int i = 0; i < COUNT; i++)
            numbers[0][i] = i + 1;
        MPI_Isend(numbers[0], COUNT, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
        order_await("came", 1);
    } else {
        MPI_Irecv(numbers[1], COUNT, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
        await_number(&numbers[1][COUNT - 1], COUNT);
        order_say("came", 1);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void alone(void)
{
    enum { EXCHANGES = 6, BEFORE_MS = 2 };
    for (int i = 0; i < EXCHANGES; i++) {
        MPI_Request requests[2];
        MPI_Irecv(numbers[1], COUNT, MPI_INT, check_left, 0, MPI_COMM_WORLD, &requests[0]);
        order_sleep(BEFORE_MS);
        MPI_Isend(numbers[0], COUNT, MPI_INT, check_right, 0, MPI_COMM_WORLD, &requests[1]);
        order_sleep(BEFORE_MS);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    message();
}

static void collective(void)
{
    MPI_Request request;
    int block = COUNT / check_size;
    for (int i = 0; i < COUNT; i++)
        numbers[0][i] = check_rank + 1;
    MPI_Ialltoall(numbers[0], block, MPI_INT, numbers[1], block, MPI_INT, MPI_COMM_WORLD, &request);
    for (int rank = 0; rank < check_size; rank++)
        await_number(&numbers[1][(rank + 1) * block - 1], rank + 1);
    order_say("came", check_rank);
    for (int rank = 0; rank < check_size; rank++)
        order_await("came", rank);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* All ranks have the number, and none has called MPI since it began. */
static void await_all(const int *place, int wanted, int round)
{
    await_number(place, wanted);
    order_say("came", round * check_size + check_rank);
    for (int rank = 0; rank < check_size; rank++)
        order_await("came", round * check_size + rank);
}

static void schedules(void)
{
    MPI_Request request;
    int counts[check_size], places[check_size], last = check_size - 1;
    for (int i = 0; i < COUNT; i++)
        numbers[0][i] = check_rank + 1;
    MPI_Ibcast(numbers[check_rank != 0], COUNT, MPI_INT, 0, MPI_COMM_WORLD, &request);
    await_all(&numbers[check_rank != 0][COUNT - 1], 1, 0);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int rank = 0; rank < check_size; rank++) {
        counts[rank] = COUNT / check_size;
        places[rank] = rank * counts[rank];
    }
    memset(numbers[1], 0, sizeof numbers[1]);
    MPI_Ialltoallv(numbers[0], counts, places, MPI_INT, numbers[1], counts, places, MPI_INT, MPI_COMM_WORLD,
                   &request);
    await_number(&numbers[1][counts[0] - 1], 1);
    await_all(&numbers[1][places[last] + counts[last] - 1], check_size, 1);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Iallreduce(numbers[0], numbers[1], COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    await_number(&numbers[1][0], check_size * (check_size + 1) / 2);
    await_all(&numbers[1][COUNT - 1], check_size * (check_size + 1) / 2, 2);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void window(void)
{
    int *memory, last = check_size - 1;
    MPI_Win win;
    MPI_Win_allocate(sizeof numbers[0], sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    memset(memory, 0, sizeof numbers[0]);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    if (check_rank == 0) {
        order_await("outside", last);
        for (int i = 0; i < COUNT; i++)
            numbers[0][i] = 1;
        MPI_Accumulate(numbers[0], COUNT, MPI_INT, last, 0, COUNT, MPI_INT, MPI_SUM, win);
        MPI_Win_flush(last, win);
        order_say("flushed", 0);
    } else if (check_rank == last) {
        order_say("outside", last);
        order_await("flushed", 0);
    }
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(check_rank != last || memory[COUNT - 1] == 1);
    MPI_Win_free(&win);
}

static void add(int count, int last, MPI_Win win)
{
    static int round;
    if (check_rank == 0) {
        order_await("outside", round * check_size + last);
        MPI_Accumulate(numbers[0], count, MPI_INT, last, 0, count, MPI_INT, MPI_SUM, win);
        MPI_Win_flush(last, win);
        order_say("flushed", round);
    } else if (check_rank == last) {
        order_say("outside", round * check_size + last);
        order_await("flushed", round);
    }
    round++;
    MPI_Barrier(MPI_COMM_WORLD);
}

static void created(void)
{
    int last = check_size - 1;
    MPI_Win win;
    for (int i = 0; i < COUNT; i++)
        numbers[0][i] = 1;
    MPI_Win_create(numbers[1], sizeof numbers[1], sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_lock_all(0, win);
    add(1, last, win);
    add(64, last, win);
    add(COUNT, last, win);
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(check_rank != last || (numbers[1][0] == 3 && numbers[1][1] == 2 && numbers[1][COUNT - 1] == 1));
    MPI_Win_free(&win);
}

/* Between them the target is in MPI for messages that nobody has to move. */
static void asked(int count)
{
    int last = check_size - 1;
    MPI_Win win;
    MPI_Win_create(numbers[1], sizeof numbers[1], sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_lock_all(0, win);
    for (int i = 1; i <= count; i++) {
        if (check_rank == 0) {
            MPI_Recv(NULL, 0, MPI_BYTE, last, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Accumulate(&i, 1, MPI_INT, last, 0, 1, MPI_INT, MPI_SUM, win);
            MPI_Win_flush(last, win);
            MPI_Send(NULL, 0, MPI_BYTE, last, 0, MPI_COMM_WORLD);
        } else if (check_rank == last) {
            MPI_Send(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
            order_sleep(2);
            MPI_Recv(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(check_rank != last || numbers[1][0] == count * (count + 1) / 2);
    MPI_Win_free(&win);
}

static void windows(int count, int compute_ms)
{
    for (int i = 0; i < count; i++) {
        MPI_Request requests[2];
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Irecv(numbers[1], COUNT, MPI_INT, check_left, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(numbers[0], COUNT, MPI_INT, check_right, 0, MPI_COMM_WORLD, &requests[1]);
        order_sleep(compute_ms);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
}

static void awaited(int count)
{
    for (int i = 0; i < count; i++) {
        MPI_Request request;
        MPI_Barrier(MPI_COMM_WORLD);
        if (check_rank == 0) {
            order_sleep(COMPUTE_MS);
            MPI_Isend(numbers[0], COUNT, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
        } else {
            MPI_Irecv(numbers[1], COUNT, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
        }
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

/* They are children of the launcher's process here, as this one is. */
static void signal_ghosts(const char *name)
{
    char command[128];
    snprintf(command, sizeof command, "pkill -%s -P %d -x headway-ghost", name, (int)getppid());
    CHECK(check_rank != 0 || system(command) == 0);
}

static void stopped(int count)
{
    signal_ghosts("STOP");
    windows(count, LONG_COMPUTE_MS);
    MPI_Barrier(MPI_COMM_WORLD);
    signal_ghosts("CONT");
}

static void told(int count)
{
    order_sleep(4 * COMPUTE_MS);
    signal_ghosts("STOP");
    for (int i = 0; i < count; i++) {
        MPI_Request request;
        MPI_Barrier(MPI_COMM_WORLD);
        if (check_rank == 0) {
            order_sleep(COMPUTE_MS / 4);
            MPI_Isend(numbers[0], COUNT, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
        } else {
            MPI_Irecv(numbers[1], COUNT, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
            order_sleep(COMPUTE_MS);
        }
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    signal_ghosts("CONT");
}

static void killed(int count)
{
    windows(1, COMPUTE_MS);
    signal_ghosts("KILL");
    windows(count, COMPUTE_MS);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    check_begin();
    CHECK(argc == 3);
    order_directory = argv[2];
    if (strcmp(argv[1], "message") == 0)
        message();
    else if (strcmp(argv[1], "alone") == 0)
        alone();
    else if (strcmp(argv[1], "collective") == 0)
        collective();
    else if (strcmp(argv[1], "schedules") == 0)
        schedules();
    else if (strcmp(argv[1], "window") == 0)
        window();
    else if (strcmp(argv[1], "created") == 0)
        created();
    else if (strcmp(argv[1], "asked") == 0)
        asked(atoi(argv[2]));
    else if (strcmp(argv[1], "awaited") == 0)
        awaited(atoi(argv[2]));
    else if (strcmp(argv[1], "killed") == 0)
        killed(atoi(argv[2]));
    else if (strcmp(argv[1], "stopped") == 0)
        stopped(atoi(argv[2]));
    else if (strcmp(argv[1], "told") == 0)
        told(atoi(argv[2]));
    else
        windows(atoi(argv[2]), COMPUTE_MS);
    printf("rank %d %s done\n", check_rank, argv[1]);
    MPI_Finalize();
    return 0;
}
