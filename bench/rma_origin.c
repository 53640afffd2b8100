/* SPDX-License-Identifier: BSD-3-Clause */
/* Claim: a large MPI_Put or MPI_Get and its flush overlap the origin's own computation.
 *
 * Rank i is the origin of operations on rank i + ranks/2, in one direction or in both. An iteration is one
 * operation, work, one MPI_Win_flush. With one direction the targets wait inside MPI, so that only the
 * origin's own progress is missing; with both they compute as the origins do. The first iterations are told
 * apart, as a mean: what a program sees that does not go on for long. */
#include "common/window.h"

#include <stdlib.h>
#include <string.h>

static struct {
    struct bench_points points;
    int64_t directions;
    const char *operation;
    bool is_beside;
} options = {.directions = 1, .operation = "put"};

struct exchange {
    char *buffer; /* the origin's */
    int bytes;
    int partner;
    bool is_origin, is_get;
    int64_t work_units;
    MPI_Win win;
};

static void operation_begin(void *context)
{
    const struct exchange *exchange = context;
    if (exchange->is_get)
        MPI_Get(exchange->buffer, exchange->bytes, MPI_BYTE, exchange->partner, 0, exchange->bytes, MPI_BYTE,
                exchange->win);
    else
        MPI_Put(exchange->buffer, exchange->bytes, MPI_BYTE, exchange->partner, 0, exchange->bytes, MPI_BYTE,
                exchange->win);
}

static void operation_end(void *context)
{
    const struct exchange *exchange = context;
    MPI_Win_flush(exchange->partner, exchange->win);
}

static void transfer_run(void *context)
{
    const struct exchange *exchange = context;
    if (!exchange->is_origin)
        return;
    operation_begin(context);
    operation_end(context);
}

static void work_run(void *context)
{
    const struct exchange *exchange = context;
    if (exchange->is_origin)
        bench_work(exchange->work_units);
}

/* A target that is no origin goes on to the next barrier, where it waits. */
static void iteration_run(const struct exchange *exchange, double *alone_s, double *seconds)
{
    MPI_Barrier(MPI_COMM_WORLD);
    *alone_s = options.is_beside ? bench_alone_now(work_run, (void *)exchange) : 0;
    if (!exchange->is_origin)
        return;
    bench_overlap_run(operation_begin, exchange->work_units, operation_end, (void *)exchange, seconds);
}

