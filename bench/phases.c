/* SPDX-License-Identifier: BSD-3-Clause */
/* Claim: overlap is gained from the first window that computes on, and a program that changes what it does
 * keeps it (papers/002 section 7, for messages).
 *
 * Phases follow one another in one run. A phase is so many windows of one transfer: post, work, wait, after a
 * barrier. Without work a window waits at once, as a program does that exchanges and then computes. Every
 * window is reported, the first one too: what learning costs is part of what a user gets.
 *
 * Work is given in microseconds. Each process turns them into units of work by its speed before MPI_Init: on
 * a machine that others share, one launch is twice as fast as the next, and work that was as long as the wire
 * in one would be half as long in the other. */
#include "common/epoch.h"
#include "common/pattern.h"
#include "common/window.h"

#include <stdlib.h>
#include <string.h>

enum { PHASES_MAX = 32, NAME_MAX = 32 };

struct phase {
    char name[NAME_MAX];
    const struct bench_transfer_kind *kind;
    int64_t bytes, work_units;
    int windows;
};

static struct {
    const char *phases;
    bool is_beside;
} options = {.phases = "exchange:1m:0:8,exchange:1m:1000:64"};

/* KIND:BYTES:WORK_US:WINDOWS */
static bool phase_parse(char *text, double units_per_s, struct phase *phase)
{
    char *parts[4], *rest = text;
    for (int i = 0; i < 4; i++)
        if ((parts[i] = strsep(&rest, ":")) == NULL)
            return false;
    struct bench_list numbers[3];
    for (int i = 0; i < 3; i++)
        if (rest != NULL || !bench_list_parse(parts[i + 1], &numbers[i]) || numbers[i].count != 1)
            return false;
    snprintf(phase->name, sizeof phase->name, "%s", parts[0]);
    phase->kind = bench_transfer_find(parts[0]);
    if (phase->kind == NULL)
        phase->kind = bench_pattern_find(parts[0]);
    if (phase->kind == NULL)
        phase->kind = bench_epoch_find(parts[0]);
    phase->bytes = numbers[0].values[0];
    int64_t work_us = numbers[1].values[0];
    phase->work_units = work_us > 0 ? 1 + (int64_t)(1e-6 * (double)work_us * units_per_s) : 0;
    phase->windows = (int)numbers[2].values[0];
    return phase->kind != NULL && phase->windows > 0 && phase->bytes <= 1 << 28;
}

static int phases_parse(const struct bench *bench, double units_per_s, struct phase *phases)
{
    char *text = strdup(options.phases), *rest = text;
    int count = 0;
    for (char *one; (one = strsep(&rest, ",")) != NULL; count++)
        if (count == PHASES_MAX || !phase_parse(one, units_per_s, &phases[count]))
            bench_refuse(
                bench,
                "--phases is KIND:BYTES:WORK_US:WINDOWS, up to %d of them with commas; KIND is %s %s %s",
                PHASES_MAX, bench_transfer_names, bench_pattern_names, bench_epoch_names);
    free(text);
    return count;
}

static void work_run(void *context)
{
    const struct phase *phase = context;
    bench_work(phase->work_units);
}

/* The work of a window, beside REQUESTS[COUNT]. Returns how many they are in the end. */
static int work_beside(const struct phase *phase, struct bench_transfer *transfer, MPI_Request *requests,
                       int count)
{
    int slices = phase->kind->slices;
    bench_work(phase->work_units - phase->work_units / (slices + 1) * slices);
    for (int i = 0, are_done; i < slices; i++) {
        if (phase->kind->piece != NULL)
            count = phase->kind->piece(transfer, requests, count);
        else
            MPI_Testall(count, requests, &are_done, MPI_STATUSES_IGNORE);
        bench_work(phase->work_units / (slices + 1));
    }
    return count;
}

static void complete(const struct phase *phase, struct bench_transfer *transfer, MPI_Request *requests,
                     int count)
{
    if (phase->kind->complete != NULL)
        phase->kind->complete(transfer, requests, count);
    else
        MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
}

struct samples {
    double *alone_s, *wait_s, *total_s; /* [windows] */
};

