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
    int64_t rounds, warmup, pause_us;
} options = {.rounds = 50, .warmup = 5};

enum { TAG_DATA = 1, TAG_BEGIN, TAG_END };

struct message {
    const struct bench *bench;
    char *buffer;
    int bytes;
};

static double round_run(void *context, int64_t units)
{
    const struct message *message = context;
    const struct bench *bench = message->bench;
    int last = bench->ranks - 1;
    double start_s = 0, taken_s = 0;
    MPI_Request request;
    if (bench->rank == 0) {
        MPI_Recv(NULL, 0, MPI_BYTE, last, TAG_BEGIN, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (double end_s = bench_now_s() + (double)options.pause_us * 1e-6; bench_now_s() < end_s;)
            ;
        start_s = bench_now_s();
        MPI_Isend(message->buffer, message->bytes, MPI_BYTE, last, TAG_DATA, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        taken_s = bench_now_s() - start_s;
        MPI_Send(NULL, 0, MPI_BYTE, last, TAG_END, MPI_COMM_WORLD);
    } else if (bench->rank == last) {
        MPI_Irecv(message->buffer, message->bytes, MPI_BYTE, 0, TAG_DATA, MPI_COMM_WORLD, &request);
        MPI_Send(NULL, 0, MPI_BYTE, 0, TAG_BEGIN, MPI_COMM_WORLD);
        bench_work(units);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Recv(NULL, 0, MPI_BYTE, 0, TAG_END, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    return taken_s;
}

int main(int argc, char **argv)
{
    options.sizes = bench_list_make("64k,256k,1m");
    options.work = bench_list_make("0,2500");
    const struct bench_option table[] = {
        {"sizes", BENCH_LIST, &options.sizes, "bytes"},
        {"work", BENCH_LIST, &options.work, "of the receiver: units of work; 0: it waits inside MPI"},
        {"pause-us", BENCH_INTEGER, &options.pause_us, "of the sender before it posts, outside MPI"},
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
        int64_t bytes = options.sizes.values[i];
        struct message message = {&bench, bench_allocate((size_t)bytes), (int)bytes};
        for (int at = 0; at < options.work.count; at++)
            bench_rounds_measure(&json, bytes, options.work.values[at], options.rounds, options.warmup,
                                 round_run, &message);
        free(message.buffer);
    }
    bench_json_close(&json, ']');
    bench_json_number(&json, "work_checksum", bench_work_checksum());
    bench_json_end(&json);
    bench_finish(&bench);
    return 0;
}
