/* SPDX-License-Identifier: BSD-3-Clause */
/* What the programs that time small messages between pairs share: rank i plays with rank i + ranks/2, and a
 * sample is the time of a batch divided by what is in it. */
#ifndef BENCH_COMMON_PAIRS_H
#define BENCH_COMMON_PAIRS_H

#include "bench.h"

struct bench_pairs {
    struct bench_list sizes;
    int64_t batches; /* timed, for each size */
    int64_t batch;   /* rounds in one */
    int64_t warmup;  /* untimed batches, for each size */
    int64_t window;  /* messages of a round */
    const char *sample_name;
    double samples_per_round;
    /* One batch, on the sending (lower) or the other side. The buffer holds `window` messages. */
    void (*batch_run)(const struct bench_pairs *pairs, bool is_lower, int partner, char *buffer, int bytes);
    /* More members of a point; may be NULL. `sample_s` is one of the middle. */
    void (*point_write)(const struct bench_pairs *pairs, double sample_s, int pair_count,
                        struct bench_json *json);
};

/* The whole program after bench_start: refuses bad options, measures every size, writes, finishes. */
void bench_pairs_measure(const struct bench_pairs *pairs, struct bench *bench);

#endif
