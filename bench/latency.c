/* SPDX-License-Identifier: BSD-3-Clause */
/* Claim: blocking ping-pong of small messages costs the same with Headway (papers/000 5.A).
 *
 * A sample is half the mean round trip of a batch. */
#include "common/pairs.h"

static void round_trips(const struct bench_pairs *pairs, bool is_lower, int partner, char *buffer, int bytes)
{
    for (int64_t i = 0; i < pairs->batch; i++) {
        if (is_lower)
            MPI_Send(buffer, bytes, MPI_BYTE, partner, 0, MPI_COMM_WORLD);
        MPI_Recv(buffer, bytes, MPI_BYTE, partner, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (!is_lower)
            MPI_Send(buffer, bytes, MPI_BYTE, partner, 0, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    struct bench_pairs pairs = {
        .sizes = bench_list_make("8,64,512,1k,2k,4k,8k"),
        .batches = 50,
        .batch = 100,
        .warmup = 5,
        .window = 1,
        .sample_name = "latency_s",
        .samples_per_round = 2.0,
        .batch_run = round_trips,
    };
    const struct bench_option table[] = {
        {"sizes", BENCH_LIST, &pairs.sizes, "message sizes in bytes"},
        {"batches", BENCH_INTEGER, &pairs.batches, "timed batches a size"},
        {"batch", BENCH_INTEGER, &pairs.batch, "round trips in a batch"},
        {"warmup", BENCH_INTEGER, &pairs.warmup, "untimed batches a size"},
        {0},
    };
    struct bench bench;
    bench_start(&bench, "latency", argc, argv, table);
    bench_pairs_measure(&pairs, &bench);
    return 0;
}
