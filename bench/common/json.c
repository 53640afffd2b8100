/* SPDX-License-Identifier: BSD-3-Clause */
/* A JSON object built in memory on rank 0 and printed as one line. */
#include "bench.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void text_write(FILE *stream, const char *text)
{
    fputc('"', stream);
    for (; *text != '\0' && *text != '\n'; text++) {
        if (*text == '"' || *text == '\\')
            fputc('\\', stream);
        fputc((unsigned char)*text < ' ' ? ' ' : *text, stream);
    }
    fputc('"', stream);
}

static void key_write(struct bench_json *json, const char *key)
{
    if (json->wants_comma)
        fputs(", ", json->stream);
    json->wants_comma = true;
    if (key != NULL) {
        text_write(json->stream, key);
        fputs(": ", json->stream);
    }
}

void bench_json_open(struct bench_json *json, const char *key, char bracket)
{
    if (json->stream == NULL)
        return;
    key_write(json, key);
    fputc(bracket, json->stream);
    json->wants_comma = false;
}

void bench_json_close(struct bench_json *json, char bracket)
{
    if (json->stream == NULL)
        return;
    fputc(bracket, json->stream);
    json->wants_comma = true;
}

void bench_json_integer(struct bench_json *json, const char *key, int64_t value)
{
    if (json->stream == NULL)
        return;
    key_write(json, key);
    fprintf(json->stream, "%" PRId64, value);
}

void bench_json_number(struct bench_json *json, const char *key, double value)
{
    if (json->stream == NULL)
        return;
    key_write(json, key);
    if (isfinite(value))
        fprintf(json->stream, "%.12g", value);
    else
        fputs("null", json->stream);
}

void bench_json_text(struct bench_json *json, const char *key, const char *value)
{
    if (json->stream == NULL)
        return;
    key_write(json, key);
    text_write(json->stream, value);
}

void bench_json_hex(struct bench_json *json, const char *key, uint64_t value)
{
    char text[32];
    snprintf(text, sizeof text, "%016" PRIx64, value);
    bench_json_text(json, key, text);
}

