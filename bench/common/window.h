/* SPDX-License-Identifier: BSD-3-Clause */
/* One window of overlap, measured: post - work - wait, beside the transfer and the work alone. */
#ifndef HEADWAY_BENCH_WINDOW_H
#define HEADWAY_BENCH_WINDOW_H

#include "bench.h"

#define BENCH_REQUESTS_MAX 32

/* The phases of an operation that is begun, has work beside it, and is ended. The processor time is that of
 * the process. */
enum { BENCH_POST, BENCH_COMPUTE, BENCH_WAIT, BENCH_CPU, BENCH_TOTAL, BENCH_OVERLAP_PHASES };
extern const char *const bench_overlap_names[BENCH_OVERLAP_PHASES];

/* BEGIN, UNITS of work, END. */
void bench_overlap_run(void (*begin)(void *context), int64_t units, void (*end)(void *context), void *context,
                       double seconds[BENCH_OVERLAP_PHASES]);

/* How a window's requests are completed. */
enum bench_completion {
    BENCH_ALL,    /* MPI_Waitall */
    BENCH_EACH,   /* MPI_Wait for one after the other */
    BENCH_TEST,   /* MPI_Testall until all are complete */
    BENCH_REDUCE, /* MPI_Waitall after an MPI_Allreduce, as in a solver with inner products */
};

/* By its name: all, each, test, reduce. Ends every rank with one line for any other. */
enum bench_completion bench_completion_parse(const struct bench *bench, const char *name);

struct bench_window {
    void *context;
    /* The same transfer by blocking calls. */
    void (*transfer)(void *context);
    /* Starts the transfer; returns how many requests it left in REQUESTS. */
    int (*post)(void *context, MPI_Request *requests);
    enum bench_completion completion;
    int64_t work_units;
    int iterations;
    int warmup;
    bool is_beside; /* the work alone before each window, too */
};

/* Measures the transfer alone, the work alone, and the window; each iteration starts after a barrier.
 * Writes "transfer", "compute" and the phase set described in bench/README.md. Collective. */
void bench_window_measure(const struct bench_window *window, struct bench_json *json);

#endif
