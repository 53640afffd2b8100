/* SPDX-License-Identifier: BSD-3-Clause */
/* Claim: a one-sided operation completes while its target computes (papers/002 section 7.2).
 *
 * Rank 0 is the origin, the last rank the target, on another node where there is one. In each round the
 * target does a fixed amount of work outside MPI while the origin issues one operation and flushes it; the
 * sample is the origin's time. With no work the target waits inside MPI: the best there can be. A point ends
 * after `--seconds`, but not before a few rounds: some operations of some MPIs take a large part of a second.
 * With `--stream` the rounds follow one another without a message between, while the target sleeps, outside
 * MPI and leaving its core to whoever acts for it, or with no work waits inside MPI. */
#include "common/bench.h"
#include "common/one_sided.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct {
    struct bench_list sizes, work;
    int64_t rounds, warmup;
    double seconds;
    const char *operation, *window;
    bool is_strided, is_stream;
} options = {.rounds = 20, .warmup = 3, .seconds = 1.0, .operation = "accumulate", .window = "allocate"};

enum { TAG_BEGIN = 1, TAG_END };
enum { LEAST_ROUNDS = 3 };

static const char *const operations[] = {
    "put", "get", "accumulate", "get_accumulate", "fetch_and_op", "compare_and_swap"};
enum { OPERATIONS = sizeof operations / sizeof operations[0] };

static const char *const windows[] = {"allocate", "create", "dynamic", "shared"};
enum { WINDOWS = sizeof windows / sizeof windows[0] };

static bool is_window(const char *kind) { return strcmp(options.window, kind) == 0; }

static bool is_on_memory(void) { return is_window("create") || is_window("dynamic"); }

static void operate(double *buffer, double *result, int count, MPI_Datatype type, int target, MPI_Aint place,
                    MPI_Win win)
{
    const char *what = options.operation;
    if (strcmp(what, "put") == 0)
        MPI_Put(buffer, count, MPI_DOUBLE, target, place, 1, type, win);
    else if (strcmp(what, "get") == 0)
        MPI_Get(buffer, count, MPI_DOUBLE, target, place, 1, type, win);
    else if (strcmp(what, "accumulate") == 0)
        MPI_Accumulate(buffer, count, MPI_DOUBLE, target, place, 1, type, MPI_SUM, win);
    else if (strcmp(what, "get_accumulate") == 0)
        MPI_Get_accumulate(buffer, count, MPI_DOUBLE, result, count, MPI_DOUBLE, target, place, 1, type,
                           MPI_SUM, win);
    else if (strcmp(what, "fetch_and_op") == 0)
        MPI_Fetch_and_op(buffer, result, MPI_DOUBLE, target, place, MPI_SUM, win);
    else
        MPI_Compare_and_swap(buffer, &(int64_t){0}, result, MPI_INT64_T, target, place, win);
    MPI_Win_flush(target, win);
}

/* What the origin of the rounds of a point has, and the target they go to. */
struct exchange {
    const struct bench *bench;
    double *buffer, *result;
    int count;
    MPI_Datatype type;
    MPI_Aint place; /* of the target's memory: its displacement, or its address */
    MPI_Win win;
};

static double exchange_operate(const struct exchange *exchange, int target)
{
    double start_s = bench_now_s();
    operate(exchange->buffer, exchange->result, exchange->count, exchange->type, target, exchange->place,
            exchange->win);
    return bench_now_s() - start_s;
}

