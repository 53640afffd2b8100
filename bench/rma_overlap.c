/* Claim: a one-sided operation completes while its target computes (papers/002 section 7.2).
 *
 * Rank 0 is the origin, the last rank the target, on another node where there is one. In each round the
 * target does a fixed amount of work outside MPI while the origin issues one operation and flushes it; the
 * sample is the origin's time. With no work the target waits inside MPI: the best there can be. */
#include "common/bench.h"

#include <stdlib.h>
#include <string.h>

static struct {
    struct bench_list sizes, work;
    int64_t rounds, warmup;
    const char *operation;
    bool is_strided;
} options = {.rounds = 20, .warmup = 3, .operation = "accumulate"};

enum { TAG_BEGIN = 1, TAG_END };

/* A box of doubles in a grid twice as long in each direction: `count` of them. */
static MPI_Datatype make_type(int64_t count)
{
    MPI_Datatype type;
    int edge = 1;
    while ((int64_t)(edge * 2) * (edge * 2) * (edge * 2) <= count)
        edge *= 2;
    int rest = (int)(count / ((int64_t)edge * edge));
    int grid[3] = {2 * edge, 2 * edge, 2 * rest}, box[3] = {edge, edge, rest}, start[3] = {0, 0, 0};
    if (options.is_strided)
        MPI_Type_create_subarray(3, grid, box, start, MPI_ORDER_C, MPI_DOUBLE, &type);
    else
        MPI_Type_contiguous((int)count, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    return type;
}

static void operate(double *buffer, double *result, int count, MPI_Datatype type, int target, MPI_Win win)
{
    const char *what = options.operation;
    if (strcmp(what, "put") == 0)
        MPI_Put(buffer, count, MPI_DOUBLE, target, 0, 1, type, win);
    else if (strcmp(what, "get") == 0)
        MPI_Get(buffer, count, MPI_DOUBLE, target, 0, 1, type, win);
    else if (strcmp(what, "accumulate") == 0)
        MPI_Accumulate(buffer, count, MPI_DOUBLE, target, 0, 1, type, MPI_SUM, win);
    else if (strcmp(what, "get_accumulate") == 0)
        MPI_Get_accumulate(buffer, count, MPI_DOUBLE, result, count, MPI_DOUBLE, target, 0, 1, type, MPI_SUM,
                           win);
    else
        MPI_Fetch_and_op(buffer, result, MPI_DOUBLE, target, 0, MPI_SUM, win);
    MPI_Win_flush(target, win);
}

/* One round; what the origin took. */
static double round_run(const struct bench *bench, double *buffer, double *result, int count,
                        MPI_Datatype type, MPI_Win win, int64_t units)
{
    int target = bench->ranks - 1;
    double taken_s = 0;
    if (bench->rank == 0) {
        MPI_Recv(NULL, 0, MPI_BYTE, target, TAG_BEGIN, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        double start_s = bench_now_s();
        operate(buffer, result, count, type, target, win);
        taken_s = bench_now_s() - start_s;
        MPI_Send(NULL, 0, MPI_BYTE, target, TAG_END, MPI_COMM_WORLD);
    } else if (bench->rank == target) {
        MPI_Send(NULL, 0, MPI_BYTE, 0, TAG_BEGIN, MPI_COMM_WORLD);
        bench_work(units);
        MPI_Recv(NULL, 0, MPI_BYTE, 0, TAG_END, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    return taken_s;
}

static void point_measure(const struct bench *bench, int64_t bytes, struct bench_json *json)
{
    static const char *const name[] = {"origin_s"};
    int count = (int)(bytes / (int64_t)sizeof(double));
    double *base, *buffer = bench_allocate((size_t)bytes), *result = bench_allocate((size_t)bytes);
    MPI_Datatype type = make_type(count);
    MPI_Win win;
    memset(buffer, 0, (size_t)bytes);
    MPI_Win_allocate((MPI_Aint)bytes * 8, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    memset(base, 0, (size_t)bytes * 8);
    MPI_Win_lock_all(0, win);
    for (int at = 0; at < options.work.count; at++) {
        struct bench_phases phases;
        double start_s = bench_now_s();
        bench_work(options.work.values[at]);
        double work_s = bench_now_s() - start_s;
        bench_phases_init(&phases, 1, name, (int)options.rounds);
        MPI_Barrier(MPI_COMM_WORLD);
        for (int64_t i = -options.warmup; i < options.rounds; i++) {
            double taken_s = round_run(bench, buffer, result, count, type, win, options.work.values[at]);
            if (i >= 0)
                phases.samples[0][i] = taken_s;
        }
        bench_json_open(json, NULL, '{');
        bench_json_integer(json, "bytes", bytes);
        bench_json_integer(json, "work_units", options.work.values[at]);
        bench_json_number(json, "work_s", work_s);
        bench_json_phases(json, &phases);
        bench_json_close(json, '}');
        bench_phases_free(&phases);
    }
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    MPI_Type_free(&type);
    free(buffer);
    free(result);
}

int main(int argc, char **argv)
{
    options.sizes = bench_list_make("8,1k,64k");
    options.work = bench_list_make("0,200,1000,4000");
    const struct bench_option table[] = {
        {"sizes", BENCH_LIST, &options.sizes, "bytes, multiples of 8"},
        {"work", BENCH_LIST, &options.work, "units of work of the target"},
        {"rounds", BENCH_INTEGER, &options.rounds, "timed rounds a point"},
        {"warmup", BENCH_INTEGER, &options.warmup, "untimed rounds a point"},
        {"operation", BENCH_TEXT, &options.operation, "put, get, accumulate, get_accumulate or fetch_and_op"},
        {"strided", BENCH_FLAG, &options.is_strided, "a box in a three-dimensional grid"},
        {0},
    };
    struct bench bench;
    struct bench_json json;
    bench_start(&bench, "rma_overlap", argc, argv, table);
    if (bench.ranks < 2)
        bench_refuse(&bench, "at least 2 ranks are needed");
    bench_json_begin(&json, &bench);
    bench_json_text(&json, "operation", options.operation);
    bench_json_open(&json, "points", '[');
    for (int i = 0; i < options.sizes.count; i++)
        point_measure(&bench, options.sizes.values[i], &json);
    bench_json_close(&json, ']');
    bench_json_number(&json, "work_checksum", bench_work_checksum());
    bench_json_end(&json);
    bench_finish(&bench);
    return 0;
}
