/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures one window of overlap. */
#include "window.h"

const char *const bench_overlap_names[BENCH_OVERLAP_PHASES] = {"post_s", "compute_s", "wait_s", "cpu_s",
                                                               "total_s"};

void bench_overlap_run(void (*begin)(void *context), int64_t units, void (*end)(void *context), void *context,
                       double seconds[BENCH_OVERLAP_PHASES])
{
    double start_cpu_s = bench_process_cpu_s(), start_s = bench_now_s();
    begin(context);
    double begun_s = bench_now_s();
    bench_work(units);
    double computed_s = bench_now_s();
    end(context);
    double end_s = bench_now_s();
    seconds[BENCH_POST] = begun_s - start_s;
    seconds[BENCH_COMPUTE] = computed_s - begun_s;
    seconds[BENCH_WAIT] = end_s - computed_s;
    seconds[BENCH_CPU] = bench_process_cpu_s() - start_cpu_s;
    seconds[BENCH_TOTAL] = end_s - start_s;
}

static void work_run(void *context)
{
    const struct bench_window *window = context;
    bench_work(window->work_units);
}

enum bench_completion bench_completion_parse(const struct bench *bench, const char *name)
{
    static const char *const names[] = {"all", "each", "test", "reduce"};
    enum { COUNT = sizeof names / sizeof names[0] };
    int found = bench_name_find(names, COUNT, name);
    if (found == COUNT)
        bench_refuse(bench, "--completion is one of all each test reduce");
    return (enum bench_completion)found;
}

static void requests_complete(enum bench_completion completion, int count, MPI_Request *requests)
{
    int is_done = 0;
    double mine = 1.0, sum;
    switch (completion) {
    case BENCH_ALL:
        MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
        break;
    case BENCH_EACH:
        for (int i = 0; i < count; i++)
            MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
        break;
    case BENCH_TEST:
        while (!is_done)
            MPI_Testall(count, requests, &is_done, MPI_STATUSES_IGNORE);
        break;
    case BENCH_REDUCE:
        MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
        break;
    }
}

struct posted {
    const struct bench_window *window;
    int count;
    MPI_Request requests[BENCH_REQUESTS_MAX];
};

static void window_begin(void *context)
{
    struct posted *posted = context;
    posted->count = posted->window->post(posted->window->context, posted->requests);
}

static void window_end(void *context)
{
    struct posted *posted = context;
    requests_complete(posted->window->completion, posted->count, posted->requests);
}

static void window_iterate(const struct bench_window *window, struct bench_phases *phases, int iteration)
{
    struct posted posted = {.window = window};
    double seconds[BENCH_OVERLAP_PHASES];
    MPI_Barrier(MPI_COMM_WORLD);
    double alone_s = window->is_beside ? bench_alone_now(work_run, (void *)window) : 0;
    bench_overlap_run(window_begin, window->work_units, window_end, &posted, seconds);
    if (iteration < 0)
        return;
    bench_phases_record(phases, iteration, seconds);
    if (window->is_beside)
        phases->alone[iteration] = alone_s;
}

void bench_window_measure(const struct bench_window *window, struct bench_json *json)
{
    enum { WORK_ITERATIONS_MAX = 10 };
    int work_iterations = window->iterations < WORK_ITERATIONS_MAX ? window->iterations : WORK_ITERATIONS_MAX;
    struct bench_phases phases;
    bench_alone_measure(json, "transfer", "transfer_alone_s", window->warmup, window->iterations,
                        window->transfer, window->context);
    bench_alone_measure(json, "compute", "compute_alone_s", 1, work_iterations, work_run, (void *)window);
    bench_phases_init(&phases, BENCH_OVERLAP_PHASES, bench_overlap_names, window->iterations,
                      window->is_beside);
    for (int i = -window->warmup; i < window->iterations; i++)
        window_iterate(window, &phases, i);
    bench_json_phases(json, &phases);
    bench_phases_free(&phases);
}
