/* SPDX-License-Identifier: BSD-3-Clause */
/* Claim: a program that changes between computing and communicating takes in each phase what the better way
 * for that phase takes (papers/002 sections 7.3 and 7.4, table 4).
 *
 * A phase is a number of rounds, each of operations, DGEMM and operations again. A phase of the kind COMP has
 * much DGEMM and few operations to each target, one of the kind COMM little DGEMM and many operations. It
 * uses one window or two. A window is made before its first phase and freed after its last. Ranks are out of
 * step: rank r of n does r/n of the first computation before its first operations, and that much less at the
 * end.
 *
 * Before each phase all processes synchronise the window, as a program does between its parts, with nothing
 * outstanding: by MPI_Win_set_info with the hint symmetric=true, by a fence between two epochs of lock_all,
 * or by the barrier alone. With --guided they also pass the hint async_config, which says whether the phase
 * that follows wants its operations served while targets compute. An MPI that does not know the hints ignores
 * them.
 *
 * After each phase every rank checks its memory and what it read, untimed. A wrong value makes the digest of
 * the phase 0 and the status 1.
 */
#include "common/bench.h"
#include "common/dgemm.h"
#include "common/exchange.h"

#include <stdlib.h>
#include <string.h>

enum { WINDOWS = 26, MOST_PHASES = 64, TEXT = 64, PARTS = 8 };
enum kind { COMP, COMM, KINDS };
static const char *const kind_names[KINDS] = {"comp", "comm"};
enum sync { SYNC_INFO, SYNC_FENCE, SYNC_BARRIER, SYNCS };
static const char *const sync_names[SYNCS] = {"set_info", "fence", "barrier"};

/* Of a list that describes a kind. */
enum { TILE, TILES, OPERATIONS, ROUNDS, BLOCK, NUMBERS };

static struct {
    struct bench_list numbers[KINDS];
    double seconds;
    const char *phases, *sync, *config[KINDS];
    bool is_guided, has_flush_each, is_one_node, adds_one;
} options = {.phases = "a:comp:get:accumulate:64,a:comm:get:accumulate:64",
             .sync = "set_info",
             .config = {"on", "off"}};

struct phase {
    char text[TEXT];
    uint32_t windows; /* a bit for each */
    enum kind kind;
    enum bench_operation operation[2]; /* before and after each computation */
    int64_t bytes;
    bool is_strided;
};

struct window {
    struct bench_exchange_shape shape;
    int first, last; /* the phases that use it; FIRST above LAST: none does */
    struct bench_exchange exchange;
};

/* Seconds of one rank in one phase. */
enum { COMPUTE, COMM_TIME, WAIT, CPU, TIMES };
static const char *const time_names[TIMES] = {"compute_s", "comm_s", "sync_s", "cpu_s"};

static struct {
    struct bench bench;
    struct bench_aims aims;
    struct bench_matrices matrices[KINDS];
    struct window windows[WINDOWS];
    struct phase phases[MOST_PHASES];
    int phase_count;
    double wall_s; /* of all that is timed */
    bool is_right;
} run = {.is_right = true};

static int64_t number(enum kind kind, int which) { return options.numbers[kind].values[which]; }

/* ---- what is done in a phase
 * ------------------------------------------------------------------------------- */

static bool is_used(const struct phase *phase, int window) { return phase->windows >> window & 1; }

static void communicate(const struct phase *phase, int which)
{
    for (int i = 0; i < WINDOWS; i++)
        if (is_used(phase, i))
            bench_exchange_operate(&run.windows[i].exchange, phase->operation[which],
                                   (int)number(phase->kind, OPERATIONS));
}

/* Adds the time since *LAST_S, which becomes now. */
static void lap(double *taken, double *last_s)
{
    double now_s = bench_now_s();
    *taken += now_s - *last_s;
    *last_s = now_s;
}

/* TILES of computation between operations. */
static void round_run(const struct phase *phase, int64_t tiles, double *taken, double *last_s)
{
    communicate(phase, 0);
    lap(&taken[COMM_TIME], last_s);
    bench_matrices_multiply(&run.matrices[phase->kind], tiles);
    lap(&taken[COMPUTE], last_s);
    communicate(phase, 1);
    lap(&taken[COMM_TIME], last_s);
}

/* Rounds, with a barrier after each block of them, until there are enough or, between blocks, the time is
 * over. Seconds of this rank into TAKEN, by round into ROUND_S. Returns how many there were. Collective. */
