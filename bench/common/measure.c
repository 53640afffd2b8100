/* SPDX-License-Identifier: BSD-3-Clause */
/* Time, CPU, memory, fixed work, buffers and the summary of samples. */
#include "bench.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum { WORK_SIDE = 64 };

static double work_grid[2][WORK_SIDE][WORK_SIDE];
static bool work_is_ready;

double bench_now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double clock_cpu_s(clockid_t clock)
{
    struct timespec used;
    clock_gettime(clock, &used);
    return (double)used.tv_sec + 1e-9 * (double)used.tv_nsec;
}

double bench_process_cpu_s(void) { return clock_cpu_s(CLOCK_PROCESS_CPUTIME_ID); }

double bench_thread_cpu_s(void) { return clock_cpu_s(CLOCK_THREAD_CPUTIME_ID); }

int64_t bench_pss_bytes(void)
{
    FILE *file = fopen("/proc/self/smaps_rollup", "r");
    if (file == NULL)
        return -1;
    char line[256];
    long long kib = -1;
    while (kib < 0 && fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "Pss: %lld kB", &kib) != 1)
            kib = -1;
    fclose(file);
    return kib < 0 ? -1 : (int64_t)kib * 1024;
}

static void work_prepare(void)
{
    for (int i = 0; i < WORK_SIDE; i++)
        for (int j = 0; j < WORK_SIDE; j++)
            work_grid[0][i][j] = work_grid[1][i][j] = (double)((i * 31 + j * 17) % 101) / 101.0;
    work_is_ready = true;
}

/* Not inlined, and the grids are global: the caller cannot know that a sweep is not observed. */
static __attribute__((noinline)) void work_sweep(double (*restrict to)[WORK_SIDE],
                                                 double (*restrict from)[WORK_SIDE])
{
    for (int i = 1; i < WORK_SIDE - 1; i++)
        for (int j = 1; j < WORK_SIDE - 1; j++)
            to[i][j] = 0.2 * (from[i][j] + from[i - 1][j] + from[i + 1][j] + from[i][j - 1] + from[i][j + 1]);
}

void bench_work(int64_t units)
{
    static int current;
    if (!work_is_ready)
        work_prepare();
    for (int64_t unit = 0; unit < units; unit++) {
        work_sweep(work_grid[1 - current], work_grid[current]);
        current = 1 - current;
    }
}

double bench_units_per_s(void)
{
    enum { TRIALS = 9, UNITS = 500 };
    double best_s = 0;
    for (int i = 0; i < TRIALS; i++) {
        double start_s = bench_now_s();
        bench_work(UNITS);
        double taken_s = bench_now_s() - start_s;
        if (i == 0 || taken_s < best_s)
            best_s = taken_s;
    }
    return UNITS / best_s;
}

double bench_work_checksum(void)
{
    double sum = 0.0;
    for (int i = 0; i < WORK_SIDE; i++)
        for (int j = 0; j < WORK_SIDE; j++)
            sum += work_grid[0][i][j];
    return sum;
}