/* One round; what the origin took. WANTS_MORE is the origin's to say, and told to the target. */
static double round_run(const struct exchange *exchange, int64_t units, double end_s, bool *wants_more)
{
    int target = exchange->bench->ranks - 1;
    double taken_s = 0;
    if (exchange->bench->rank == 0) {
        MPI_Recv(NULL, 0, MPI_BYTE, target, TAG_BEGIN, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        taken_s = exchange_operate(exchange, target);
        *wants_more = bench_now_s() < end_s;
        MPI_Send(wants_more, sizeof *wants_more, MPI_BYTE, target, TAG_END, MPI_COMM_WORLD);
    } else if (exchange->bench->rank == target) {
        MPI_Send(NULL, 0, MPI_BYTE, 0, TAG_BEGIN, MPI_COMM_WORLD);
        bench_work(units);
        MPI_Recv(wants_more, sizeof *wants_more, MPI_BYTE, 0, TAG_END, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    return taken_s;
}

/* Rounds until there are enough, or the time is over; untimed ones first, one at least. */
static void rounds_run(const struct exchange *exchange, int64_t units, struct bench_phases *phases)
{
    double end_s = bench_now_s() + options.seconds;
    bool wants_more = true;
    int done = 0;
    for (int64_t i = 0; i == 0 || (i < options.warmup && wants_more); i++)
        round_run(exchange, units, end_s, &wants_more);
    while (done < options.rounds && (done < LEAST_ROUNDS || wants_more))
        phases->samples[0][done++] = round_run(exchange, units, end_s, &wants_more);
    MPI_Bcast(&done, 1, MPI_INT, 0, MPI_COMM_WORLD);
    phases->iterations = done;
}

/* Untimed rounds, for `--seconds` at most. Intel MPI answers some 4000 messages between two processes more
 * slowly before it has its pace. */
static void warm_up(const struct exchange *exchange, int target)
{
    double end_s = bench_now_s() + options.seconds;
    for (int64_t i = 0; i < options.warmup && (i < LEAST_ROUNDS || bench_now_s() < end_s); i++)
        exchange_operate(exchange, target);
}

/* All rounds of a point in one sleep of the target, in half of it at most; one at least. */
static void stream_run(const struct exchange *exchange, int64_t sleep_us, struct bench_phases *phases)
{
    const struct bench *bench = exchange->bench;
    int target = bench->ranks - 1, done = 0;
    bool is_origin = bench->rank == 0;
    if (is_origin)
        warm_up(exchange, target);
    MPI_Barrier(MPI_COMM_WORLD);
    double end_s = bench_now_s() + (sleep_us > 0 ? (double)sleep_us * 0.5e-6 : options.seconds);
    while (is_origin && done < options.rounds && (done == 0 || bench_now_s() < end_s))
        phases->samples[0][done++] = exchange_operate(exchange, target);
    if (bench->rank == target && sleep_us > 0)
        nanosleep(&(struct timespec){sleep_us / 1000000, sleep_us % 1000000 * 1000}, NULL);
    MPI_Bcast(&done, 1, MPI_INT, 0, MPI_COMM_WORLD);
    phases->iterations = done;
}

static void work_measure(const struct exchange *exchange, int64_t bytes, int64_t units,
                         struct bench_json *json)
{
    static const char *const name[] = {"origin_s"};
    struct bench_phases phases;
    double start_s = bench_now_s();
    if (!options.is_stream)
        bench_work(units);
    double work_s = bench_now_s() - start_s;
    bench_phases_init(&phases, 1, name, (int)options.rounds, false);
    memset(phases.samples[0], 0, (size_t)options.rounds * sizeof(double));
    MPI_Barrier(MPI_COMM_WORLD);
    if (options.is_stream)
        stream_run(exchange, units, &phases);
    else
        rounds_run(exchange, units, &phases);
    bench_json_rounds(json, bytes, units, work_s, &phases);
    bench_phases_free(&phases);
}

/* The window, and its memory in this process. */
static double *window_make(struct exchange *exchange, MPI_Aint bytes)
{
    double *base = NULL;
    exchange->place = 0;
    if (is_on_memory())
        MPI_Alloc_mem(bytes, MPI_INFO_NULL, &base);
    if (is_window("create")) {
        MPI_Win_create(base, bytes, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &exchange->win);
    } else if (is_window("dynamic")) {
        MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &exchange->win);
        MPI_Win_attach(exchange->win, base, bytes);
        MPI_Get_address(base, &exchange->place);
        MPI_Bcast(&exchange->place, 1, MPI_AINT, exchange->bench->ranks - 1, MPI_COMM_WORLD);
    } else if (is_window("shared")) {
        MPI_Win_allocate_shared(bytes, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &exchange->win);
    } else {
        MPI_Win_allocate(bytes, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &exchange->win);
    }
    return base;
}

static void point_measure(const struct bench *bench, int at, struct bench_json *json)
{
    int64_t bytes = options.sizes.values[at];
    double *base;
    struct exchange exchange = {.bench = bench,
                                .buffer = bench_allocate((size_t)bytes),
                                .result = bench_allocate((size_t)bytes),
                                .count = (int)(bytes / (int64_t)sizeof(double))};
    exchange.type = bench_target_type(exchange.count, options.is_strided);
    memset(exchange.buffer, 0, (size_t)bytes);
    base = window_make(&exchange, (MPI_Aint)bytes * 8);
    memset(base, 0, (size_t)bytes * 8);
    MPI_Win_lock_all(0, exchange.win);
    for (int i = 0; i < options.work.count; i++)
        work_measure(&exchange, bytes, options.work.values[i], json);
    MPI_Win_unlock_all(exchange.win);
    if (is_window("dynamic"))
        MPI_Win_detach(exchange.win, base);
    MPI_Win_free(&exchange.win);
    if (is_on_memory())
        MPI_Free_mem(base);
    MPI_Type_free(&exchange.type);
    free(exchange.buffer);
    free(exchange.result);
}

int main(int argc, char **argv)
{
    options.sizes = bench_list_make("8,1k,64k");
    options.work = bench_list_make("0,200,1000,4000");
    const struct bench_option table[] = {
        {"sizes", BENCH_LIST, &options.sizes, "bytes, multiples of 8"},
        {"work", BENCH_LIST, &options.work, "of the target: units of work, with --stream us of sleep"},
        {"stream", BENCH_FLAG, &options.is_stream, "round upon round while the target sleeps, once"},
        {"rounds", BENCH_INTEGER, &options.rounds, "timed rounds a point"},
        {"warmup", BENCH_INTEGER, &options.warmup, "untimed rounds a point"},
        {"seconds", BENCH_NUMBER, &options.seconds, "of a point, about; three rounds at least"},
        {"operation", BENCH_TEXT, &options.operation,
         "put, get, accumulate, get_accumulate, fetch_and_op or compare_and_swap"},
        {"strided", BENCH_FLAG, &options.is_strided, "a box in a three-dimensional grid"},
        {"window", BENCH_TEXT, &options.window,
         "allocate, create or dynamic: over memory of MPI_Alloc_mem, or shared: on one node"},
        {0},
    };
    struct bench bench;
    struct bench_json json;
    bench_start(&bench, "rma_overlap", argc, argv, table);
    if (bench.ranks < 2)
        bench_refuse(&bench, "at least 2 ranks are needed");
    if (bench_name_find(operations, OPERATIONS, options.operation) == OPERATIONS)
        bench_refuse(&bench, "--operation %s is not one; --help lists them", options.operation);
    if (bench_name_find(windows, WINDOWS, options.window) == WINDOWS)
        bench_refuse(&bench, "--window %s is not one; --help lists them", options.window);
    if (options.rounds < LEAST_ROUNDS)
        bench_refuse(&bench, "--rounds must be %d or more", LEAST_ROUNDS);
    bench_json_begin(&json, &bench);
    bench_json_text(&json, "operation", options.operation);
    bench_json_text(&json, "window", options.window);
    bench_points_finish(&bench, &json, options.sizes.count, point_measure);
    return 0;
}
