/* SPDX-License-Identifier: BSD-3-Clause */
#include "pairs.h"

#include <stdlib.h>

static void point_measure(const struct bench_pairs *pairs, const struct bench *bench, int64_t bytes,
                          struct bench_json *json)
{
    int half = bench->ranks / 2;
    bool is_lower = bench->rank < half;
    int partner = is_lower ? bench->rank + half : bench->rank - half;
    char *buffer = bench_allocate((size_t)(bytes * pairs->window));
    double samples = pairs->samples_per_round * (double)pairs->batch;
    struct bench_phases phases;
    bench_phases_init(&phases, 1, &pairs->sample_name, (int)pairs->batches, false);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int64_t i = -pairs->warmup; i < pairs->batches; i++) {
        double start_s = bench_now_s();
        pairs->batch_run(pairs, is_lower, partner, buffer, (int)bytes);
        if (i >= 0)
            phases.samples[0][i] = (bench_now_s() - start_s) / samples;
    }
    bench_json_open(json, NULL, '{');
    bench_json_integer(json, "bytes", bytes);
    bench_json_phases(json, &phases);
    if (pairs->point_write)
        pairs->point_write(pairs, phases.samples[0][pairs->batches / 2], half, json);
    bench_json_close(json, '}');
    bench_phases_free(&phases);
    free(buffer);
}

void bench_pairs_measure(const struct bench_pairs *pairs, struct bench *bench)
{
    struct bench_json json;
    if (bench->ranks % 2 != 0)
        bench_refuse(bench, "needs an even number of ranks");
    if (pairs->batches < 1 || pairs->batch < 1)
        bench_refuse(bench, "--batches and --batch are at least 1");
    bench_json_begin(&json, bench);
    bench_json_integer(&json, "batch", pairs->batch);
    bench_json_open(&json, "points", '[');
    for (int i = 0; i < pairs->sizes.count; i++)
        point_measure(pairs, bench, pairs->sizes.values[i], &json);
    bench_json_close(&json, ']');
    bench_json_end(&json);
    bench_finish(bench);
}
