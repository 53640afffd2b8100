/* SPDX-License-Identifier: BSD-3-Clause */
/* Claim: the time between a nonblocking collective and its wait is used for computing and for
 * communicating (papers/001).
 *
 * What its bytes are is said in common/transfer.h. */
#include "common/transfer.h"
#include "common/window.h"

static struct {
    const char *collective;
    const struct bench_transfer_kind *kind; /* of that name */
    struct bench_points points;
    bool is_beside;
} options = {.collective = "ialltoallv"};

static void point_measure(const struct bench *bench, int at, struct bench_json *json)
{
    struct bench_transfer transfer = bench_transfer_make(bench, options.points.sizes.values[at]);
    const struct bench_window window = {
        .context = &transfer,
        .transfer = options.kind->blocking,
        .post = options.kind->post,
        .work_units = bench_list_at(&options.points.work_units, at),
        .iterations = (int)bench_list_at(&options.points.iterations, at),
        .warmup = (int)bench_list_at(&options.points.warmup, at),
        .is_beside = options.is_beside,
    };
    bench_json_open(json, NULL, '{');
    bench_json_integer(json, "bytes", transfer.bytes);
    bench_json_integer(json, "work_units", window.work_units);
    bench_json_integer(json, "iterations", window.iterations);
    bench_window_measure(&window, json);
    bench_json_digest(json, bench_transfer_digest(&transfer));
    bench_json_close(json, '}');
    bench_transfer_free(&transfer);
}

static void options_check(const struct bench *bench)
{
    bench_points_check(bench, &options.points, 0, INT64_MAX);
    for (int i = 0; i < options.points.sizes.count; i++)
        if (options.points.sizes.values[i] * bench->ranks > 1 << 30)
            bench_refuse(bench, "--sizes times the ranks go up to 1024m");
    options.kind = bench_transfer_find(options.collective);
    if (options.kind == NULL)
        bench_refuse(bench, "--collective is one of %s", bench_transfer_names);
}

int main(int argc, char **argv)
{
    options.points = bench_points_make("256k,1m", "3");
    const struct bench_option table[] = {
        {"collective", BENCH_TEXT, &options.collective, "ialltoallv, igatherv, ...; default ialltoallv"},
        {"sizes", BENCH_LIST, &options.points.sizes, "bytes between two ranks, or of the vector"},
        {"work-units", BENCH_LIST, &options.points.work_units,
         "units of work in a window, for all sizes or for each"},
        {"iterations", BENCH_LIST, &options.points.iterations, "timed iterations, for all sizes or for each"},
        {"warmup", BENCH_LIST, &options.points.warmup, "untimed iterations, for all sizes or for each"},
        BENCH_BESIDE_OPTION(&options.is_beside),
        {0},
    };
    struct bench bench;
    bench_start(&bench, "overlap_coll", argc, argv, table);
    options_check(&bench);

    struct bench_json json;
    bench_json_begin(&json, &bench);
    bench_json_text(&json, "collective", options.collective);
    bench_points_finish(&bench, &json, options.points.sizes.count, point_measure);
    return 0;
}
