/* SPDX-License-Identifier: BSD-3-Clause */
/* Claim: memory per process stays close to plain MPI's (papers/003 5.2.5).
 *
 * Proportional set size after MPI_Init and after every pair has exchanged large messages, when all that is
 * allocated on first use exists. The program's own buffers are freed before the second look. Without huge
 * pages: whether the kernel gives a part of Intel MPI's memory as one depends on its address, in steps of 2
 * MiB. */
#include "common/bench.h"

#include <malloc.h>
#include <stdlib.h>
#include <sys/prctl.h>

static void traffic_run(const struct bench *bench, int bytes, int64_t exchanges)
{
    int half = bench->ranks / 2;
    int partner = bench->rank < half ? bench->rank + half : bench->rank - half;
    char *send = bench_allocate((size_t)bytes);
    char *receive = bench_allocate((size_t)bytes);
    for (int64_t i = 0; i < exchanges; i++) {
        MPI_Request requests[2];
        MPI_Irecv(receive, bytes, MPI_BYTE, partner, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(send, bytes, MPI_BYTE, partner, 0, MPI_COMM_WORLD, &requests[1]);
        bench_work(1000);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    free(send);
    free(receive);
    malloc_trim(0);
}

static void pss_write(struct bench_json *json, const struct bench *bench, const char *key)
{
    MPI_Barrier(MPI_COMM_WORLD);
    int64_t mine = bench_pss_bytes();
    int64_t *all = bench_allocate((size_t)bench->ranks * sizeof *all);
    MPI_Gather(&mine, 1, MPI_INT64_T, all, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
    bench_json_open(json, key, '[');
    for (int i = 0; i < bench->ranks; i++)
        bench_json_integer(json, NULL, all[i]);
    bench_json_close(json, ']');
    free(all);
}

int main(int argc, char **argv)
{
    int64_t bytes = 1 << 20;
    int64_t exchanges = 20;
    const struct bench_option table[] = {
        {"bytes", BENCH_INTEGER, &bytes, "size of a message"},
        {"exchanges", BENCH_INTEGER, &exchanges, "how many messages each way"},
        {0},
    };
    struct bench bench;
    prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
    bench_start(&bench, "memory", argc, argv, table);
    if (bench.ranks % 2 != 0 || bytes > 1 << 30)
        bench_refuse(&bench, "needs an even number of ranks and --bytes up to 1024m");
    struct bench_json json;
    bench_json_begin(&json, &bench);
    pss_write(&json, &bench, "pss_start_bytes");
    traffic_run(&bench, (int)bytes, exchanges);
    pss_write(&json, &bench, "pss_bytes");
    bench_json_end(&json);
    bench_finish(&bench);
    return 0;
}
