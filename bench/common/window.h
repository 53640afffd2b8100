/* One window of overlap, measured: post - work - wait, beside the transfer and the work alone. */
#ifndef HEADWAY_BENCH_WINDOW_H
#define HEADWAY_BENCH_WINDOW_H

#include "bench.h"

#define BENCH_REQUESTS_MAX 4

struct bench_window {
    void *context;
    /* The same transfer by blocking calls. */
    void (*transfer)(void *context);
    /* Starts the transfer; returns how many requests it left in REQUESTS. */
    int (*post)(void *context, MPI_Request *requests);
    int64_t work_units;
    int iterations;
    int warmup;
};

/* Measures the transfer alone, the work alone, and the window; each iteration starts after a barrier.
 * Writes "transfer", "compute" and the phase set described in bench/README.md. Collective. */
void bench_window_measure(const struct bench_window *window, struct bench_json *json);

/* The digests of all ranks as one number under "digest". Collective. */
void bench_digest_write(struct bench_json *json, uint64_t digest);

#endif
