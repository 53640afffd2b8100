/* SPDX-License-Identifier: BSD-3-Clause */
/* How fast this machine does the fixed work, measured on every rank at once without communicating.
 *
 * Run plainly, once, before a measurement: the driver turns the wire time of a point into a number of
 * work units with it, and gives that number to every mode alike. */
#include "common/bench.h"

int main(int argc, char **argv)
{
    double seconds = 0.5;
    const struct bench_option table[] = {
        {"seconds", BENCH_NUMBER, &seconds, "how long to measure"},
        {0},
    };
    struct bench bench;
    bench_start(&bench, "workrate", argc, argv, table);

    enum { BATCH = 200, BATCHES_MAX = 100000 };
    double *rates = bench_allocate(BATCHES_MAX * sizeof *rates);
    bench_work(BATCH);
    MPI_Barrier(MPI_COMM_WORLD);
    int count = 0;
    double begin_s = bench_now_s();
    do {
        double start_s = bench_now_s();
        bench_work(BATCH);
        rates[count++] = BATCH / (bench_now_s() - start_s);
    } while (count < BATCHES_MAX && bench_now_s() - begin_s < seconds);
    struct bench_summary mine = bench_summarize(rates, count);
    double slowest;
    MPI_Reduce(&mine.median, &slowest, 1, MPI_DOUBLE, MPI_MIN, 0, MPI_COMM_WORLD);

    struct bench_json json;
    bench_json_begin(&json, &bench);
    bench_json_number(&json, "units_per_s", slowest);
    bench_json_summary(&json, "rank0_units_per_s", mine);
    bench_json_number(&json, "work_checksum", bench_work_checksum());
    bench_json_end(&json);
    bench_finish(&bench);
    return 0;
}
