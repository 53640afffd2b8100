/* SPDX-License-Identifier: BSD-3-Clause */
/* Claim: a call that no engine cares about costs a few nanoseconds more with Headway.
 *
 * Every rank calls by itself and rank 0 reports: what a batch took, divided by the calls in it, is one
 * sample. The calls range from those the library passes on (MPI_Comm_rank) to those it looks into (MPI_Test,
 * MPI_Isend). */
#include "common/bench.h"

#include <stdlib.h>

static struct {
    int64_t batches;
    int64_t batch;
    int64_t warmup;
} options = {.batches = 51, .batch = 20000, .warmup = 3};

static char outgoing[8], incoming[8];

static void call_comm_rank(void)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
}

static void call_type_size(void)
{
    int size;
    MPI_Type_size(MPI_DOUBLE, &size);
}

static void call_wtime(void) { (void)MPI_Wtime(); }

static void call_test_null(void)
{
    int flag;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
}

static void call_waitall_null(void)
{
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static void call_iprobe(void)
{
    int flag;
    MPI_Iprobe(MPI_PROC_NULL, 0, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
}

static void call_send_proc_null(void) { MPI_Send(outgoing, 8, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_SELF); }

/* A nonblocking pair to itself: three calls, one sample. */
static void call_isend_recv_wait(void)
{
    MPI_Request request;
    MPI_Isend(outgoing, 8, MPI_BYTE, 0, 0, MPI_COMM_SELF, &request);
    MPI_Recv(incoming, 8, MPI_BYTE, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* The same with derived datatypes: one without gaps, and one with gaps of too little to pack. */
static MPI_Datatype contiguous, gappy;
static double outgoing_pairs[8], incoming_pairs[8];

static void types_make(void)
{
    MPI_Type_contiguous(2, MPI_INT, &contiguous);
    MPI_Type_commit(&contiguous);
    MPI_Type_vector(4, 1, 2, MPI_DOUBLE, &gappy);
    MPI_Type_commit(&gappy);
}

static void types_free(void)
{
    MPI_Type_free(&contiguous);
    MPI_Type_free(&gappy);
}

static void call_pair(MPI_Datatype type)
{
    MPI_Request request;
    MPI_Isend(outgoing_pairs, 1, type, 0, 0, MPI_COMM_SELF, &request);
    MPI_Recv(incoming_pairs, 1, type, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void call_contiguous(void) { call_pair(contiguous); }
static void call_gappy(void) { call_pair(gappy); }

static const struct {
    const char *name;
    int calls; /* MPI calls in one */
    void (*run)(void);
} kinds[] = {
    {"comm_rank", 1, call_comm_rank},
    {"type_size", 1, call_type_size},
    {"wtime", 1, call_wtime},
    {"test_null", 1, call_test_null},
    {"waitall_null", 1, call_waitall_null},
    {"iprobe_proc_null", 1, call_iprobe},
    {"send_proc_null", 1, call_send_proc_null},
    {"isend_recv_wait_8", 3, call_isend_recv_wait},
    {"isend_recv_wait_contiguous", 3, call_contiguous},
    {"isend_recv_wait_vector", 3, call_gappy},
};

static void kind_measure(size_t kind, struct bench_json *json)
{
    double *samples_ns = bench_allocate((size_t)options.batches * sizeof *samples_ns);
    void (*run)(void) = kinds[kind].run;
    for (int64_t i = -options.warmup; i < options.batches; i++) {
        double start_s = bench_now_s();
        for (int64_t j = 0; j < options.batch; j++)
            run();
        if (i >= 0)
            samples_ns[i] = (bench_now_s() - start_s) * 1e9 / (double)options.batch;
    }
    bench_json_open(json, NULL, '{');
    bench_json_text(json, "name", kinds[kind].name);
    bench_json_integer(json, "mpi_calls", kinds[kind].calls);
    bench_json_summary(json, "ns", bench_summarize(samples_ns, (int)options.batches));
    bench_json_close(json, '}');
    free(samples_ns);
}

int main(int argc, char **argv)
{
    const struct bench_option table[] = {
        {"batches", BENCH_INTEGER, &options.batches, "timed batches of each call"},
        {"batch", BENCH_INTEGER, &options.batch, "calls in a batch"},
        {"warmup", BENCH_INTEGER, &options.warmup, "untimed batches of each call"},
        {0},
    };
    struct bench bench;
    bench_start(&bench, "percall", argc, argv, table);
    if (options.batches < 1 || options.batch < 1)
        bench_refuse(&bench, "--batches and --batch are at least 1");

    struct bench_json json;
    types_make();
    bench_json_begin(&json, &bench);
    bench_json_integer(&json, "batch", options.batch);
    bench_json_open(&json, "calls", '[');
    for (size_t kind = 0; kind < sizeof kinds / sizeof kinds[0]; kind++)
        kind_measure(kind, &json);
    bench_json_close(&json, ']');
    bench_json_end(&json);
    types_free();
    bench_finish(&bench);
    return 0;
}
