/* SPDX-License-Identifier: BSD-3-Clause */
/* Claim: a message that needs its receiver moves while the receiver computes, as soon as it can (papers/003).
 *
 * In a round the last rank posts a receive, says so, and computes outside MPI; rank 0 sends then, and waits.
 * The sample is the time of rank 0, from posting to the end of its wait: between the moment at which
 * the copy could begin and its end, within a node the copy of the receiver. With no work the receiver waits
 * inside MPI: the best there can be. */
#include "common/bench.h"

#include <stdlib.h>

static struct {
    struct bench_list sizes, work;
    int64_t rounds, warmup;
} options = {.rounds = 50, .warmup = 5};

enum { TAG_DATA = 1, TAG_BEGIN, TAG_END };

static double round_run(const struct bench *bench, char *buffer, int bytes, int64_t units)
{
    int last = bench->ranks - 1;
    double start_s = 0, taken_s = 0;
    MPI_Request request;
    if (bench->rank == 0) {
        MPI_Recv(NULL, 0, MPI_BYTE, last, TAG_BEGIN, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        start_s = bench_now_s();
        MPI_Isend(buffer, bytes, MPI_BYTE, last, TAG_DATA, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        taken_s = bench_now_s() - start_s;
        MPI_Send(NULL, 0, MPI_BYTE, last, TAG_END, MPI_COMM_WORLD);
    } else if (bench->rank == last) {
        MPI_Irecv(buffer, bytes, MPI_BYTE, 0, TAG_DATA, MPI_COMM_WORLD, &request);
        MPI_Send(NULL, 0, MPI_BYTE, 0, TAG_BEGIN, MPI_COMM_WORLD);
        bench_work(units);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Recv(NULL, 0, MPI_BYTE, 0, TAG_END, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    return taken_s;
}

static void point_measure(const struct bench *bench, char *buffer, int64_t bytes, int64_t units,
                          struct bench_json *json)
{
    static const char *const name[] = {"origin_s"};
    struct bench_phases phases;
    double start_s = bench_now_s();
    bench_work(units);
    double work_s = bench_now_s() - start_s;
    bench_phases_init(&phases, 1, name, (int)options.rounds, false);
    for (int64_t i = -options.warmup; i < options.rounds; i++) {
        double taken_s = round_run(bench, buffer, (int)bytes, units);
        if (i >= 0)
            phases.samples[0][i] = taken_s;
    }
    bench_json_rounds(json, bytes, units, work_s, &phases);
    bench_phases_free(&phases);
}

int main(int argc, char **argv)
{
    options.sizes = bench_list_make("64k,256k,1m");
    options.work = bench_list_make("0,2500");
    const struct bench_option table[] = {
        {"sizes", BENCH_LIST, &options.sizes, "bytes"},
        {"work", BENCH_LIST, &options.work, "of the receiver: units of work; 0: it waits inside MPI"},
        {"rounds", BENCH_INTEGER, &options.rounds, "timed rounds a point"},
        {"warmup", BENCH_INTEGER, &options.warmup, "untimed rounds a point"},
        {0},
    };
    struct bench bench;
    struct bench_json json;
    bench_start(&bench, "woken_send", argc, argv, table);
    if (bench.ranks < 2)
        bench_refuse(&bench, "at least 2 ranks are needed");
    bench_json_begin(&json, &bench);
    bench_json_open(&json, "points", '[');
    for (int i = 0; i < options.sizes.count; i++) {
        char *buffer = bench_allocate((size_t)options.sizes.values[i]);
        for (int at = 0; at < options.work.count; at++)
            point_measure(&bench, buffer, options.sizes.values[i], options.work.values[at], &json);
        free(buffer);
    }
    bench_json_close(&json, ']');
    bench_json_number(&json, "work_checksum", bench_work_checksum());
    bench_json_end(&json);
    bench_finish(&bench);
    return 0;
}