/* A target that is no origin tells its origin's times. */
static void samples_share(const struct exchange *exchange, double *samples, int count)
{
    if (options.directions == 2)
        return;
    if (exchange->is_origin)
        MPI_Send(samples, count, MPI_DOUBLE, exchange->partner, 0, MPI_COMM_WORLD);
    else
        MPI_Recv(samples, count, MPI_DOUBLE, exchange->partner, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static double mean_largest(const double *samples, int count)
{
    double sum = 0, largest = 0;
    for (int i = 0; i < count; i++)
        sum += samples[i];
    MPI_Allreduce(&sum, &largest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return largest / count;
}

/* Fills PHASES, and writes the mean of the slowest rank as <PREFIX>mean_s; where the computation was measured
 * alone also as a multiple of its mean, which a machine that changes its speed disturbs less. */
static void series_run(const struct exchange *exchange, struct bench_phases *phases, const char *prefix,
                       struct bench_json *json)
{
    int count = phases->iterations;
    char key[32];
    for (int i = 0; i < count; i++) {
        double alone_s, seconds[BENCH_OVERLAP_PHASES] = {0};
        iteration_run(exchange, &alone_s, seconds);
        bench_phases_record(phases, i, seconds);
        if (phases->alone)
            phases->alone[i] = alone_s;
    }
    for (int phase = 0; phase < BENCH_OVERLAP_PHASES; phase++)
        samples_share(exchange, phases->samples[phase], count);
    double mean_s = mean_largest(phases->samples[BENCH_TOTAL], count);
    snprintf(key, sizeof key, "%smean_s", prefix);
    bench_json_number(json, key, mean_s);
    if (phases->alone == NULL)
        return;
    samples_share(exchange, phases->alone, count);
    snprintf(key, sizeof key, "%smean_of_alone", prefix);
    bench_json_number(json, key, mean_s / mean_largest(phases->alone, count));
}

static void window_measure(const struct exchange *exchange, int at, struct bench_json *json)
{
    enum { ALONE_ITERATIONS = 10, ALONE_WARMUP = 3 };
    int iterations = (int)bench_list_at(&options.points.iterations, at);
    int warmup = (int)bench_list_at(&options.points.warmup, at);
    struct bench_phases phases;
    bench_alone_measure(json, "transfer", "transfer_alone_s", ALONE_WARMUP, ALONE_ITERATIONS, transfer_run,
                        (void *)exchange);
    bench_alone_measure(json, "compute", "compute_alone_s", 1, ALONE_ITERATIONS, work_run, (void *)exchange);
    bench_phases_init(&phases, BENCH_OVERLAP_PHASES, bench_overlap_names, warmup, options.is_beside);
    series_run(exchange, &phases, "first_", json);
    bench_phases_free(&phases);
    bench_phases_init(&phases, BENCH_OVERLAP_PHASES, bench_overlap_names, iterations, options.is_beside);
    series_run(exchange, &phases, "", json);
    bench_json_phases(json, &phases);
    bench_phases_free(&phases);
}

/* What came: at the target of a Put, at the origin of a Get. All ranks' as one number. */
static void digest_write(const struct exchange *exchange, const char *memory, bool is_target,
                         struct bench_json *json)
{
    size_t bytes = (size_t)exchange->bytes;
    uint64_t digest = 0;
    if (exchange->is_get && exchange->is_origin)
        digest = bench_digest(exchange->buffer, bytes);
    else if (!exchange->is_get && is_target)
        digest = bench_digest(memory, bytes);
    bench_json_digest(json, digest);
}

static void point_measure(const struct bench *bench, int at, struct bench_json *json)
{
    int64_t bytes = options.points.sizes.values[at];
    int half = bench->ranks / 2;
    bool is_lower = bench->rank < half, is_both = options.directions == 2;
    char *memory;
    struct exchange exchange = {
        .buffer = bench_allocate((size_t)bytes),
        .bytes = (int)bytes,
        .partner = is_lower ? bench->rank + half : bench->rank - half,
        .is_origin = is_lower || is_both,
        .is_get = strcmp(options.operation, "get") == 0,
        .work_units = bench_list_at(&options.points.work_units, at),
    };
    MPI_Win_allocate((MPI_Aint)bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &exchange.win);
    bench_fill(exchange.is_get ? memory : exchange.buffer, (size_t)bytes, (uint64_t)bench->rank + 1);
    MPI_Barrier(MPI_COMM_WORLD);
    bench_json_open(json, NULL, '{');
    bench_json_integer(json, "bytes", bytes);
    bench_json_integer(json, "work_units", exchange.work_units);
    bench_json_integer(json, "iterations", bench_list_at(&options.points.iterations, at));
    MPI_Win_lock_all(0, exchange.win);
    window_measure(&exchange, at, json);
    MPI_Win_unlock_all(exchange.win);
    MPI_Barrier(MPI_COMM_WORLD);
    digest_write(&exchange, memory, !is_lower || is_both, json);
    bench_json_close(json, '}');
    MPI_Win_free(&exchange.win);
    free(exchange.buffer);
}

static void options_check(const struct bench *bench)
{
    if (bench->ranks % 2 != 0)
        bench_refuse(bench, "needs an even number of ranks");
    if (options.directions < 1 || options.directions > 2)
        bench_refuse(bench, "--directions is 1 or 2");
    if (strcmp(options.operation, "put") != 0 && strcmp(options.operation, "get") != 0)
        bench_refuse(bench, "--operation is put or get");
    bench_points_check(bench, &options.points, 1, 1 << 30);
}

int main(int argc, char **argv)
{
    options.points = bench_points_make("256k,1m", "12");
    const struct bench_option table[] = {
        {"sizes", BENCH_LIST, &options.points.sizes, "bytes of an operation"},
        {"work-units", BENCH_LIST, &options.points.work_units,
         "units of work in an iteration, for all sizes or for each"},
        {"directions", BENCH_INTEGER, &options.directions, "1: the lower half are origins; 2: both halves"},
        {"operation", BENCH_TEXT, &options.operation, "put or get"},
        {"iterations", BENCH_LIST, &options.points.iterations, "timed iterations, for all sizes or for each"},
        {"warmup", BENCH_LIST, &options.points.warmup,
         "iterations before them, of which only the mean is told"},
        BENCH_BESIDE_OPTION(&options.is_beside),
        {0},
    };
    struct bench bench;
    struct bench_json json;
    bench_start(&bench, "rma_origin", argc, argv, table);
    options_check(&bench);
    bench_json_begin(&json, &bench);
    bench_json_text(&json, "operation", options.operation);
    bench_json_integer(&json, "directions", options.directions);
    bench_points_finish(&bench, &json, options.points.sizes.count, point_measure);
    return 0;
}
