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
#include "common/one_sided.h"

#include <dlfcn.h>
#include <stdlib.h>
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

/* Fortran's, as every BLAS has it; the lengths of the two texts come last. */
void dgemm_(const char *transa, const char *transb, const int *m, const int *n, const int *k,
            const double *alpha, const double *a, const int *lda, const double *b, const int *ldb,
            const double *beta, double *c, const int *ldc, size_t transa_length, size_t transb_length);

enum { COMPUTE, COMM, SYNC, CPU, TOTAL, PHASES };
static const char *const phase_names[PHASES] = {"compute_s", "comm_s", "sync_s", "cpu_s", "total_s"};

enum { LEAST_ITERATIONS = 2, COMPUTE_SAMPLES = 3 };

enum operation { NONE, PUT, GET, ACCUMULATE, OPERATIONS };
static const char *const operation_names[OPERATIONS] = {"none", "put", "get", "accumulate"};

/* Places of a target's memory, each as long as a message lies there: one that is read, one that is added to,
 * and one for each operation of each origin that writes. */
enum { READ, SUMMED, WRITTEN };

struct exchange {
    const struct bench *bench;
    enum operation before, after;
    bool has_flush_each;
    int targets, *target; /* ranks; not the own one */
    bool *is_aimed_at;    /* [ranks]: whether operations go to that rank */
    double *matrix[3];    /* the last is the product of the others */

    /* Of a point: */
    int count, operations; /* doubles of a message; operations to each target */
    MPI_Datatype type;     /* a message at its target */
    MPI_Aint extent;       /* doubles from one place to the next */
    double *base;
    MPI_Win win;
    double *sent, *received; /* one message; one for each operation and target */
    int64_t steps_done;
};

/* What rank RANK has or sends. */
static double entry(int rank, int64_t at) { return (double)((rank * 7 + at * 13) % 11 - 5); }

static MPI_Aint place(const struct exchange *x, int64_t which) { return (MPI_Aint)which * x->extent; }

static void operate(const struct exchange *x, enum operation operation, int turn, int aim)
{
    int target = x->target[aim];
    int64_t slot = (int64_t)x->bench->rank * x->operations + turn;
    if (operation == PUT)
        MPI_Put(x->sent, x->count, MPI_DOUBLE, target, place(x, WRITTEN + slot), 1, x->type, x->win);
    else if (operation == GET)
        MPI_Get(x->received + ((int64_t)turn * x->targets + aim) * x->count, x->count, MPI_DOUBLE, target,
                place(x, READ), 1, x->type, x->win);
    else
        MPI_Accumulate(x->sent, x->count, MPI_DOUBLE, target, place(x, SUMMED), 1, x->type, MPI_SUM, x->win);
    if (x->has_flush_each)
        MPI_Win_flush(target, x->win);
}

static void communicate(const struct exchange *x, enum operation operation)
{
    if (operation == NONE)
        return;
    for (int turn = 0; turn < x->operations; turn++)
        for (int aim = 0; aim < x->targets; aim++)
            operate(x, operation, turn, aim);
    if (!x->has_flush_each)
        MPI_Win_flush_all(x->win);
}

static void multiply(const struct exchange *x, int64_t tiles)
{
    const double one = 1.0, zero = 0.0;
    int side = (int)options.tile;
    for (int64_t i = 0; i < tiles; i++)
        dgemm_("N", "N", &side, &side, &side, &one, x->matrix[0], &side, x->matrix[1], &side, &zero,
               x->matrix[2], &side, 1, 1);
}

/* Adds the time since *LAST_S, which becomes now. */
static void lap(double *taken, double *last_s)
{
    double now_s = bench_now_s();
    *taken += now_s - *last_s;
    *last_s = now_s;
}

