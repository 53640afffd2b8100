/* SPDX-License-Identifier: BSD-3-Clause */
/* Claim: processes that compute and communicate in turn, each at its own time, do not wait for one another's
 * computation; and what it costs them where they hardly compute (papers/002 sections 7.2 and 7.3).
 *
 * An iteration is a phase of the paper: every rank does `--steps` times operations, DGEMM and operations
 * again, and a barrier closes it. Much DGEMM and one operation to each target is the paper's COMP, little
 * DGEMM and many operations its COMM. Targets are all other ranks, or those of rank 0's node. Ranks are out
 * of step: rank r of n does r/n of the first computation before it begins, and that much less in the last
 * step.
 *
 * The DGEMM is that of the system's BLAS, which should use one thread. Entries are small integers, so that
 * sums are exact in any order and with any BLAS: a lost or doubled update, or a value that was read or
 * written wrongly, makes the digest 0 and the status 1.
 */
#include "common/bench.h"
#include "common/dgemm.h"
#include "common/exchange.h"

#include <string.h>

static struct {
    struct bench_list sizes, operations;
    int64_t tile, tiles, steps, iterations, warmup;
    double seconds;
    const char *pattern, *flush, *before, *after;
    bool is_strided, is_beside;
} options = {.tile = 96,
             .tiles = 4,
             .steps = 5,
             .iterations = 20,
             .warmup = 1,
             .seconds = 0.5,
             .pattern = "all-to-all",
             .flush = "each",
             .before = "get",
             .after = "accumulate"};

enum { COMPUTE, COMM, SYNC, CPU, TOTAL, PHASES };
static const char *const phase_names[PHASES] = {"compute_s", "comm_s", "sync_s", "cpu_s", "total_s"};

enum { LEAST_ITERATIONS = 2, COMPUTE_SAMPLES = 3 };

struct pattern {
    const struct bench *bench;
    enum bench_operation before, after;
    struct bench_aims aims;
    struct bench_matrices matrices;
    int operations; /* of a point, to each target */
    struct bench_exchange exchange;
};

static void communicate(struct pattern *pattern, enum bench_operation operation)
{
    bench_exchange_operate(&pattern->exchange, operation, pattern->operations);
}

static void multiply(const struct pattern *pattern, int64_t tiles)
{
    bench_matrices_multiply(&pattern->matrices, tiles);
}

/* Adds the time since *LAST_S, which becomes now. */
static void lap(double *taken, double *last_s)
{
    double now_s = bench_now_s();
    *taken += now_s - *last_s;
    *last_s = now_s;
}

