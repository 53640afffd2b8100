/* SPDX-License-Identifier: BSD-3-Clause */
/* Claim: progress takes CPU only while something is transferred, and little of the program's own
 * computation (papers/001: no resources set aside).
 *
 * The same fixed work in four situations: before any large message, while a transfer runs, with nothing
 * pending after traffic, and with a receive pending that nobody has sent to yet. */
#include "common/bench.h"

#include <stdlib.h>

static struct {
    int64_t bytes;
    int64_t work_units;
    int64_t iterations;
} options = {.bytes = 4 << 20, .work_units = 20000, .iterations = 10};

struct partner {
    char *send, *receive;
    int rank;
};

enum situation { BEFORE, TRANSFER, IDLE, UNMATCHED, SITUATIONS };
static const char *const situation_names[SITUATIONS] = {"before", "transfer", "idle", "unmatched"};

enum { WALL, PROCESS_CPU, MAIN_CPU, OTHER_CPU, TOTAL, PHASES };
static const char *const phase_names[PHASES] = {"wall_s", "process_cpu_s", "main_thread_cpu_s",
                                                "other_threads_cpu_s", "total_s"};

static int situation_post(const struct partner *partner, enum situation situation, MPI_Request *requests)
{
    int bytes = (int)options.bytes;
    int count = 0;
    if (situation == UNMATCHED || situation == TRANSFER)
        MPI_Irecv(partner->receive, bytes, MPI_BYTE, partner->rank, 0, MPI_COMM_WORLD, &requests[count++]);
    if (situation == TRANSFER)
        MPI_Isend(partner->send, bytes, MPI_BYTE, partner->rank, 0, MPI_COMM_WORLD, &requests[count++]);
    return count;
}

/* WALL and the CPU times cover the work alone; TOTAL also posting and waiting. */
static void situation_iterate(const struct partner *partner, enum situation situation,
                              struct bench_phases *phases, int64_t iteration)
{
    MPI_Request requests[3];
    if (situation != BEFORE)
        MPI_Barrier(MPI_COMM_WORLD);
    double begin_s = bench_now_s();
    int count = situation_post(partner, situation, requests);
    double process_s = bench_process_cpu_s();
    double thread_s = bench_thread_cpu_s();
    double start_s = bench_now_s();
    bench_work(options.work_units);
    double end_s = bench_now_s();
    thread_s = bench_thread_cpu_s() - thread_s;
    process_s = bench_process_cpu_s() - process_s;
    if (situation == UNMATCHED) {
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Isend(partner->send, (int)options.bytes, MPI_BYTE, partner->rank, 0, MPI_COMM_WORLD,
                  &requests[count++]);
    }
    MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
    if (iteration < 0)
        return;
    phases->samples[WALL][iteration] = end_s - start_s;
    phases->samples[PROCESS_CPU][iteration] = process_s;
    phases->samples[MAIN_CPU][iteration] = thread_s;
    phases->samples[OTHER_CPU][iteration] = process_s > thread_s ? process_s - thread_s : 0.0;
    phases->samples[TOTAL][iteration] = bench_now_s() - begin_s;
}

static void situation_run(const struct partner *partner, enum situation situation,
                          struct bench_phases *phases)
{
    for (int64_t i = -1; i < options.iterations; i++)
        situation_iterate(partner, situation, phases, i);
}

int main(int argc, char **argv)
{
    const struct bench_option table[] = {
        {"bytes", BENCH_INTEGER, &options.bytes, "size of the transfer, each way"},
        {"work-units", BENCH_INTEGER, &options.work_units, "units of work in a window"},
        {"iterations", BENCH_INTEGER, &options.iterations, "timed iterations in each situation"},
        {0},
    };
    struct bench bench;
    bench_start(&bench, "cpuburn", argc, argv, table);
    if (bench.ranks % 2 != 0 || options.iterations < 1 || options.bytes > 1 << 30)
        bench_refuse(&bench, "needs an even number of ranks, --iterations at least 1, --bytes up to 1024m");
    int half = bench.ranks / 2;
    struct partner partner = {
        .send = bench_allocate((size_t)options.bytes),
        .receive = bench_allocate((size_t)options.bytes),
        .rank = bench.rank < half ? bench.rank + half : bench.rank - half,
    };

    /* All situations first, all output after: gathering results is communication too. */
    struct bench_phases phases[SITUATIONS];
    for (int i = 0; i < SITUATIONS; i++) {
        bench_phases_init(&phases[i], PHASES, phase_names, (int)options.iterations, false);
        situation_run(&partner, (enum situation)i, &phases[i]);
    }
    struct bench_json json;
    bench_json_begin(&json, &bench);
    bench_json_integer(&json, "bytes", options.bytes);
    bench_json_integer(&json, "work_units", options.work_units);
    bench_json_open(&json, "phases", '[');
    for (int i = 0; i < SITUATIONS; i++) {
        bench_json_open(&json, NULL, '{');
        bench_json_text(&json, "name", situation_names[i]);
        bench_json_phases(&json, &phases[i]);
        bench_json_close(&json, '}');
        bench_phases_free(&phases[i]);
    }
    bench_json_close(&json, ']');
    bench_json_number(&json, "work_checksum", bench_work_checksum());
    bench_json_end(&json);
    free(partner.send);
    free(partner.receive);
    bench_finish(&bench);
    return 0;
}
