/* SPDX-License-Identifier: BSD-3-Clause */
/* Claim: the time between MPI_Isend/MPI_Irecv and MPI_Waitall is used for computing and for
 * communicating (papers/000 figures 3, 5 and 6).
 *
 * Rank i talks to rank i + ranks/2, in one direction or in both, in one message or several. Without work
 * units this is the posting and waiting cost of figure 3. */
#include "common/window.h"

#include <stdlib.h>

static struct {
    struct bench_points points;
    int64_t directions;
    int64_t messages;
    const char *completion;
    enum bench_completion how;
    bool is_beside;
    bool is_sealed;
} options = {.directions = 2, .messages = 1, .completion = "all"};

struct exchange {
    char *send, *receive;
    int bytes;
    int partner;
    bool is_sending, is_receiving;
};

static void exchange_blocking(void *context)
{
    struct exchange *exchange = context;
    int to = exchange->is_sending ? exchange->partner : MPI_PROC_NULL;
    int from = exchange->is_receiving ? exchange->partner : MPI_PROC_NULL;
    MPI_Sendrecv(exchange->send, exchange->bytes, MPI_BYTE, to, 0, exchange->receive, exchange->bytes,
                 MPI_BYTE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static int exchange_post(void *context, MPI_Request *requests)
{
    struct exchange *exchange = context;
    int count = 0, messages = (int)options.messages, part = exchange->bytes / messages;
    for (int i = 0; i < messages && exchange->is_receiving; i++)
        MPI_Irecv(exchange->receive + (size_t)i * (size_t)part, part, MPI_BYTE, exchange->partner, 1,
                  MPI_COMM_WORLD, &requests[count++]);
    for (int i = 0; i < messages && exchange->is_sending; i++)
        MPI_Isend(exchange->send + (size_t)i * (size_t)part, part, MPI_BYTE, exchange->partner, 1,
                  MPI_COMM_WORLD, &requests[count++]);
    return count;
}

static void point_measure(const struct bench *bench, int at, struct bench_json *json)
{
    int64_t bytes = options.points.sizes.values[at];
    int half = bench->ranks / 2;
    bool is_lower = bench->rank < half;
    struct exchange exchange = {
        .send = bench_allocate((size_t)bytes),
        .receive = bench_allocate((size_t)bytes),
        .bytes = (int)bytes,
        .partner = is_lower ? bench->rank + half : bench->rank - half,
        .is_sending = is_lower || options.directions == 2,
        .is_receiving = !is_lower || options.directions == 2,
    };
    const struct bench_window window = {
        .context = &exchange,
        .transfer = exchange_blocking,
        .post = exchange_post,
        .completion = options.how,
        .work_units = bench_list_at(&options.points.work_units, at),
        .iterations = (int)bench_list_at(&options.points.iterations, at),
        .warmup = (int)bench_list_at(&options.points.warmup, at),
        .is_beside = options.is_beside,
    };
    bench_fill(exchange.send, (size_t)bytes, (uint64_t)bench->rank + 1);
    bench_json_open(json, NULL, '{');
    bench_json_integer(json, "bytes", bytes);
    bench_json_integer(json, "work_units", window.work_units);
    bench_json_integer(json, "iterations", window.iterations);
    bench_window_measure(&window, json);
    bench_json_digest(json, exchange.is_receiving ? bench_digest(exchange.receive, (size_t)bytes) : 0);
    bench_json_close(json, '}');
    free(exchange.send);
    free(exchange.receive);
}

static void options_check(const struct bench *bench)
{
    if (bench->ranks % 2 != 0)
        bench_refuse(bench, "needs an even number of ranks");
    bench_points_check(bench, &options.points, 0, 1 << 30);
    if (options.directions < 1 || options.directions > 2)
        bench_refuse(bench, "--directions is 1 or 2");
    if (options.messages < 1 || 2 * options.messages > BENCH_REQUESTS_MAX)
        bench_refuse(bench, "--messages is 1 to %d", BENCH_REQUESTS_MAX / 2);
    options.how = bench_completion_parse(bench, options.completion);
}

int main(int argc, char **argv)
{
    options.points = bench_points_make("64k,256k,1m", "3");
    const struct bench_option table[] = {
        {"sizes", BENCH_LIST, &options.points.sizes, "message sizes in bytes"},
        {"work-units", BENCH_LIST, &options.points.work_units,
         "units of work in a window, for all sizes or for each"},
        {"directions", BENCH_INTEGER, &options.directions, "1: the lower half sends; 2: both halves"},
        {"messages", BENCH_INTEGER, &options.messages, "messages the bytes go in, each way"},
        {"completion", BENCH_TEXT, &options.completion,
         "all: MPI_Waitall; each: MPI_Wait for one after the other; test: MPI_Testall in a loop; "
         "reduce: MPI_Allreduce, then MPI_Waitall"},
        {"iterations", BENCH_LIST, &options.points.iterations, "timed iterations, for all sizes or for each"},
        {"warmup", BENCH_LIST, &options.points.warmup, "untimed iterations, for all sizes or for each"},
        BENCH_BESIDE_OPTION(&options.is_beside),
        BENCH_SEALED_OPTION(&options.is_sealed),
        {0},
    };
    struct bench bench;
    bench_start(&bench, "overlap_p2p", argc, argv, table);
    options_check(&bench);
    if (options.is_sealed)
        bench_seal(MPI_COMM_WORLD);

    struct bench_json json;
    bench_json_begin(&json, &bench);
    bench_json_integer(&json, "directions", options.directions);
    bench_json_integer(&json, "messages", options.messages);
    bench_json_text(&json, "completion", options.completion);
    bench_points_finish(&bench, &json, options.points.sizes.count, point_measure);
    return 0;
}