void *bench_allocate(size_t bytes)
{
    void *memory = NULL;
    if (posix_memalign(&memory, 4096, bytes > 0 ? bytes : 1) != 0) {
        fprintf(stderr, "out of memory for %zu bytes; ask for smaller sizes\n", bytes);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    memset(memory, 1, bytes);
    return memory;
}

/* A piece begins with the place of the one that was taken before it. */
enum { PIECE_HEAD = 64 };

void *bench_pieces_take(struct bench_pieces *pieces, size_t bytes)
{
    void **piece = bench_allocate(PIECE_HEAD + bytes);
    *piece = pieces->last;
    pieces->last = piece;
    return (char *)piece + PIECE_HEAD;
}

void bench_pieces_free(struct bench_pieces *pieces)
{
    while (pieces->last != NULL) {
        void **piece = pieces->last;
        pieces->last = *piece;
        free(piece);
    }
}

static uint64_t mix(uint64_t value)
{
    value ^= value >> 30;
    value *= 0xbf58476d1ce4e5b9u;
    value ^= value >> 27;
    value *= 0x94d049bb133111ebu;
    return value ^ (value >> 31);
}

void bench_fill(void *buffer, size_t bytes, uint64_t seed)
{
    unsigned char *to = buffer;
    for (size_t at = 0; at < bytes; at += sizeof(uint64_t)) {
        uint64_t word = mix(seed * 0x9e3779b97f4a7c15u + at);
        memcpy(to + at, &word, bytes - at < sizeof word ? bytes - at : sizeof word);
    }
}

uint64_t bench_digest(const void *buffer, size_t bytes)
{
    const unsigned char *from = buffer;
    uint64_t digest = mix(bytes + 1);
    for (size_t at = 0; at < bytes; at += sizeof(uint64_t)) {
        uint64_t word = 0;
        memcpy(&word, from + at, bytes - at < sizeof word ? bytes - at : sizeof word);
        digest = mix(digest ^ word) + 0x9e3779b97f4a7c15u;
    }
    return digest;
}

static int double_compare(const void *left, const void *right)
{
    double a = *(const double *)left;
    double b = *(const double *)right;
    return (a > b) - (a < b);
}

static double quantile(const double *sorted, int count, double share)
{
    double at = share * (double)(count - 1);
    int below = (int)at;
    if (below + 1 >= count)
        return sorted[count - 1];
    return sorted[below] + (at - (double)below) * (sorted[below + 1] - sorted[below]);
}

struct bench_summary bench_summarize(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, double_compare);
    return (struct bench_summary){
        .median = quantile(values, count, 0.5),
        .minimum = values[0],
        .maximum = values[count - 1],
        .first_quartile = quantile(values, count, 0.25),
        .third_quartile = quantile(values, count, 0.75),
    };
}

void bench_phases_init(struct bench_phases *phases, int count, const char *const *names, int iterations,
                       bool is_beside)
{
    phases->count = count;
    phases->iterations = iterations;
    phases->alone = is_beside ? bench_allocate((size_t)iterations * sizeof(double)) : NULL;
    for (int i = 0; i < count; i++) {
        phases->names[i] = names[i];
        phases->samples[i] = bench_allocate((size_t)iterations * sizeof(double));
    }
}

void bench_phases_free(struct bench_phases *phases)
{
    for (int i = 0; i < phases->count; i++)
        free(phases->samples[i]);
    free(phases->alone);
    phases->count = 0;
}

void bench_phases_record(struct bench_phases *phases, int64_t iteration, const double *seconds)
{
    for (int i = 0; i < phases->count; i++)
        phases->samples[i][iteration] = seconds[i];
}

enum { COMM, CPU, TOTAL, STEP_PHASES };

void bench_steps_init(struct bench_phases *phases, int steps)
{
    static const char *const names[STEP_PHASES] = {"comm_s", "cpu_s", "total_s"};
    bench_phases_init(phases, STEP_PHASES, names, steps, false);
}

struct bench_step bench_step_begin(void) { return (struct bench_step){bench_now_s(), bench_process_cpu_s()}; }

void bench_step_end(struct bench_phases *phases, int64_t number, struct bench_step step, double comm_s)
{
    double cpu_s = bench_process_cpu_s() - step.began_cpu_s;
    double total_s = bench_now_s() - step.began_s;
    if (number < 0)
        return;
    phases->samples[COMM][number] = comm_s;
    phases->samples[CPU][number] = cpu_s;
    phases->samples[TOTAL][number] = total_s;
}

double bench_alone_now(void (*run)(void *context), void *context)
{
    double start_s = bench_now_s();
    run(context);
    double taken_s = bench_now_s() - start_s;
    MPI_Barrier(MPI_COMM_WORLD);
    return taken_s;
}
