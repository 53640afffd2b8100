/* SPDX-License-Identifier: BSD-3-Clause */
/* Claim: the latency of several pairs at once gains when there is work to hide it behind (papers/001).
 *
 * Rank i plays ping-pong with rank i + ranks/2 by nonblocking calls, with work between each post and its
 * wait. One iteration is one round trip: two transfers, each overlapped by work on both sides. */
#include "common/bench.h"

#include <stdlib.h>

static struct {
    struct bench_list sizes;
    struct bench_list work_units;
    int64_t iterations;
    int64_t warmup;
} options = {.iterations = 20, .warmup = 3};

struct pair {
    char *send, *receive;
    int bytes;
    int partner;
    bool is_lower;
    int64_t work_units;
};

static void half_trip(struct pair *pair, bool is_sending)
{
    MPI_Request request;
    if (is_sending)
        MPI_Isend(pair->send, pair->bytes, MPI_BYTE, pair->partner, 0, MPI_COMM_WORLD, &request);
    else
        MPI_Irecv(pair->receive, pair->bytes, MPI_BYTE, pair->partner, 0, MPI_COMM_WORLD, &request);
    bench_work(pair->work_units);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static double round_trip_s(struct pair *pair)
{
    MPI_Barrier(MPI_COMM_WORLD);
    double start_s = bench_now_s();
    half_trip(pair, pair->is_lower);
    half_trip(pair, !pair->is_lower);
    return bench_now_s() - start_s;
}

static void trips_measure(struct pair *pair, const char *key, const char *name, struct bench_json *json)
{
    const char *const names[] = {name};
    struct bench_phases phases;
    bench_phases_init(&phases, 1, names, (int)options.iterations, false);
    for (int64_t i = -options.warmup; i < options.iterations; i++) {
        double trip_s = round_trip_s(pair);
        if (i >= 0)
            phases.samples[0][i] = trip_s;
    }
    if (key != NULL)
        bench_json_open(json, key, '{');
    bench_json_phases(json, &phases);
    if (key != NULL)
        bench_json_close(json, '}');
    bench_phases_free(&phases);
}

/* Of both ways. */
static void work_run(void *context)
{
    const struct pair *pair = context;
    bench_work(2 * pair->work_units);
}

static void point_measure(const struct bench *bench, int at, struct bench_json *json)
{
    enum { REPEATS = 5 };
    int64_t bytes = options.sizes.values[at], work_units = bench_list_at(&options.work_units, at);
    int half = bench->ranks / 2;
    bool is_lower = bench->rank < half;
    struct pair pair = {
        .send = bench_allocate((size_t)bytes),
        .receive = bench_allocate((size_t)bytes),
        .bytes = (int)bytes,
        .partner = is_lower ? bench->rank + half : bench->rank - half,
        .is_lower = is_lower,
    };
    bench_fill(pair.send, (size_t)bytes, (uint64_t)bench->rank + 1);
    bench_json_open(json, NULL, '{');
    bench_json_integer(json, "bytes", bytes);
    bench_json_integer(json, "work_units", work_units);
    trips_measure(&pair, "transfer", "transfer_alone_s", json);
    pair.work_units = work_units;
    bench_alone_measure(json, "compute", "compute_alone_s", 0, REPEATS, work_run, &pair);
    trips_measure(&pair, NULL, "total_s", json);
    bench_json_digest(json, bench_digest(pair.receive, (size_t)bytes));
    bench_json_close(json, '}');
    free(pair.send);
    free(pair.receive);
}

int main(int argc, char **argv)
{
    options.sizes = bench_list_make("64k,256k,1m");
    options.work_units = bench_list_make("0");
    const struct bench_option table[] = {
        {"sizes", BENCH_LIST, &options.sizes, "message sizes in bytes"},
        {"work-units", BENCH_LIST, &options.work_units,
         "units of work beside each transfer, for all sizes or for each"},
        {"iterations", BENCH_INTEGER, &options.iterations, "timed round trips a size"},
        {"warmup", BENCH_INTEGER, &options.warmup, "untimed round trips a size"},
        {0},
    };
    struct bench bench;
    bench_start(&bench, "multipair", argc, argv, table);
    if (bench.ranks % 2 != 0)
        bench_refuse(&bench, "needs an even number of ranks");
    if (!bench_list_fits(&options.work_units, options.sizes.count, 0))
        bench_refuse(&bench, "--work-units takes one value, or as many as --sizes");
    if (options.iterations < 1)
        bench_refuse(&bench, "--iterations is at least 1");

    struct bench_json json;
    bench_json_begin(&json, &bench);
    bench_json_integer(&json, "pairs", bench.ranks / 2);
    bench_points_finish(&bench, &json, options.sizes.count, point_measure);
    return 0;
}
