/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: a datatype that another thread frees while a first blocking receive with it waits: the receive
 * completes normally (MPI-4.1 section 5.1.9), and what the MPI makes of the handle next is packed as it is.
 */
#include "check.h"

#include <pthread.h>
#include <time.h>
#include <unistd.h>

enum { COUNT = 4096, STRIDE = 3, ROUNDS = 3, GO = 1, DATA = 2 };

static MPI_Datatype datatype;
static int received[STRIDE * COUNT];

static void *receive(void *unused)
{
    (void)unused;
    MPI_Recv(received, 1, datatype, 1, DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return NULL;
}

/* The thread does nothing but receive, so all that it uses is used in there. */
static void await_receiving(pthread_t thread)
{
    clockid_t clock;
    struct timespec used = {0};
    CHECK(pthread_getcpuclockid(thread, &clock) == 0);
    do {
        usleep(1000);
        CHECK(clock_gettime(clock, &used) == 0);
    } while (used.tv_sec == 0 && used.tv_nsec < 5000000);
}

static void pack_other(int round)
{
    static int data[(STRIDE + ROUNDS + 1) * COUNT], packed[COUNT];
    int stride = STRIDE + 1 + round;
    MPI_Datatype other;
    for (int i = 0; i < stride * COUNT; i++)
        data[i] = i;
    MPI_Type_vector(COUNT, 1, stride, MPI_INT, &other);
    MPI_Type_commit(&other);
    for (int call = 0; call < 4; call++) {
        int position = 0;
        MPI_Pack(data, 1, other, packed, sizeof packed, &position, MPI_COMM_SELF);
        for (int i = 0; i < COUNT; i++)
            CHECK(packed[i] == stride * i);
    }
    MPI_Type_free(&other);
}

static void receive_beside(int round)
{
    pthread_t thread;
    memset(received, 0xff, sizeof received);
    MPI_Type_vector(COUNT, 1, STRIDE, MPI_INT, &datatype);
    MPI_Type_commit(&datatype);
    CHECK(pthread_create(&thread, NULL, receive, NULL) == 0);
    await_receiving(thread);
    MPI_Type_free(&datatype);
    MPI_Request request; /* for a profile, which is to see one completed */
    MPI_Isend(NULL, 0, MPI_INT, 1, GO, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    pthread_join(thread, NULL);
    for (int i = 0; i < STRIDE * COUNT; i++)
        CHECK(received[i] == (i % STRIDE ? -1 : i / STRIDE));
    pack_other(round);
    check_report("round", (uint64_t)round);
}

int main(int argc, char **argv)
{
    int provided, data[COUNT];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    check_begin();
    CHECK(provided == MPI_THREAD_MULTIPLE);
    for (int i = 0; i < COUNT; i++)
        data[i] = i;
    for (int round = 0; round < ROUNDS; round++) {
        if (check_rank == 0) {
            receive_beside(round);
        } else {
            MPI_Recv(NULL, 0, MPI_INT, 0, GO, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(data, COUNT, MPI_INT, 0, DATA, MPI_COMM_WORLD);
        }
    }
    MPI_Finalize();
    return 0;
}
