/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: moved_threads SEED ROUNDS THREADS: threads of two processes send each other messages of mixed
 * sizes, and receive them in ways chosen at random: each those of a tag of its own, and all together those of
 * one more tag, by matched probes. So a probe of one thread meets messages of all the others. Prints what
 * each thread got, and the sum of what all got of the common tag. */
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_THREADS = 8, WAYS = 9, MAX_BYTES = 40000, COMMON_TAG = 77 };

static int rank, rounds, thread_count;
static uint64_t seed;
static _Atomic uint64_t common_sum;
static _Atomic int failures;

struct worker {
    pthread_t thread;
    int index;
    uint64_t digest, state;
};

static uint64_t mix(uint64_t value)
{
    value ^= value >> 33;
    value *= UINT64_C(0xff51afd7ed558ccd);
    value ^= value >> 33;
    value *= UINT64_C(0xc4ceb9fe1a85ec53);
    return value ^ value >> 33;
}

static int draw(struct worker *worker, int below)
{
    worker->state = mix(worker->state + 1);
    return (int)(worker->state % (uint64_t)below);
}

/* Of a message: both sides know it. */
static uint64_t identity(int from, int tag, int round)
{
    return mix(seed + (uint64_t)(from * 1000 + tag) * 4096 + (uint64_t)round);
}

static int bytes_of(uint64_t message)
{
    const int sizes[] = {8, 48, 48, 300, 5000, MAX_BYTES};
    return sizes[message % 6];
}

static void fill(unsigned char *buffer, uint64_t message)
{
    int bytes = bytes_of(message);
    memcpy(buffer, &message, 8);
    for (int i = 8; i < bytes; i++)
        buffer[i] = (unsigned char)(mix(message + (uint64_t)(i >> 6)) >> (i & 7));
}

/* What message it is; 0: a wrong one. */
static uint64_t check(const unsigned char *buffer, const MPI_Status *status, int tag)
{
    static _Thread_local unsigned char wanted[MAX_BYTES];
    uint64_t message;
    int count = -1;
    memcpy(&message, buffer, 8);
    fill(wanted, message);
    MPI_Get_count(status, MPI_BYTE, &count);
    if (count == bytes_of(message) && status->MPI_SOURCE == 1 - rank && status->MPI_TAG == tag &&
        memcmp(buffer, wanted, (size_t)count) == 0)
        return message;
    failures++;
    printf("tag %d: count %d, source %d, tag %d\n", tag, count, status->MPI_SOURCE, status->MPI_TAG);
    return 0;
}

static void receive_by_request(int way, unsigned char *buffer, int tag, MPI_Status *status)
{
    MPI_Request request;
    int flag = 0, index;
    if (way == 6)
        MPI_Recv_init(buffer, MAX_BYTES, MPI_BYTE, 1 - rank, tag, MPI_COMM_WORLD, &request);
    else
        MPI_Irecv(buffer, MAX_BYTES, MPI_BYTE, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &request);
    if (way == 6)
        MPI_Start(&request);
    if (way == 7)
        while (!flag)
            MPI_Test(&request, &flag, status);
    else if (way == 8)
        MPI_Waitany(1, &request, &index, status);
    else
        MPI_Wait(&request, status);
    if (way == 6)
        MPI_Request_free(&request);
}

static void receive(int way, unsigned char *buffer, int tag, MPI_Status *status)
{
    MPI_Message message;
    MPI_Request request;
    int flag = 0, count;
    switch (way) {
    case 0:
        MPI_Recv(buffer, MAX_BYTES, MPI_BYTE, 1 - rank, tag, MPI_COMM_WORLD, status);
        break;
    case 1:
        MPI_Probe(1 - rank, tag, MPI_COMM_WORLD, status);
        MPI_Get_count(status, MPI_BYTE, &count);
        MPI_Recv(buffer, count, MPI_BYTE, 1 - rank, tag, MPI_COMM_WORLD, status);
        break;
    case 2:
        while (!flag)
            MPI_Iprobe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &flag, status);
        MPI_Recv(buffer, MAX_BYTES, MPI_BYTE, status->MPI_SOURCE, tag, MPI_COMM_WORLD, status);
        break;
    case 3:
        MPI_Mprobe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &message, status);
        MPI_Mrecv(buffer, MAX_BYTES, MPI_BYTE, &message, status);
        break;
    case 4:
        while (!flag)
            MPI_Improbe(1 - rank, tag, MPI_COMM_WORLD, &flag, &message, status);
        MPI_Imrecv(buffer, MAX_BYTES, MPI_BYTE, &message, &request);
        MPI_Wait(&request, status);
        break;
    case 5:
        MPI_Sendrecv(NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, buffer, MAX_BYTES, MPI_BYTE, 1 - rank, tag,
                     MPI_COMM_WORLD, status);
        break;
    default:
        receive_by_request(way, buffer, tag, status);
    }
}

static void receive_common(unsigned char *buffer)
{
    MPI_Message message;
    MPI_Status status;
    MPI_Mprobe(1 - rank, COMMON_TAG, MPI_COMM_WORLD, &message, &status);
    MPI_Mrecv(buffer, MAX_BYTES, MPI_BYTE, &message, &status);
    common_sum += check(buffer, &status, COMMON_TAG);
}

static void *work(void *argument)
{
    struct worker *worker = argument;
    unsigned char *out[2] = {malloc(MAX_BYTES), malloc(MAX_BYTES)}, *in = malloc(MAX_BYTES);
    for (int round = 0; round < rounds; round++) {
        MPI_Request sent[2];
        MPI_Status status;
        uint64_t own = identity(rank, worker->index, round),
                 common = identity(rank, 100 + worker->index, round);
        fill(out[0], own);
        fill(out[1], common);
        MPI_Isend(out[0], bytes_of(own), MPI_BYTE, 1 - rank, worker->index, MPI_COMM_WORLD, &sent[0]);
        MPI_Isend(out[1], bytes_of(common), MPI_BYTE, 1 - rank, COMMON_TAG, MPI_COMM_WORLD, &sent[1]);
        receive(draw(worker, WAYS), in, worker->index, &status);
        uint64_t got = check(in, &status, worker->index);
        if (got != identity(1 - rank, worker->index, round)) {
            failures++;
            printf("tag %d: another message in round %d\n", worker->index, round);
        }
        worker->digest = mix(worker->digest + got);
        receive_common(in);
        MPI_Waitall(2, sent, MPI_STATUSES_IGNORE);
    }
    free(out[0]);
    free(out[1]);
    free(in);
    return NULL;
}

int main(int argc, char **argv)
{
    static struct worker workers[MAX_THREADS];
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    seed = mix(argc > 1 ? strtoull(argv[1], NULL, 10) : 1);
    rounds = argc > 2 ? atoi(argv[2]) : 20;
    thread_count = argc > 3 ? atoi(argv[3]) : 3;
    if (level < MPI_THREAD_MULTIPLE || thread_count > MAX_THREADS) {
        printf("rank %d: level %d\n", rank, level);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    for (int i = 0; i < thread_count; i++) {
        workers[i].index = i;
        workers[i].state = mix(seed + (uint64_t)(100 * rank + i));
        pthread_create(&workers[i].thread, NULL, work, &workers[i]);
    }
    for (int i = 0; i < thread_count; i++) {
        pthread_join(workers[i].thread, NULL);
        printf("rank %d thread %d: %016llx\n", rank, i, (unsigned long long)workers[i].digest);
    }
    printf("rank %d common: %016llx, %d failures\n", rank, (unsigned long long)common_sum, failures);
    MPI_Finalize();
    return failures != 0;
}
