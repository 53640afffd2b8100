/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: threads LEVEL COUNT: the program asks for a thread level and must be told that level; COUNT
 * threads exchange large messages at once, each completing its own requests through another door. Compiled
 * with EXTENSION, it refers to a function of that name, of the MPI and of no standard. With a third argument
 * "differ", odd ranks ask for MPI_THREAD_SINGLE. */
#include "check.h"

#include <pthread.h>

enum { MAX_THREADS = 8, ROUNDS = 6 };

struct worker {
    pthread_t thread;
    int index;
    uint64_t digest;
};

static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
static bool is_serialized;

static void enter(void)
{
    if (is_serialized)
        pthread_mutex_lock(&one_at_a_time);
}

static void leave(void)
{
    if (is_serialized)
        pthread_mutex_unlock(&one_at_a_time);
}

static bool is_finished(int door, MPI_Request requests[2])
{
    int done = 0, index, count, indices[2];
    MPI_Status statuses[2];
    switch (is_serialized ? 1 : door % 5) {
    case 0:
        MPI_Waitall(2, requests, statuses);
        break;
    case 1:
        MPI_Testall(2, requests, &done, statuses);
        return done;
    case 2:
        MPI_Waitany(2, requests, &index, statuses);
        break;
    case 3:
        MPI_Testsome(2, requests, &count, indices, statuses);
        break;
    default:
        MPI_Wait(&requests[0], statuses);
        MPI_Wait(&requests[1], statuses);
        break;
    }
    return requests[0] == MPI_REQUEST_NULL && requests[1] == MPI_REQUEST_NULL;
}

#ifdef EXTENSION
extern int extension(void) __asm__(EXTENSION);
#endif

static void *work(void *argument)
{
    struct worker *worker = argument;
    int peer = check_rank ^ 1;
    int *sent = check_ints(LARGE_INTS), *received = check_ints(LARGE_INTS);
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Request requests[2];
        unsigned seed = (unsigned)(round * 100 + worker->index * 10);
        check_fill(sent, LARGE_INTS, seed + (unsigned)check_rank);
        enter();
        MPI_Irecv(received, LARGE_INTS, MPI_INT, peer, worker->index, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(sent, LARGE_INTS, MPI_INT, peer, worker->index, MPI_COMM_WORLD, &requests[1]);
        leave();
        check_compute(COMPUTE_US / 2);
        for (bool is_done = false; !is_done;) {
            enter();
            is_done = is_finished(worker->index + round, requests);
            leave();
        }
        CHECK(check_is_filled(received, LARGE_INTS, seed + (unsigned)peer));
        worker->digest ^= check_digest(received, LARGE_INTS * sizeof(int)) + (unsigned)round;
    }
    free(sent);
    free(received);
    return NULL;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int level;
    } levels[] = {{"single", MPI_THREAD_SINGLE},
                  {"funneled", MPI_THREAD_FUNNELED},
                  {"serialized", MPI_THREAD_SERIALIZED},
                  {"multiple", MPI_THREAD_MULTIPLE}};
    int level = -1, count = argc > 2 ? atoi(argv[2]) : 1, provided = -1, queried = -2, is_main = 0;
    for (int i = 0; argc > 1 && i < 4; i++)
        if (strcmp(argv[1], levels[i].name) == 0)
            level = levels[i].level;
    if (argc > 3 && strcmp(argv[3], "differ") == 0 && getenv("PMI_RANK") && atoi(getenv("PMI_RANK")) % 2)
        level = MPI_THREAD_SINGLE;
    MPI_Init_thread(&argc, &argv, level, &provided);
    check_begin();
    MPI_Query_thread(&queried);
    MPI_Is_thread_main(&is_main);
    CHECK(level >= 0 && count <= MAX_THREADS && is_main);
    CHECK(provided >= level && queried == provided);
    check_report("asked", (uint64_t)level);
    fprintf(stderr, "provided %d\n", provided);
#ifdef EXTENSION
    if (count < 0)
        extension();
#endif
    is_serialized = level != MPI_THREAD_MULTIPLE;
    struct worker workers[MAX_THREADS] = {0};
    for (int i = 0; i < count; i++)
        workers[i].index = i;
    for (int i = 1; i < count; i++)
        pthread_create(&workers[i].thread, NULL, work, &workers[i]);
    work(&workers[0]);
    for (int i = 1; i < count; i++)
        pthread_join(workers[i].thread, NULL);
    for (int i = 0; i < count; i++) {
        char name[32];
        snprintf(name, sizeof name, "thread-%d", i);
        check_report(name, workers[i].digest);
    }
    MPI_Finalize();
    return 0;
}