void bench_json_digest(struct bench_json *json, uint64_t digest)
{
    uint64_t sum = 0;
    MPI_Reduce(&digest, &sum, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    bench_json_hex(json, "digest", sum);
}

void bench_json_list(struct bench_json *json, const char *key, const struct bench_list *list)
{
    bench_json_open(json, key, '[');
    for (int i = 0; i < list->count; i++)
        bench_json_integer(json, NULL, list->values[i]);
    bench_json_close(json, ']');
}

void bench_json_summary(struct bench_json *json, const char *key, struct bench_summary summary)
{
    bench_json_open(json, key, '{');
    bench_json_number(json, "median", summary.median);
    bench_json_number(json, "min", summary.minimum);
    bench_json_number(json, "max", summary.maximum);
    bench_json_number(json, "q1", summary.first_quartile);
    bench_json_number(json, "q3", summary.third_quartile);
    bench_json_close(json, '}');
}

void bench_json_begin(struct bench_json *json, const struct bench *bench)
{
    *json = (struct bench_json){0};
    if (bench->rank == 0) {
        json->stream = open_memstream(&json->text, &json->length);
        if (json->stream == NULL)
            MPI_Abort(MPI_COMM_WORLD, 1);
    }
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    MPI_Get_library_version(version, &length);
    for (char *at = version; *at != '\0'; at++)
        if (*at == '\t' || *at == '\r')
            *at = ' ';
    bench_json_open(json, NULL, '{');
    bench_json_text(json, "program", bench->program);
    bench_json_integer(json, "schema", 1);
    bench_json_integer(json, "ranks", bench->ranks);
    bench_json_integer(json, "nodes", bench->nodes);
    bench_json_text(json, "mpi", version);
}

/* Slowest rank of each iteration; the result is valid on rank 0. */
static struct bench_summary slowest_summarize(const double *samples, int iterations)
{
    double *slowest = bench_allocate((size_t)iterations * sizeof(double));
    MPI_Reduce(samples, slowest, iterations, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    struct bench_summary summary = bench_summarize(slowest, iterations);
    free(slowest);
    return summary;
}

static void by_rank_write(struct bench_json *json, const struct bench_phases *phases, int rank,
                          const struct bench_summary *summaries)
{
    bench_json_open(json, NULL, '{');
    bench_json_integer(json, "rank", rank);
    for (int i = 0; i < phases->count; i++)
        bench_json_summary(json, phases->names[i], summaries[i]);
    bench_json_close(json, '}');
}

/* What an iteration took beside its computation alone, as phases more; iteration for iteration, so before the
 * samples are sorted. */
static struct bench_phases phases_with_alone(const struct bench_phases *phases)
{
    static const char *const names[BENCH_PHASES_ALONE] = {"alone_s", "of_alone", "over_alone_s"};
    struct bench_phases all = *phases;
    const double *total = phases->samples[phases->count - 1], *alone = phases->alone;
    double **added = &all.samples[all.count];
    for (int i = 0; i < BENCH_PHASES_ALONE; i++) {
        all.names[all.count++] = names[i];
        added[i] = bench_allocate((size_t)all.iterations * sizeof(double));
    }
    for (int i = 0; i < all.iterations; i++) {
        added[0][i] = alone[i];
        added[1][i] = total[i] / alone[i];
        added[2][i] = total[i] - alone[i];
    }
    return all;
}

static void by_rank_gather(struct bench_json *json, const struct bench_phases *phases)
{
    enum { FIELDS = sizeof(struct bench_summary) / sizeof(double) };
    struct bench_summary mine[BENCH_PHASES_MAX];
    for (int i = 0; i < phases->count; i++)
        mine[i] = bench_summarize(phases->samples[i], phases->iterations);
    int ranks;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    struct bench_summary *all = bench_allocate((size_t)(ranks * phases->count) * sizeof *all);
    MPI_Gather(mine, phases->count * FIELDS, MPI_DOUBLE, all, phases->count * FIELDS, MPI_DOUBLE, 0,
               MPI_COMM_WORLD);
    bench_json_open(json, "by_rank", '[');
    for (int rank = 0; json->stream != NULL && rank < ranks; rank++)
        by_rank_write(json, phases, rank, all + rank * phases->count);
    bench_json_close(json, ']');
    free(all);
}

void bench_json_phases(struct bench_json *json, const struct bench_phases *phases)
{
    int last = phases->count - 1;
    struct bench_summary slowest = slowest_summarize(phases->samples[last], phases->iterations);
    bench_json_summary(json, phases->names[last], slowest);
    if (phases->alone == NULL) {
        by_rank_gather(json, phases);
        return;
    }
    struct bench_phases all = phases_with_alone(phases);
    by_rank_gather(json, &all);
    for (int i = phases->count; i < all.count; i++)
        free(all.samples[i]);
}

void bench_json_rounds(struct bench_json *json, int64_t bytes, int64_t units, double work_s,
                       const struct bench_phases *phases)
{
    bench_json_open(json, NULL, '{');
    bench_json_integer(json, "bytes", bytes);
    bench_json_integer(json, "work_units", units);
    bench_json_number(json, "work_s", work_s);
    bench_json_integer(json, "rounds", phases->iterations);
    bench_json_phases(json, phases);
    bench_json_close(json, '}');
}

void bench_rounds_measure(struct bench_json *json, int64_t bytes, int64_t units, int64_t rounds,
                          int64_t warmup, double (*run)(void *context, int64_t units), void *context)
{
    static const char *const name[] = {"origin_s"};
    struct bench_phases phases;
    double start_s = bench_now_s();
    bench_work(units);
    double work_s = bench_now_s() - start_s;
    bench_phases_init(&phases, 1, name, (int)rounds, false);
    for (int64_t i = -warmup; i < rounds; i++) {
        double taken_s = run(context, units);
        if (i >= 0)
            phases.samples[0][i] = taken_s;
    }
    bench_json_rounds(json, bytes, units, work_s, &phases);
    bench_phases_free(&phases);
}

void bench_alone_measure(struct bench_json *json, const char *key, const char *name, int warmup,
                         int iterations, void (*run)(void *context), void *context)
{
    struct bench_phases phases;
    bench_phases_init(&phases, 1, &name, iterations, false);
    for (int i = -warmup; i < iterations; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double start_s = bench_now_s();
        run(context);
        if (i >= 0)
            phases.samples[0][i] = bench_now_s() - start_s;
    }
    bench_json_open(json, key, '{');
    bench_json_phases(json, &phases);
    bench_json_close(json, '}');
    bench_phases_free(&phases);
}

void bench_json_end(struct bench_json *json)
{
    bench_json_close(json, '}');
    if (json->stream == NULL)
        return;
    fclose(json->stream);
    puts(json->text);
    fflush(stdout);
    free(json->text);
}

void bench_points_finish(struct bench *bench, struct bench_json *json, int count,
                         void (*measure)(const struct bench *bench, int at, struct bench_json *json))
{
    bench_json_open(json, "points", '[');
    for (int i = 0; i < count; i++)
        measure(bench, i, json);
    bench_json_close(json, ']');
    bench_json_number(json, "work_checksum", bench_work_checksum());
    bench_json_end(json);
    bench_finish(bench);
}