static int64_t rounds_run(const struct phase *phase, double *taken, double *round_s)
{
    int64_t wanted = number(phase->kind, ROUNDS), block = number(phase->kind, BLOCK), done = 0;
    int64_t tiles = number(phase->kind, TILES), early = tiles * run.bench.rank / run.bench.ranks;
    double start_cpu_s = bench_process_cpu_s(), last_s = bench_now_s(), end_s = last_s + options.seconds;
    block = block > 0 && block < wanted ? block : wanted;
    for (int wants_more = 1; wants_more != 0;) {
        int64_t until = done + block < wanted ? done + block : wanted;
        double begun_s = last_s;
        bench_matrices_multiply(&run.matrices[phase->kind], early);
        lap(&taken[COMPUTE], &last_s);
        for (; done < until; done++) {
            round_run(phase, done + 1 < until ? tiles : tiles - early, taken, &last_s);
            if (done + 1 == until) {
                MPI_Barrier(MPI_COMM_WORLD);
                lap(&taken[WAIT], &last_s);
            }
            round_s[done] = last_s - begun_s;
            begun_s = last_s;
        }
        wants_more = done < wanted && (options.seconds <= 0 || done < 2 * block || last_s < end_s);
        if (options.seconds > 0)
            MPI_Bcast(&wants_more, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    taken[CPU] = bench_process_cpu_s() - start_cpu_s;
    return done;
}

/* ---- windows
 * ----------------------------------------------------------------------------------------------- */

static MPI_Info hints_make(const struct phase *phase, bool is_symmetric)
{
    MPI_Info info;
    MPI_Info_create(&info);
    if (is_symmetric)
        MPI_Info_set(info, "symmetric", "true");
    if (options.is_guided)
        MPI_Info_set(info, "async_config", options.config[phase->kind]);
    return info;
}

/* Where the library may take another way: nothing is outstanding, and all processes are here. Collective. */
static void window_synchronise(const struct phase *phase, struct bench_exchange *exchange)
{
    enum sync sync = (enum sync)bench_name_find(sync_names, SYNCS, options.sync);
    MPI_Info info = hints_make(phase, sync == SYNC_INFO);
    if (sync == SYNC_INFO || options.is_guided)
        MPI_Win_set_info(exchange->win, info);
    MPI_Info_free(&info);
    if (sync != SYNC_FENCE)
        return;
    MPI_Win_unlock_all(exchange->win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, exchange->win);
    MPI_Win_lock_all(0, exchange->win);
}

/* Makes, or synchronises, what the phase AT uses. Collective. */
static void windows_begin(int at)
{
    const struct phase *phase = &run.phases[at];
    for (int i = 0; i < WINDOWS; i++) {
        struct window *window = &run.windows[i];
        if (!is_used(phase, i))
            continue;
        if (window->first < at) {
            window_synchronise(phase, &window->exchange);
            continue;
        }
        MPI_Info info = hints_make(phase, false);
        window->exchange.has_flush_each = options.has_flush_each;
        bench_exchange_make(&window->exchange, &run.bench, &run.aims, &window->shape, info);
        MPI_Info_free(&info);
    }
}

static void windows_end(int at)
{
    for (int i = 0; i < WINDOWS; i++)
        if (run.windows[i].last == at && run.windows[i].first <= at)
            bench_exchange_free(&run.windows[i].exchange);
}

/* The digest of the phase: of what was computed, and 0 if a value is wrong anywhere. Collective. */
static uint64_t phase_digest(const struct phase *phase)
{
    uint64_t mine[2] = {bench_matrices_digest(&run.matrices[phase->kind]), 0}, all[2];
    for (int i = 0; i < WINDOWS; i++)
        if (is_used(phase, i))
            mine[1] += !bench_exchange_is_right(&run.windows[i].exchange);
    MPI_Allreduce(mine, all, 2, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    return all[1] == 0 ? all[0] : 0;
}

/* ---- a phase, measured
 * ------------------------------------------------------------------------------------- */

/* Seconds a round takes in each of PARTS parts of the rounds, the slowest rank's. Collective. */
static void parts_write(struct bench_json *json, const double *round_s, int64_t rounds)
{
    double mine[PARTS], slowest[PARTS];
    for (int64_t part = 0; part < PARTS; part++) {
        int64_t from = rounds * part / PARTS, until = rounds * (part + 1) / PARTS;
        until = until > from ? until : from + 1; /* fewer rounds than parts */
        mine[part] = 0;
        for (int64_t i = from; i < until; i++)
            mine[part] += round_s[i] / (double)(until - from);
    }
    MPI_Reduce(mine, slowest, PARTS, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    bench_json_open(json, "parts_s", '[');
    for (int part = 0; part < PARTS && run.bench.rank == 0; part++)
        bench_json_number(json, NULL, slowest[part]);
    bench_json_close(json, ']');
}

/* Means over the ranks, for a round. Collective. */
static void times_write(struct bench_json *json, const double *taken, int64_t rounds)
{
    double sum[TIMES];
    MPI_Reduce(taken, sum, TIMES, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    for (int i = 0; i < TIMES && run.bench.rank == 0; i++)
        bench_json_number(json, time_names[i], sum[i] / (double)(rounds * run.bench.ranks));
}

/* More than is counted. */
static void one_add(const struct phase *phase)
{
    struct bench_exchange *exchange = &run.windows[__builtin_ctz(phase->windows)].exchange;
    bench_exchange_operate(exchange, BENCH_ACCUMULATE, 1);
    exchange->added--;
}

/* Collective. */
static void phase_run(int at, struct bench_json *json)
{
    const struct phase *phase = &run.phases[at];
    double taken[TIMES] = {0},
           *round_s = bench_allocate((size_t)number(phase->kind, ROUNDS) * sizeof *round_s);
    MPI_Barrier(MPI_COMM_WORLD);
    double start_s = bench_now_s();
    windows_begin(at);
    double ready_s = bench_now_s();
    if (options.adds_one && run.bench.rank == 0)
        one_add(phase);
    MPI_Barrier(MPI_COMM_WORLD);
    double begun_s = bench_now_s();
    int64_t rounds = rounds_run(phase, taken, round_s);
    double end_s = bench_now_s();
    uint64_t digest = phase_digest(phase);
    MPI_Barrier(MPI_COMM_WORLD); /* nobody writes where another one still looks */
    double freed_s = bench_now_s();
    windows_end(at);
    freed_s = bench_now_s() - freed_s;
    run.is_right = run.is_right && digest != 0;
    run.wall_s += end_s - start_s + freed_s;
    bench_json_open(json, NULL, '{');
    bench_json_text(json, "phase", phase->text);
    bench_json_text(json, "kind", kind_names[phase->kind]);
    bench_json_integer(json, "bytes", phase->bytes);
    bench_json_integer(json, "rounds", rounds);
    bench_json_number(json, "begin_s", ready_s - start_s);
    bench_json_number(json, "round_s", (end_s - begun_s) / (double)rounds);
    times_write(json, taken, rounds);
    parts_write(json, round_s, rounds);
    bench_json_hex(json, "digest", digest);
    bench_json_close(json, '}');
    free(round_s);
}

/* ---- what is asked for
 * ------------------------------------------------------------------------------------- */

/* The next word of *REST, which ends at SEPARATOR; NULL: there is none. */
static char *word_take(char **rest) { return strsep(rest, ":"); }

/* WINDOWS:KIND:BEFORE:AFTER:BYTES, and perhaps :strided. */
static bool phase_parse(const char *text, struct phase *phase)
{
    char copy[TEXT], *rest = copy, *word;
    struct bench_list bytes = {0};
    snprintf(copy, sizeof copy, "%s", text);
    snprintf(phase->text, sizeof phase->text, "%s", text);
    for (word = word_take(&rest); word != NULL && *word != '\0'; word++) {
        if (*word < 'a' || *word >= 'a' + WINDOWS)
            return false;
        phase->windows |= UINT32_C(1) << (*word - 'a');
    }
    word = word_take(&rest);
    phase->kind = (enum kind)(word != NULL ? bench_name_find(kind_names, KINDS, word) : KINDS);
    for (int i = 0; i < 2; i++) {
        word = word_take(&rest);
        phase->operation[i] = word != NULL ? bench_operation_find(word) : BENCH_OPERATIONS;
    }
    word = word_take(&rest);
    if (word == NULL || !bench_list_parse(word, &bytes))
        return false;
    phase->bytes = bytes.values[0];
    phase->is_strided = rest != NULL && strcmp(rest, "strided") == 0;
    return phase->windows != 0 && phase->kind != KINDS && phase->operation[0] != BENCH_OPERATIONS &&
           phase->operation[1] != BENCH_OPERATIONS && (rest == NULL || phase->is_strided);
}

static bool is_size_right(const struct phase *phase)
{
    int64_t count = phase->bytes / (int64_t)sizeof(double);
    bool is_one = phase->operation[0] == BENCH_FETCH_AND_OP || phase->operation[1] == BENCH_FETCH_AND_OP;
    return count >= 1 && phase->bytes % (int64_t)sizeof(double) == 0 && (!is_one || count == 1) &&
           (!phase->is_strided || (count & (count - 1)) == 0);
}

/* The window I is used by the phase AT too. False: its phases differ in what they need. */
static bool window_add(int i, int at)
{
    struct window *window = &run.windows[i];
    const struct phase *phase = &run.phases[at];
    int most = (int)number(phase->kind, OPERATIONS);
    if (window->first > at) {
        window->first = at;
        window->shape = (struct bench_exchange_shape){.bytes = phase->bytes,
                                                      .is_strided = phase->is_strided,
                                                      .use = {phase->operation[0], phase->operation[1]}};
    }
    window->last = at;
    window->shape.most = window->shape.most > most ? window->shape.most : most;
    return window->shape.bytes == phase->bytes && window->shape.is_strided == phase->is_strided &&
           window->shape.use[0] == phase->operation[0] && window->shape.use[1] == phase->operation[1];
}

static void phases_read(void)
{
    char *copy = strdup(options.phases), *rest = copy;
    for (int i = 0; i < WINDOWS; i++)
        run.windows[i] = (struct window){.first = MOST_PHASES, .last = -1};
    for (char *text; (text = strsep(&rest, ",")) != NULL; run.phase_count++) {
        int at = run.phase_count;
        struct phase *phase = &run.phases[at];
        if (at == MOST_PHASES || strlen(text) >= TEXT || !phase_parse(text, phase))
            bench_refuse(&run.bench, "--phases: %s is no phase; --help says what one is, %d at most", text,
                         MOST_PHASES);
        if (!is_size_right(phase))
            bench_refuse(&run.bench,
                         "--phases: %s: bytes are a multiple of 8, a power of two where strided, "
                         "and 8 with fetch_and_op",
                         text);
        for (int i = 0; i < WINDOWS; i++)
            if (is_used(phase, i) && !window_add(i, at))
                bench_refuse(&run.bench, "--phases: the phases of window %c differ in operations or bytes",
                             'a' + i);
    }
    free(copy);
}

static void options_check(void)
{
    if (bench_name_find(sync_names, SYNCS, options.sync) == SYNCS)
        bench_refuse(&run.bench, "--sync must be set_info, fence or barrier");
    for (int kind = 0; kind < KINDS; kind++) {
        const struct bench_list *list = &options.numbers[kind];
        if (list->count != NUMBERS || list->values[TILE] < 1 || list->values[OPERATIONS] < 1 ||
            list->values[ROUNDS] < 1)
            bench_refuse(&run.bench,
                         "--%s takes five numbers, of which the first, third and fourth are above 0",
                         kind_names[kind]);
    }
}

int main(int argc, char **argv)
{
    options.numbers[COMP] = bench_list_make("128,8,1,16,0");
    options.numbers[COMM] = bench_list_make("24,1,8,200,0");
    const struct bench_option table[] = {
        {"phases", BENCH_TEXT, &options.phases,
         "WINDOWS:KIND:BEFORE:AFTER:BYTES[:strided],...: windows a to z, comp or comm, operations, their "
         "bytes"},
        {"comp", BENCH_LIST, &options.numbers[COMP],
         "of a phase: side of a DGEMM, DGEMMs a round, operations to each target, rounds, rounds between "
         "barriers (0: all)"},
        {"comm", BENCH_LIST, &options.numbers[COMM], "the same of the other kind"},
        {"sync", BENCH_TEXT, &options.sync, "set_info, fence or barrier: between phases"},
        {"guided", BENCH_FLAG, &options.is_guided, "pass the hint async_config for each phase"},
        {"comp-config", BENCH_TEXT, &options.config[COMP], "on, off or auto: what it says of comp"},
        {"comm-config", BENCH_TEXT, &options.config[COMM], "the same of comm"},
        {"flush-each", BENCH_FLAG, &options.has_flush_each, "after each operation, not after all of them"},
        {"to-one-node", BENCH_FLAG, &options.is_one_node, "targets are those of rank 0's node alone"},
        {"seconds", BENCH_NUMBER, &options.seconds,
         "a phase ends after so many, by whole blocks; 0: by rounds"},
        {"add-one", BENCH_FLAG, &options.adds_one,
         "rank 0 adds once more than is counted: the check finds it"},
        {0},
    };
    struct bench_json json;
    bench_start(&run.bench, "rma_phases", argc, argv, table);
    options_check();
    phases_read();
    run.aims = bench_aims_find(&run.bench, options.is_one_node);
    for (int kind = 0; kind < KINDS; kind++)
        run.matrices[kind] = bench_matrices_make(run.bench.rank, number((enum kind)kind, TILE));
    bench_json_begin(&json, &run.bench);
    bench_json_text(&json, "sync", options.sync);
    bench_json_integer(&json, "is_guided", options.is_guided);
    bench_blas_write(&json);
    bench_json_open(&json, "phases", '[');
    for (int at = 0; at < run.phase_count; at++)
        phase_run(at, &json);
    bench_json_close(&json, ']');
    bench_json_number(&json, "wall_s", run.wall_s);
    bench_json_end(&json);
    for (int kind = 0; kind < KINDS; kind++)
        bench_matrices_free(&run.matrices[kind]);
    bench_aims_free(&run.aims);
    if (!run.is_right && run.bench.rank == 0)
        fprintf(stderr, "rma_phases: an update was lost or made twice, or a value is wrong\n");
    bench_finish(&run.bench);
    return !run.is_right;
}
