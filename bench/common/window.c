/* Measures one window of overlap. */
#include "window.h"

#include <string.h>

enum { POST, COMPUTE, WAIT, CPU, TOTAL, PHASES };
static const char *const phase_names[PHASES] = {"post_s", "compute_s", "wait_s", "cpu_s", "total_s"};

static void transfer_measure(const struct bench_window *window, struct bench_json *json)
{
    static const char *const name[] = {"transfer_alone_s"};
    struct bench_phases phases;
    bench_phases_init(&phases, 1, name, window->iterations);
    for (int i = -window->warmup; i < window->iterations; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double start_s = bench_now_s();
        window->transfer(window->context);
        if (i >= 0)
            phases.samples[0][i] = bench_now_s() - start_s;
    }
    bench_json_open(json, "transfer", '{');
    bench_json_phases(json, &phases);
    bench_json_close(json, '}');
    bench_phases_free(&phases);
}

static void work_measure(const struct bench_window *window, struct bench_json *json)
{
    static const char *const name[] = {"compute_alone_s"};
    struct bench_phases phases;
    int iterations = window->iterations > 10 ? 10 : window->iterations;
    bench_phases_init(&phases, 1, name, iterations);
    for (int i = -1; i < iterations; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double start_s = bench_now_s();
        bench_work(window->work_units);
        if (i >= 0)
            phases.samples[0][i] = bench_now_s() - start_s;
    }
    bench_json_open(json, "compute", '{');
    bench_json_phases(json, &phases);
    bench_json_close(json, '}');
    bench_phases_free(&phases);
}

enum bench_completion bench_completion_parse(const struct bench *bench, const char *name)
{
    static const char *const names[] = {"all", "each", "test", "reduce"};
    for (int i = BENCH_ALL; i <= BENCH_REDUCE; i++)
        if (strcmp(name, names[i]) == 0)
            return (enum bench_completion)i;
    bench_refuse(bench, "--completion is one of all each test reduce");
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

static void window_iterate(const struct bench_window *window, struct bench_phases *phases, int iteration)
{
    MPI_Request requests[BENCH_REQUESTS_MAX];
    MPI_Barrier(MPI_COMM_WORLD);
    double start_cpu_s = bench_process_cpu_s();
    double start_s = bench_now_s();
    int count = window->post(window->context, requests);
    double posted_s = bench_now_s();
    bench_work(window->work_units);
    double computed_s = bench_now_s();
    requests_complete(window->completion, count, requests);
    double end_s = bench_now_s();
    if (iteration < 0)
        return;
    phases->samples[POST][iteration] = posted_s - start_s;
    phases->samples[COMPUTE][iteration] = computed_s - posted_s;
    phases->samples[WAIT][iteration] = end_s - computed_s;
    phases->samples[CPU][iteration] = bench_process_cpu_s() - start_cpu_s;
    phases->samples[TOTAL][iteration] = end_s - start_s;
}

void bench_window_measure(const struct bench_window *window, struct bench_json *json)
{
    transfer_measure(window, json);
    work_measure(window, json);
    struct bench_phases phases;
    bench_phases_init(&phases, PHASES, phase_names, window->iterations);
    for (int i = -window->warmup; i < window->iterations; i++)
        window_iterate(window, &phases, i);
    bench_json_phases(json, &phases);
    bench_phases_free(&phases);
}

void bench_digest_write(struct bench_json *json, uint64_t digest)
{
    uint64_t sum = 0;
    MPI_Reduce(&digest, &sum, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    bench_json_hex(json, "digest", sum);
}