/* One iteration; seconds of this rank into TAKEN. */
static void iteration_run(struct pattern *pattern, double *taken)
{
    int64_t early = options.tiles * pattern->bench->rank / pattern->bench->ranks;
    memset(taken, 0, PHASES * sizeof *taken);
    MPI_Barrier(MPI_COMM_WORLD);
    double start_s = bench_now_s(), start_cpu_s = bench_process_cpu_s(), last_s = start_s;
    multiply(pattern, early);
    lap(&taken[COMPUTE], &last_s);
    for (int64_t step = 0; step < options.steps; step++) {
        communicate(pattern, pattern->before);
        lap(&taken[COMM], &last_s);
        multiply(pattern, step + 1 < options.steps ? options.tiles : options.tiles - early);
        lap(&taken[COMPUTE], &last_s);
        communicate(pattern, pattern->after);
        lap(&taken[COMM], &last_s);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    lap(&taken[SYNC], &last_s);
    taken[CPU] = bench_process_cpu_s() - start_cpu_s;
    taken[TOTAL] = last_s - start_s;
}

/* The digest of all ranks' memory and products, 0 where something is wrong. Nobody is in an iteration. */
static uint64_t answer_digest(const struct pattern *pattern)
{
    bool is_right = bench_exchange_is_right(&pattern->exchange);
    uint64_t parts[3] = {(uint64_t)pattern->bench->rank,
                         bench_digest(pattern->exchange.base, bench_exchange_bytes(&pattern->exchange)),
                         bench_matrices_digest(&pattern->matrices)};
    uint64_t mine[2] = {bench_digest(parts, sizeof parts), !is_right}, all[2];
    MPI_Allreduce(mine, all, 2, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    return all[1] == 0 ? all[0] : 0;
}

/* What the computation of an iteration takes while the other ranks compute too: what it cannot go below.
 * Without a barrier between, in which ranks that share a core would spin at the others' cost. */
static void compute_measure(const struct pattern *pattern, struct bench_json *json)
{
    static const char *const name[] = {"compute_alone_s"};
    struct bench_phases phases;
    bench_phases_init(&phases, 1, name, COMPUTE_SAMPLES, false);
    MPI_Barrier(MPI_COMM_WORLD);
    multiply(pattern, options.steps * options.tiles);
    for (int i = 0; i < COMPUTE_SAMPLES; i++) {
        double start_s = bench_now_s();
        multiply(pattern, options.steps * options.tiles);
        phases.samples[0][i] = bench_now_s() - start_s;
    }
    bench_json_open(json, "compute", '{');
    bench_json_phases(json, &phases);
    bench_json_close(json, '}');
    bench_phases_free(&phases);
}

static void computation_run(void *pattern) { multiply(pattern, options.steps * options.tiles); }

/* Timed iterations until there are enough, or the time is over, as rank 0 says. Collective. */
static void iterations_run(struct pattern *pattern, struct bench_phases *phases)
{
    double end_s = bench_now_s() + options.seconds;
    int done = 0;
    for (int wants_more = 1; wants_more != 0;) {
        double taken[PHASES];
        if (options.is_beside)
            phases->alone[done] = bench_alone_now(computation_run, pattern);
        iteration_run(pattern, taken);
        bench_phases_record(phases, done++, taken);
        wants_more = done < options.iterations && (done < LEAST_ITERATIONS || bench_now_s() < end_s);
        MPI_Bcast(&wants_more, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    phases->iterations = done;
}

static bool point_measure(struct pattern *pattern, int at, struct bench_json *json)
{
    struct bench_phases phases;
    pattern->operations = (int)bench_list_at(&options.operations, at);
    const struct bench_exchange_shape shape = {.bytes = options.sizes.values[at],
                                               .is_strided = options.is_strided,
                                               .most = pattern->operations,
                                               .use = {pattern->before, pattern->after}};
    bench_exchange_make(&pattern->exchange, pattern->bench, &pattern->aims, &shape, MPI_INFO_NULL);
    bench_json_open(json, NULL, '{');
    bench_json_integer(json, "bytes", options.sizes.values[at]);
    bench_json_integer(json, "operations", pattern->operations);
    compute_measure(pattern, json);
    for (int64_t i = 0; i < options.warmup; i++)
        iteration_run(pattern, (double[PHASES]){0});
    /* Here, because how many iterations follow depends on the time. */
    uint64_t digest = answer_digest(pattern);
    bench_phases_init(&phases, PHASES, phase_names, (int)options.iterations, options.is_beside);
    iterations_run(pattern, &phases);
    bench_json_integer(json, "iterations", phases.iterations);
    bench_json_phases(json, &phases);
    bench_phases_free(&phases);
    if (answer_digest(pattern) == 0)
        digest = 0;
    bench_json_hex(json, "digest", digest);
    bench_json_close(json, '}');
    bench_exchange_free(&pattern->exchange);
    return digest != 0;
}

static void options_check(const struct bench *bench)
{
    if (strcmp(options.pattern, "all-to-all") != 0 && strcmp(options.pattern, "to-one-node") != 0)
        bench_refuse(bench, "--pattern must be all-to-all or to-one-node");
    if (strcmp(options.flush, "each") != 0 && strcmp(options.flush, "end") != 0)
        bench_refuse(bench, "--flush must be each or end");
    if (bench_operation_find(options.before) == BENCH_OPERATIONS ||
        bench_operation_find(options.after) == BENCH_OPERATIONS)
        bench_refuse(bench, "--before and --after must be " BENCH_OPERATION_NAMES);
    if (options.tile < 1 || options.tiles < 1 || options.steps < 1 || options.warmup < 1)
        bench_refuse(bench, "--tile, --tiles, --steps and --warmup must be 1 or more");
    if (options.iterations < LEAST_ITERATIONS)
        bench_refuse(bench, "--iterations must be %d or more", LEAST_ITERATIONS);
    if (!bench_list_fits(&options.operations, options.sizes.count, 1))
        bench_refuse(bench, "--operations must be 1 or more, one number or one for each of --sizes");
    for (int i = 0; i < options.sizes.count; i++) {
        int64_t count = options.sizes.values[i] / (int64_t)sizeof(double);
        if (count < 1 || options.sizes.values[i] % (int64_t)sizeof(double) != 0 ||
            (options.is_strided && (count & (count - 1)) != 0))
            bench_refuse(bench, "--sizes must be multiples of 8, and powers of two with --strided");
        if (count > 1 && (bench_operation_find(options.before) == BENCH_FETCH_AND_OP ||
                          bench_operation_find(options.after) == BENCH_FETCH_AND_OP))
            bench_refuse(bench, "--sizes must be 8 with fetch_and_op");
    }
}

static void pattern_make(struct pattern *pattern, const struct bench *bench)
{
    *pattern = (struct pattern){.bench = bench,
                                .before = bench_operation_find(options.before),
                                .after = bench_operation_find(options.after),
                                .aims = bench_aims_find(bench, strcmp(options.pattern, "to-one-node") == 0),
                                .matrices = bench_matrices_make(bench->rank, options.tile)};
    pattern->exchange.has_flush_each = strcmp(options.flush, "each") == 0;
}

static void pattern_free(struct pattern *pattern)
{
    bench_aims_free(&pattern->aims);
    bench_matrices_free(&pattern->matrices);
}

int main(int argc, char **argv)
{
    options.sizes = bench_list_make("8,1k");
    options.operations = bench_list_make("1");
    const struct bench_option table[] = {
        {"sizes", BENCH_LIST, &options.sizes, "bytes of an operation, multiples of 8"},
        {"operations", BENCH_LIST, &options.operations, "to each target, before and after a computation"},
        {"pattern", BENCH_TEXT, &options.pattern, "all-to-all or to-one-node: which ranks are targets"},
        {"flush", BENCH_TEXT, &options.flush, "each (blocking) or end (nonblocking): after which operations"},
        {"before", BENCH_TEXT, &options.before, BENCH_OPERATION_NAMES ": before each computation"},
        {"after", BENCH_TEXT, &options.after, "the same, after it"},
        {"strided", BENCH_FLAG, &options.is_strided, "targets are boxes in three-dimensional grids"},
        {"tile", BENCH_INTEGER, &options.tile, "rows and columns of a DGEMM"},
        {"tiles", BENCH_INTEGER, &options.tiles, "DGEMMs of a computation"},
        {"steps", BENCH_INTEGER, &options.steps, "computations of an iteration, which a barrier closes"},
        {"iterations", BENCH_INTEGER, &options.iterations, "timed ones, at most"},
        BENCH_BESIDE_OPTION(&options.is_beside),
        {"seconds", BENCH_NUMBER, &options.seconds, "of a point, about; two timed iterations at least"},
        {"warmup", BENCH_INTEGER, &options.warmup, "untimed ones"},
        {0},
    };
    struct bench bench;
    struct bench_json json;
    struct pattern pattern;
    bool is_so = true;
    bench_start(&bench, "rma_patterns", argc, argv, table);
    options_check(&bench);
    pattern_make(&pattern, &bench);
    bench_json_begin(&json, &bench);
    bench_json_text(&json, "pattern", options.pattern);
    bench_json_text(&json, "flush", options.flush);
    bench_json_text(&json, "before", options.before);
    bench_json_text(&json, "after", options.after);
    bench_json_integer(&json, "tile", options.tile);
    bench_json_integer(&json, "tiles", options.tiles);
    bench_json_integer(&json, "steps", options.steps);
    bench_blas_write(&json);
    bench_json_open(&json, "points", '[');
    for (int i = 0; i < options.sizes.count; i++)
        is_so = point_measure(&pattern, i, &json) && is_so;
    bench_json_close(&json, ']');
    bench_json_end(&json);
    pattern_free(&pattern);
    if (!is_so && bench.rank == 0)
        fprintf(stderr, "rma_patterns: an update was lost or made twice, or a value is wrong\n");
    bench_finish(&bench);
    return !is_so;
}
