/* SPDX-License-Identifier: BSD-3-Clause */
/* Claim: the receiver's latency stays what it was while it computes (papers/003 5.2.1 to 5.2.3).
 *
 * Rank i of the lower half sends to rank i + ranks/2 of the upper half, both posting together. Latency is
 * from entering MPI_Irecv to leaving its MPI_Wait, at the receiver, with a delay of real work between.
 * Overlap: delays from 0 to 1.1 x l0; the largest whose latency stays within 1.1 x l0 on every receiver, as
 * a share of l0, is the overlap ratio. Progression: the latency with delays of 2 to 3.5 x l0. */
#include "common/bench.h"

#include <stdlib.h>

static struct {
    struct bench_list sizes;
    struct bench_list base_latency_us;
    double units_per_s;
    int64_t steps;
    int64_t iterations;
    int64_t warmup;
} options = {.units_per_s = 500000.0, .steps = 11, .iterations = 15, .warmup = 3};

struct stream {
    char *buffer;
    int bytes;
    int partner;
    bool is_receiver;
};

/* One message with UNITS of work at the receiver; its latency, at a sender 0. */
static double message_s(const struct stream *stream, int64_t units)
{
    MPI_Request request;
    MPI_Barrier(MPI_COMM_WORLD);
    if (!stream->is_receiver) {
        MPI_Isend(stream->buffer, stream->bytes, MPI_BYTE, stream->partner, 0, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        return 0.0;
    }
    double start_s = bench_now_s();
    MPI_Irecv(stream->buffer, stream->bytes, MPI_BYTE, stream->partner, 0, MPI_COMM_WORLD, &request);
    bench_work(units);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return bench_now_s() - start_s;
}

/* Median latency of the slowest receiver, on every rank. Collective. */
static double latency_s(const struct stream *stream, int64_t units)
{
    double *samples = bench_allocate((size_t)options.iterations * sizeof *samples);
    for (int64_t i = -options.warmup; i < options.iterations; i++) {
        double sample_s = message_s(stream, units);
        if (i >= 0)
            samples[i] = sample_s;
    }
    double mine = bench_summarize(samples, (int)options.iterations).median;
    double slowest;
    MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    free(samples);
    return slowest;
}

static double delayed_write(const struct stream *stream, double delay_s, struct bench_json *json)
{
    int64_t units = (int64_t)(delay_s * options.units_per_s + 0.5);
    double delayed_s = latency_s(stream, units);
    bench_json_open(json, NULL, '{');
    bench_json_number(json, "delay_s", delay_s);
    bench_json_integer(json, "work_units", units);
    bench_json_number(json, "latency_s", delayed_s);
    bench_json_close(json, '}');
    return delayed_s;
}

/* BASE_S fixes the delays and the limit, so that every mode is held to the same one. */
static void overlap_measure(const struct stream *stream, double base_s, struct bench_json *json)
{
    double ratio = 0.0;
    bench_json_open(json, "overlap", '[');
    for (int64_t i = 0; i <= options.steps; i++) {
        double delay_s = 1.1 * base_s * (double)i / (double)options.steps;
        if (delayed_write(stream, delay_s, json) <= 1.1 * base_s)
            ratio = delay_s / base_s;
    }
    bench_json_close(json, ']');
    bench_json_number(json, "overlap_ratio", ratio < 1.0 ? ratio : 1.0);
}

static void progression_measure(const struct stream *stream, double base_s, struct bench_json *json)
{
    bench_json_open(json, "progression", '[');
    for (int half = 4; half <= 7; half++)
        delayed_write(stream, base_s * half / 2.0, json);
    bench_json_close(json, ']');
}

static void point_measure(const struct bench *bench, int64_t bytes, int64_t base_latency_us,
                          struct bench_json *json)
{
    int half = bench->ranks / 2;
    bool is_receiver = bench->rank >= half;
    const struct stream stream = {
        .buffer = bench_allocate((size_t)bytes),
        .bytes = (int)bytes,
        .partner = is_receiver ? bench->rank - half : bench->rank + half,
        .is_receiver = is_receiver,
    };
    bench_json_open(json, NULL, '{');
    bench_json_integer(json, "bytes", bytes);
    double undelayed_s = latency_s(&stream, 0);
    double base_s = base_latency_us > 0 ? 1e-6 * (double)base_latency_us : undelayed_s;
    bench_json_number(json, "latency_s", undelayed_s);
    bench_json_number(json, "base_latency_s", base_s);
    overlap_measure(&stream, base_s, json);
    progression_measure(&stream, base_s, json);
    bench_json_close(json, '}');
    free(stream.buffer);
}

int main(int argc, char **argv)
{
    options.sizes = bench_list_make("64k,256k,1m");
    options.base_latency_us = bench_list_make("0");
    const struct bench_option table[] = {
        {"sizes", BENCH_LIST, &options.sizes, "message sizes in bytes"},
        {"base-latency-us", BENCH_LIST, &options.base_latency_us,
         "l0 for all sizes or for each; 0: measure it"},
        {"units-per-s", BENCH_NUMBER, &options.units_per_s, "units of work in a second, as workrate says"},
        {"steps", BENCH_INTEGER, &options.steps, "steps from no delay to 1.1 x l0"},
        {"iterations", BENCH_INTEGER, &options.iterations, "timed messages for each delay"},
        {"warmup", BENCH_INTEGER, &options.warmup, "untimed messages for each delay"},
        {0},
    };
    struct bench bench;
    bench_start(&bench, "progression", argc, argv, table);
    if (bench.ranks % 2 != 0)
        bench_refuse(&bench, "needs an even number of ranks");
    if (options.base_latency_us.count != 1 && options.base_latency_us.count != options.sizes.count)
        bench_refuse(&bench, "--base-latency-us takes one value, or as many as --sizes");
    if (options.iterations < 1 || options.steps < 1)
        bench_refuse(&bench, "--iterations and --steps are at least 1");

    struct bench_json json;
    bench_json_begin(&json, &bench);
    bench_json_number(&json, "units_per_s", options.units_per_s);
    bench_json_open(&json, "points", '[');
    for (int i = 0; i < options.sizes.count; i++)
        point_measure(&bench, options.sizes.values[i],
                      options.base_latency_us.values[options.base_latency_us.count == 1 ? 0 : i], &json);
    bench_json_close(&json, ']');
    bench_json_number(&json, "work_checksum", bench_work_checksum());
    bench_json_end(&json);
    bench_finish(&bench);
    return 0;
}
