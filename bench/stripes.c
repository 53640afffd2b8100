/* SPDX-License-Identifier: BSD-3-Clause */
/* Claim: a large message gains nothing in stripes over several communicators (papers/004 II.B.3,
 * doc/adr/0040).
 *
 * Rank 0 sends to rank 1, which answers with nothing: as one message, in stripes by one thread, and in
 * stripes by a thread each, of which each stripe has a duplicate of the communicator. The ways alternate. It
 * needs
 * --thread-level multiple. */
#include "common/bench.h"

#include <omp.h>
#include <stdlib.h>

enum { STRIPES_MAX = 8, WHOLE = 0, BY_ONE, BY_EACH, WAYS };

static struct {
    struct bench_list sizes;
    int64_t stripes, iterations, warmup;
} options = {.stripes = 2, .iterations = 21, .warmup = 5};

static const char *const way_names[WAYS] = {"whole_s", "by_one_s", "by_each_s"};

struct transfer {
    MPI_Comm comms[STRIPES_MAX];
    char *buffer;
    int64_t bytes;
    bool is_sender;
};

static void stripe_post(const struct transfer *transfer, int64_t stripe, int64_t stripes,
                        MPI_Request *request)
{
    int64_t from = transfer->bytes * stripe / stripes, to = transfer->bytes * (stripe + 1) / stripes;
    MPI_Comm comm = transfer->comms[stripe];
    if (transfer->is_sender)
        MPI_Isend(transfer->buffer + from, (int)(to - from), MPI_BYTE, 1, 0, comm, request);
    else
        MPI_Irecv(transfer->buffer + from, (int)(to - from), MPI_BYTE, 0, 0, comm, request);
}

static void transfer_run(const struct transfer *transfer, int way)
{
    int64_t stripes = way == WHOLE ? 1 : options.stripes;
    MPI_Request requests[STRIPES_MAX];
    if (way == BY_EACH) {
#pragma omp parallel num_threads(stripes)
        {
            int64_t mine = omp_get_thread_num();
            stripe_post(transfer, mine, stripes, &requests[mine]);
            MPI_Wait(&requests[mine], MPI_STATUS_IGNORE);
        }
    } else {
        for (int64_t i = 0; i < stripes; i++)
            stripe_post(transfer, i, stripes, &requests[i]);
        MPI_Waitall((int)stripes, requests, MPI_STATUSES_IGNORE);
    }
    if (transfer->is_sender)
        MPI_Recv(NULL, 0, MPI_BYTE, 1, 1, transfer->comms[0], MPI_STATUS_IGNORE);
    else
        MPI_Send(NULL, 0, MPI_BYTE, 0, 1, transfer->comms[0]);
}

static void measure(const struct bench *bench, struct bench_json *json, struct transfer *transfer,
                    int64_t size)
{
    struct bench_phases phases;
    bench_phases_init(&phases, WAYS, way_names, (int)options.iterations, false);
    transfer->bytes = size;
    transfer->buffer = bench_allocate((size_t)size);
    bench_fill(transfer->buffer, (size_t)size, (uint64_t)bench->rank);
    for (int64_t i = -options.warmup; i < options.iterations; i++)
        for (int way = 0; way < WAYS; way++) {
            MPI_Barrier(MPI_COMM_WORLD);
            double began_s = bench_now_s();
            transfer_run(transfer, way);
            if (i >= 0)
                phases.samples[way][i] = bench_now_s() - began_s;
        }
    uint64_t digest = bench_digest(transfer->buffer, (size_t)size), sent = digest;
    MPI_Bcast(&sent, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    if (digest != sent) {
        fprintf(stderr, "stripes: what came is not what was sent\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    bench_json_open(json, NULL, '{');
    bench_json_integer(json, "bytes", size);
    bench_json_phases(json, &phases);
    bench_json_close(json, '}');
    bench_phases_free(&phases);
    free(transfer->buffer);
}

int main(int argc, char **argv)
{
    options.sizes = bench_list_make("4m,8m,16m");
    const struct bench_option table[] = {
        {"sizes", BENCH_LIST, &options.sizes, "bytes of the message"},
        {"stripes", BENCH_INTEGER, &options.stripes, "parts, each on a communicator of its own"},
        {"iterations", BENCH_INTEGER, &options.iterations, "timed messages of each way"},
        {"warmup", BENCH_INTEGER, &options.warmup, "untimed ones before them"},
        {0},
    };
    struct bench bench;
    bench_start(&bench, "stripes", argc, argv, table);
    int level;
    MPI_Query_thread(&level);
    if (bench.ranks != 2 || level != MPI_THREAD_MULTIPLE)
        bench_refuse(&bench, "it takes two ranks and --thread-level multiple");
    if (options.stripes < 1 || options.stripes > STRIPES_MAX || options.iterations < 1)
        bench_refuse(&bench, "--stripes is from 1 to 8, --iterations at least 1");
    struct transfer transfer = {.is_sender = bench.rank == 0};
    for (int64_t i = 0; i < options.stripes; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &transfer.comms[i]);
    struct bench_json json;
    bench_json_begin(&json, &bench);
    bench_json_integer(&json, "stripes", options.stripes);
    bench_json_open(&json, "points", '[');
    for (int i = 0; i < options.sizes.count; i++)
        measure(&bench, &json, &transfer, options.sizes.values[i]);
    bench_json_close(&json, ']');
    bench_json_end(&json);
    for (int64_t i = 0; i < options.stripes; i++)
        MPI_Comm_free(&transfer.comms[i]);
    bench_finish(&bench);
    return 0;
}
