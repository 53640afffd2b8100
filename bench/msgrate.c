/* SPDX-License-Identifier: BSD-3-Clause */
/* Claim: the rate of small nonblocking messages stays the same with Headway (papers/000 figure 4).
 *
 * The lower half of the ranks sends windows of messages to the upper half, which acknowledges each
 * window with an empty message. */
#include "common/pairs.h"

enum { WINDOW_MAX = 1024 };

static void windows_send(const struct bench_pairs *pairs, int partner, char *buffer, int bytes)
{
    MPI_Request requests[WINDOW_MAX];
    for (int64_t i = 0; i < pairs->batch; i++) {
        for (int64_t j = 0; j < pairs->window; j++)
            MPI_Isend(buffer, bytes, MPI_BYTE, partner, 0, MPI_COMM_WORLD, &requests[j]);
        MPI_Waitall((int)pairs->window, requests, MPI_STATUSES_IGNORE);
        MPI_Recv(NULL, 0, MPI_BYTE, partner, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

static void windows_receive(const struct bench_pairs *pairs, int partner, char *buffer, int bytes)
{
    MPI_Request requests[WINDOW_MAX];
    for (int64_t i = 0; i < pairs->batch; i++) {
        for (int64_t j = 0; j < pairs->window; j++)
            MPI_Irecv(buffer + j * bytes, bytes, MPI_BYTE, partner, 0, MPI_COMM_WORLD, &requests[j]);
        MPI_Waitall((int)pairs->window, requests, MPI_STATUSES_IGNORE);
        MPI_Send(NULL, 0, MPI_BYTE, partner, 1, MPI_COMM_WORLD);
    }
}

static void windows_run(const struct bench_pairs *pairs, bool is_lower, int partner, char *buffer, int bytes)
{
    if (is_lower)
        windows_send(pairs, partner, buffer, bytes);
    else
        windows_receive(pairs, partner, buffer, bytes);
}

static void rate_write(const struct bench_pairs *pairs, double sample_s, int pair_count,
                       struct bench_json *json)
{
    bench_json_integer(json, "window", pairs->window);
    bench_json_number(json, "messages_per_s", pair_count / sample_s);
}

int main(int argc, char **argv)
{
    bool is_sealed = false;
    struct bench_pairs pairs = {
        .sizes = bench_list_make("8,64,512,1k,2k,4k,8k"),
        .batches = 30,
        .batch = 20,
        .warmup = 3,
        .window = 64,
        .sample_name = "message_s",
        .batch_run = windows_run,
        .point_write = rate_write,
    };
    const struct bench_option table[] = {
        {"sizes", BENCH_LIST, &pairs.sizes, "message sizes in bytes"},
        {"window", BENCH_INTEGER, &pairs.window, "messages in flight, at most 1024"},
        {"batches", BENCH_INTEGER, &pairs.batches, "timed batches a size"},
        {"batch", BENCH_INTEGER, &pairs.batch, "windows in a batch"},
        {"warmup", BENCH_INTEGER, &pairs.warmup, "untimed batches a size"},
        BENCH_SEALED_OPTION(&is_sealed),
        {0},
    };
    struct bench bench;
    bench_start(&bench, "msgrate", argc, argv, table);
    if (pairs.window < 1 || pairs.window > WINDOW_MAX)
        bench_refuse(&bench, "--window is 1 to 1024");
    if (is_sealed)
        bench_seal(MPI_COMM_WORLD);
    pairs.samples_per_round = (double)pairs.window;
    bench_pairs_measure(&pairs, &bench);
    return 0;
}
