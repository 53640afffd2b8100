/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: runs randomly generated MPI programs and prints a digest of all each one received.
 *
 * random_program FIRST_SEED COUNT [--threads N] [--level single|funneled|serialized|multiple]
 *                [--eager BYTES] [--max BYTES] [--rounds N] [--trace] [--exact] [--tally]
 * With --tally the first line says how many messages all processes send: `sends N`. The output of a seed is
 * the same in every legal run: `digest seed S rank R thread T HASH`. */
#include "act.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_THREADS = 4, BSEND_BYTES = 256 << 20 };

struct settings {
    unsigned long long first_seed, seed_count;
    int threads, level, eager_bytes, max_bytes, rounds;
    bool wants_trace, is_exact, wants_tally;
};

struct worker {
    const struct settings *settings;
    MPI_Comm comm;
    uint64_t seed;
    int index;
    uint64_t digest;
};

static int level_named(const char *name)
{
    const char *const names[] = {"single", "funneled", "serialized", "multiple"};
    const int levels[] = {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE};
    for (int i = 0; i < 4; i++)
        if (strcmp(name, names[i]) == 0)
            return levels[i];
    fprintf(stderr, "random_program: no thread level '%s'\n", name);
    exit(2);
}

static struct settings parse(int argc, char **argv)
{
    struct settings settings = {.first_seed = 1,
                                .seed_count = 1,
                                .threads = 1,
                                .level = MPI_THREAD_FUNNELED,
                                .eager_bytes = 1024,
                                .max_bytes = 1 << 20,
                                .rounds = 3};
    int positional = 0;
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "0";
        if (strcmp(argv[i], "--trace") == 0) {
            settings.wants_trace = true;
            continue;
        }
        if (strcmp(argv[i], "--exact") == 0) {
            settings.is_exact = true;
            continue;
        }
        if (strcmp(argv[i], "--tally") == 0) {
            settings.wants_tally = true;
            continue;
        }
        if (argv[i][0] != '-') {
            *(positional++ == 0 ? &settings.first_seed : &settings.seed_count) = strtoull(argv[i], NULL, 10);
            continue;
        }
        if (strcmp(argv[i], "--threads") == 0)
            settings.threads = atoi(value);
        else if (strcmp(argv[i], "--level") == 0)
            settings.level = level_named(value);
        else if (strcmp(argv[i], "--eager") == 0)
            settings.eager_bytes = atoi(value);
        else if (strcmp(argv[i], "--max") == 0)
            settings.max_bytes = atoi(value);
        else if (strcmp(argv[i], "--rounds") == 0)
            settings.rounds = atoi(value);
        i++;
    }
    if (settings.threads > 1)
        settings.level = MPI_THREAD_MULTIPLE;
    return settings;
}

static struct rng begin_plans(uint64_t seed, int thread)
{
    return (struct rng){seed * 7919u + (uint64_t)thread};
}

static void draw_plan(const struct settings *settings, struct plan *plan, struct rng *rng, int size)
{
    plan_draw(plan, rng, size, settings->eager_bytes, settings->max_bytes);
    if (settings->is_exact)
        plan_make_exact(plan);
    if (settings->threads > 1) /* MPICH 4.0 says now and then that one is truncated, plain too */
        plan->exchange_count = 0;
}

static void tally(const struct settings *settings)
{
    struct plan *plan = malloc(sizeof *plan);
    long sends = 0;
    int size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (unsigned long long i = 0; i < settings->seed_count; i++)
        for (int thread = 0; thread < settings->threads; thread++) {
            struct rng rng = begin_plans(settings->first_seed + i, thread);
            for (int round = 0; round < settings->rounds; round++) {
                draw_plan(settings, plan, &rng, size);
                sends += plan_messages(plan, size);
            }
        }
    free(plan);
    printf("sends %ld\n", sends);
}

static void *work(void *argument)
{
    struct worker *worker = argument;
    const struct settings *settings = worker->settings;
    struct actor actor;
    actor_init(&actor, worker->comm, worker->seed, worker->index, settings->is_exact);
    actor.wants_trace = settings->wants_trace;
    snprintf(actor.label, sizeof actor.label, "seed %llu rank %d thread %d", (unsigned long long)worker->seed,
             actor.rank, worker->index);
    struct rng rng = begin_plans(worker->seed, worker->index);
    struct plan *plan = malloc(sizeof *plan);
    for (int round = 0; round < settings->rounds; round++) {
        draw_plan(settings, plan, &rng, actor.size);
        actor_run(&actor, plan);
    }
    free(plan);
    worker->digest = actor.digest;
    actor_destroy(&actor);
    return NULL;
}

static void run_seed(const struct settings *settings, uint64_t seed, const MPI_Comm *comms, int rank)
{
    struct worker workers[MAX_THREADS];
    pthread_t threads[MAX_THREADS];
    for (int i = 0; i < settings->threads; i++)
        workers[i] = (struct worker){settings, comms[i], seed, i, 0};
    for (int i = 1; i < settings->threads; i++)
        pthread_create(&threads[i], NULL, work, &workers[i]);
    work(&workers[0]);
    for (int i = 1; i < settings->threads; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < settings->threads; i++)
        printf("digest seed %llu rank %d thread %d %016llx\n", (unsigned long long)seed, rank, i,
               (unsigned long long)workers[i].digest);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    struct settings settings = parse(argc, argv);
    int provided, queried, rank;
    MPI_Init_thread(&argc, &argv, settings.level, &provided);
    MPI_Query_thread(&queried);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (provided < settings.level || queried != provided) {
        fprintf(stderr, "random_program: asked level %d, got %d, Query_thread %d\n", settings.level, provided,
                queried);
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    if (settings.wants_tally && rank == 0)
        tally(&settings);
    MPI_Comm comms[MAX_THREADS];
    for (int i = 0; i < settings.threads; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    void *buffer = malloc(BSEND_BYTES);
    int size = BSEND_BYTES;
    MPI_Buffer_attach(buffer, size);
    for (unsigned long long i = 0; i < settings.seed_count; i++)
        run_seed(&settings, settings.first_seed + i, comms, rank);
    MPI_Buffer_detach(&buffer, &size);
    free(buffer);
    for (int i = 0; i < settings.threads; i++)
        MPI_Comm_free(&comms[i]);
    MPI_Finalize();
    return 0;
}