/* One iteration; seconds of this rank into TAKEN. */
static void iteration_run(struct exchange *x, double *taken)
{
    int64_t early = options.tiles * x->bench->rank / x->bench->ranks;
    memset(taken, 0, PHASES * sizeof *taken);
    MPI_Barrier(MPI_COMM_WORLD);
    double start_s = bench_now_s(), start_cpu_s = bench_process_cpu_s(), last_s = start_s;
    multiply(x, early);
    lap(&taken[COMPUTE], &last_s);
    for (int64_t step = 0; step < options.steps; step++) {
        communicate(x, x->before);
        lap(&taken[COMM], &last_s);
        multiply(x, step + 1 < options.steps ? options.tiles : options.tiles - early);
        lap(&taken[COMPUTE], &last_s);
        communicate(x, x->after);
        lap(&taken[COMM], &last_s);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    lap(&taken[SYNC], &last_s);
    taken[CPU] = bench_process_cpu_s() - start_cpu_s;
    taken[TOTAL] = last_s - start_s;
    x->steps_done += options.steps;
}

/* Whether the message at WHICH of the own memory is FACTOR x what SENDER sends, summed over SENDERS ranks. */
static bool is_place_right(const struct exchange *x, int64_t which, double factor, const bool *is_sender)
{
    double *found = bench_allocate((size_t)x->count * sizeof *found);
    bool is_right = true;
    MPI_Sendrecv(x->base + place(x, which), 1, x->type, 0, 0, found, x->count, MPI_DOUBLE, 0, 0,
                 MPI_COMM_SELF, MPI_STATUS_IGNORE);
    for (int i = 0; i < x->count; i++) {
        double sum = 0.0;
        for (int rank = 0; rank < x->bench->ranks; rank++)
            sum += is_sender[rank] ? factor * entry(rank, i) : 0.0;
        is_right = is_right && found[i] == sum;
    }
    free(found);
    return is_right;
}

static bool does(const struct exchange *x, enum operation operation)
{
    return x->before == operation || x->after == operation;
}

/* Each sender's, as often as it was added. */
static bool are_sums_right(const struct exchange *x, bool *is_sender)
{
    int times = (x->before == ACCUMULATE) + (x->after == ACCUMULATE);
    double added = (double)times * (double)(x->steps_done * x->operations);
    for (int rank = 0; rank < x->bench->ranks; rank++)
        is_sender[rank] = x->is_aimed_at[x->bench->rank] && rank != x->bench->rank;
    return is_place_right(x, SUMMED, added, is_sender);
}

static bool are_puts_right(const struct exchange *x, bool *is_sender)
{
    int me = x->bench->rank, ranks = x->bench->ranks;
    bool is_right = true;
    for (int sender = 0; sender < ranks; sender++) {
        for (int rank = 0; rank < ranks; rank++)
            is_sender[rank] = x->is_aimed_at[me] && sender != me && rank == sender;
        for (int turn = 0; turn < x->operations; turn++)
            is_right = is_right && is_place_right(x, WRITTEN + sender * x->operations + turn, 1.0, is_sender);
    }
    return is_right;
}

static bool are_gets_right(const struct exchange *x)
{
    const double *found = x->received;
    bool is_right = true;
    for (int turn = 0; turn < x->operations; turn++)
        for (int aim = 0; aim < x->targets; aim++) {
            for (int i = 0; i < x->count; i++)
                is_right = is_right && found[i] == entry(x->target[aim], i + 1);
            found += x->count;
        }
    return is_right;
}

/* Whether everything this rank read last, and everything in its memory, is what it has to be. */
static bool is_right(const struct exchange *x)
{
    bool *is_sender = bench_allocate((size_t)x->bench->ranks * sizeof *is_sender);
    bool is_so = are_sums_right(x, is_sender) && (!does(x, PUT) || are_puts_right(x, is_sender)) &&
                 (!does(x, GET) || are_gets_right(x));
    free(is_sender);
    return is_so;
}

static int64_t places(const struct exchange *x)
{
    return WRITTEN + (does(x, PUT) ? (int64_t)x->bench->ranks * x->operations : 0);
}

/* The digest of all ranks' memory and products, 0 where something is wrong. Nobody is in an iteration. */
static uint64_t answer_digest(const struct exchange *x)
{
    MPI_Win_sync(x->win);
    uint64_t parts[3] = {(uint64_t)x->bench->rank,
                         bench_digest(x->base, (size_t)place(x, places(x)) * sizeof(double)),
                         bench_digest(x->matrix[2], (size_t)(options.tile * options.tile) * sizeof(double))};
    uint64_t mine[2] = {bench_digest(parts, sizeof parts), !is_right(x)}, all[2];
    MPI_Allreduce(mine, all, 2, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    return all[1] == 0 ? all[0] : 0;
}

/* Collective: the window, in which what others read lies ready. */
static void memory_make(struct exchange *x)
{
    MPI_Aint low, extent, bytes;
    x->type = bench_target_type(x->count, options.is_strided);
    MPI_Type_get_extent(x->type, &low, &extent);
    x->extent = extent / (MPI_Aint)sizeof(double);
    bytes = place(x, places(x)) * (MPI_Aint)sizeof(double);
    x->sent = bench_allocate((size_t)x->count * sizeof(double));
    x->received =
        bench_allocate((size_t)x->operations * (size_t)x->targets * (size_t)x->count * sizeof(double));
    MPI_Win_allocate(bytes, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &x->base, &x->win);
    MPI_Win_lock_all(0, x->win);
    memset(x->base, 0, (size_t)bytes);
    for (int i = 0; i < x->count; i++)
        x->sent[i] = entry(x->bench->rank, i + 1);
    MPI_Sendrecv(x->sent, x->count, MPI_DOUBLE, 0, 0, x->base + place(x, READ), 1, x->type, 0, 0,
                 MPI_COMM_SELF, MPI_STATUS_IGNORE);
    for (int i = 0; i < x->count; i++)
        x->sent[i] = entry(x->bench->rank, i);
    MPI_Win_sync(x->win);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void memory_free(struct exchange *x)
{
    MPI_Win_unlock_all(x->win);
    MPI_Win_free(&x->win);
    MPI_Type_free(&x->type);
    free(x->sent);
    free(x->received);
}

/* What the computation of an iteration takes while the other ranks compute too: what it cannot go below.
 * Without a barrier between, in which ranks that share a core would spin at the others' cost. */
static void compute_measure(const struct exchange *x, struct bench_json *json)
{
    static const char *const name[] = {"compute_alone_s"};
    struct bench_phases phases;
    bench_phases_init(&phases, 1, name, COMPUTE_SAMPLES, false);
    MPI_Barrier(MPI_COMM_WORLD);
    multiply(x, options.steps * options.tiles);
    for (int i = 0; i < COMPUTE_SAMPLES; i++) {
        double start_s = bench_now_s();
        multiply(x, options.steps * options.tiles);
        phases.samples[0][i] = bench_now_s() - start_s;
    }
    bench_json_open(json, "compute", '{');
    bench_json_phases(json, &phases);
    bench_json_close(json, '}');
    bench_phases_free(&phases);
}

static void computation_run(void *exchange) { multiply(exchange, options.steps * options.tiles); }

/* Timed iterations until there are enough, or the time is over, as rank 0 says. Collective. */
static void iterations_run(struct exchange *x, struct bench_phases *phases)
{
    double end_s = bench_now_s() + options.seconds;
    int done = 0;
    for (int wants_more = 1; wants_more != 0;) {
        double taken[PHASES];
        if (options.is_beside)
            phases->alone[done] = bench_alone_now(computation_run, x);
        iteration_run(x, taken);
        for (int phase = 0; phase < PHASES; phase++)
            phases->samples[phase][done] = taken[phase];
        done++;
        wants_more = done < options.iterations && (done < LEAST_ITERATIONS || bench_now_s() < end_s);
        MPI_Bcast(&wants_more, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    phases->iterations = done;
}

static bool point_measure(struct exchange *x, int at, struct bench_json *json)
{
    struct bench_phases phases;
    x->count = (int)(options.sizes.values[at] / (int64_t)sizeof(double));
    x->operations = (int)bench_list_at(&options.operations, at);
    x->steps_done = 0;
    memory_make(x);
    bench_json_open(json, NULL, '{');
    bench_json_integer(json, "bytes", options.sizes.values[at]);
    bench_json_integer(json, "operations", x->operations);
    compute_measure(x, json);
    for (int64_t i = 0; i < options.warmup; i++)
        iteration_run(x, (double[PHASES]){0});
    /* Here, because how many iterations follow depends on the time. */
    uint64_t digest = answer_digest(x);
    bench_phases_init(&phases, PHASES, phase_names, (int)options.iterations, options.is_beside);
    iterations_run(x, &phases);
    bench_json_integer(json, "iterations", phases.iterations);
    bench_json_phases(json, &phases);
    bench_phases_free(&phases);
    if (answer_digest(x) == 0)
        digest = 0;
    bench_json_hex(json, "digest", digest);
    bench_json_close(json, '}');
    memory_free(x);
    return digest != 0;
}

/* Which ranks operations go to, and in which order this rank's do: the next rank's first. Collective. */
static void targets_find(struct exchange *x)
{
    int ranks = x->bench->ranks, length;
    char name[MPI_MAX_PROCESSOR_NAME] = {0}, first[MPI_MAX_PROCESSOR_NAME];
    MPI_Get_processor_name(name, &length);
    memcpy(first, name, sizeof first);
    MPI_Bcast(first, (int)sizeof first, MPI_CHAR, 0, MPI_COMM_WORLD);
    bool is_one = strcmp(options.pattern, "all-to-all") == 0 || strcmp(name, first) == 0;
    x->is_aimed_at = bench_allocate((size_t)ranks * sizeof *x->is_aimed_at);
    x->target = bench_allocate((size_t)ranks * sizeof *x->target);
    MPI_Allgather(&is_one, (int)sizeof is_one, MPI_BYTE, x->is_aimed_at, (int)sizeof is_one, MPI_BYTE,
                  MPI_COMM_WORLD);
    for (int i = 1; i < ranks; i++) {
        int rank = (x->bench->rank + i) % ranks;
        if (x->is_aimed_at[rank])
            x->target[x->targets++] = rank;
    }
}

/* OPERATIONS: there is none of that name. */
static enum operation operation_find(const char *name)
{
    return (enum operation)bench_name_find(operation_names, OPERATIONS, name);
}

static void options_check(const struct bench *bench)
{
    if (strcmp(options.pattern, "all-to-all") != 0 && strcmp(options.pattern, "to-one-node") != 0)
        bench_refuse(bench, "--pattern must be all-to-all or to-one-node");
    if (strcmp(options.flush, "each") != 0 && strcmp(options.flush, "end") != 0)
        bench_refuse(bench, "--flush must be each or end");
    if (operation_find(options.before) == OPERATIONS || operation_find(options.after) == OPERATIONS)
        bench_refuse(bench, "--before and --after must be none, put, get or accumulate");
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
    }
}

static void exchange_make(struct exchange *x, const struct bench *bench)
{
    *x = (struct exchange){.bench = bench,
                           .before = operation_find(options.before),
                           .after = operation_find(options.after),
                           .has_flush_each = strcmp(options.flush, "each") == 0};
    targets_find(x);
    for (int i = 0; i < 3; i++) {
        x->matrix[i] = bench_allocate((size_t)(options.tile * options.tile) * sizeof(double));
        for (int64_t at = 0; at < options.tile * options.tile; at++)
            x->matrix[i][at] = entry(bench->rank + i, at);
    }
}

static void exchange_free(struct exchange *x)
{
    free(x->target);
    free(x->is_aimed_at);
    for (int i = 0; i < 3; i++)
        free(x->matrix[i]);
}

/* Which library computes. */
static void blas_write(struct bench_json *json)
{
    Dl_info found = {0};
    void *dgemm = dlsym(RTLD_DEFAULT, "dgemm_");
    char *path = dgemm != NULL && dladdr(dgemm, &found) != 0 ? realpath(found.dli_fname, NULL) : NULL;
    bench_json_text(json, "blas", path != NULL ? path : "not known");
    free(path);
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
        {"before", BENCH_TEXT, &options.before, "none, put, get or accumulate: before each computation"},
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
    struct exchange exchange;
    bool is_so = true;
    bench_start(&bench, "rma_patterns", argc, argv, table);
    options_check(&bench);
    exchange_make(&exchange, &bench);
    bench_json_begin(&json, &bench);
    bench_json_text(&json, "pattern", options.pattern);
    bench_json_text(&json, "flush", options.flush);
    bench_json_text(&json, "before", options.before);
    bench_json_text(&json, "after", options.after);
    bench_json_integer(&json, "tile", options.tile);
    bench_json_integer(&json, "tiles", options.tiles);
    bench_json_integer(&json, "steps", options.steps);
    blas_write(&json);
    bench_json_open(&json, "points", '[');
    for (int i = 0; i < options.sizes.count; i++)
        is_so = point_measure(&exchange, i, &json) && is_so;
    bench_json_close(&json, ']');
    bench_json_end(&json);
    exchange_free(&exchange);
    if (!is_so && bench.rank == 0)
        fprintf(stderr, "rma_patterns: an update was lost or made twice, or a value is wrong\n");
    bench_finish(&bench);
    return !is_so;
}