static void window_run(const struct phase *phase, struct bench_transfer *transfer, struct samples *samples,
                       int i)
{
    MPI_Request requests[BENCH_REQUESTS_MAX];
    bool is_beside = options.is_beside && phase->work_units > 0;
    if (phase->kind->is_pipelined) {               /* what is under way would move meanwhile */
        samples->alone_s[i] = samples->alone_s[0]; /* [0]: before_first() */
    } else {
        MPI_Barrier(MPI_COMM_WORLD);
        samples->alone_s[i] = is_beside ? bench_alone_now(work_run, (void *)phase) : 0;
    }
    double start_s = bench_now_s();
    int count = phase->kind->post(transfer, requests);
    count = work_beside(phase, transfer, requests, count);
    double computed_s = bench_now_s();
    complete(phase, transfer, requests, count);
    double end_s = bench_now_s();
    samples->wait_s[i] = end_s - computed_s;
    samples->total_s[i] = end_s - start_s;
}

/* Where exchanges overlap one another the work alone is measured only here, while nothing is under way. */
static void before_first(const struct phase *phase, struct samples *samples)
{
    enum { TIMES = 5 };
    double alone_s[TIMES];
    if (!phase->kind->is_pipelined || !options.is_beside || phase->work_units == 0)
        return;
    for (int i = 0; i < TIMES; i++)
        alone_s[i] = bench_alone_now(work_run, (void *)phase);
    samples->alone_s[0] = bench_summarize(alone_s, TIMES).median;
}

/* The slowest rank's, window by window. */
static void samples_write(struct bench_json *json, const char *name, double *samples, int count)
{
    double *slowest = bench_allocate((size_t)count * sizeof *slowest);
    MPI_Reduce(samples, slowest, count, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    bench_json_open(json, name, '[');
    for (int i = 0; i < count; i++)
        bench_json_number(json, NULL, slowest[i]);
    bench_json_close(json, ']');
    free(slowest);
}

static void phase_run(const struct bench *bench, struct phase *phase, double *wall_s, struct bench_json *json)
{
    struct bench_transfer transfer = bench_transfer_make(bench, phase->bytes);
    size_t bytes = (size_t)phase->windows * sizeof(double);
    struct samples samples = {bench_allocate(bytes), bench_allocate(bytes), bench_allocate(bytes)};
    if (phase->kind->open != NULL)
        phase->kind->open(&transfer);
    before_first(phase, &samples);
    double start_s = bench_now_s();
    for (int i = 0; i < phase->windows; i++)
        window_run(phase, &transfer, &samples, i);
    *wall_s += bench_now_s() - start_s;
    if (phase->kind->close != NULL)
        phase->kind->close(&transfer);
    bench_json_open(json, NULL, '{');
    bench_json_text(json, "kind", phase->name);
    bench_json_integer(json, "bytes", phase->bytes);
    bench_json_integer(json, "work_units", phase->work_units);
    samples_write(json, "alone_s", samples.alone_s, phase->windows);
    samples_write(json, "wait_s", samples.wait_s, phase->windows);
    samples_write(json, "total_s", samples.total_s, phase->windows);
    bench_json_digest(json, bench_transfer_digest(&transfer));
    bench_json_close(json, '}');
    free(samples.alone_s);
    free(samples.wait_s);
    free(samples.total_s);
    bench_transfer_free(&transfer);
}

int main(int argc, char **argv)
{
    const struct bench_option table[] = {
        {"phases", BENCH_TEXT, &options.phases,
         "KIND:BYTES:WORK_US:WINDOWS, with commas between; work in us, 0: waits at once"},
        BENCH_BESIDE_OPTION(&options.is_beside),
        {0},
    };
    struct phase phases[PHASES_MAX];
    struct bench bench;
    double units_per_s = bench_units_per_s();
    bench_start(&bench, "phases", argc, argv, table);
    if (bench.ranks % 2 != 0)
        bench_refuse(&bench, "needs an even number of ranks");
    int count = phases_parse(&bench, units_per_s, phases);

    struct bench_json json;
    double wall_s = 0;
    bench_json_begin(&json, &bench);
    bench_json_open(&json, "phases", '[');
    for (int i = 0; i < count; i++)
        phase_run(&bench, &phases[i], &wall_s, &json);
    bench_json_close(&json, ']');
    bench_json_number(&json, "wall_s", wall_s);
    bench_json_number(&json, "work_checksum", bench_work_checksum());
    bench_json_end(&json);
    bench_finish(&bench);
    return 0;
}
