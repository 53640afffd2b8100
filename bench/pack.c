/* SPDX-License-Identifier: BSD-3-Clause */
/* Claim: MPI_Pack and MPI_Unpack of derived datatypes take no longer with Headway, and structs far less time
 * (papers/004 II.B.1).
 *
 * One rank packs by itself. A sample is the processor time of a batch, divided by the calls in it. The calls
 * before the first batch, in which Headway tries both ways, are told by themselves.
 *
 * With --threads the rank has OpenMP threads, and a sample is the wall time: of calls between parallel
 * regions that compute, of calls in `single`, where the others are idle, or of calls by one thread beside
 * others that compute. With --pin all of them have one core. */
#include "common/bench.h"

#include <omp.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum { DOUBLE = sizeof(double), BATCH_BYTES = 1 << 20, WARMUP_BYTES = 32 << 20, WARMUP_LEAST = 16 };

static struct {
    struct bench_list sizes;
    const char *type;
    const char *place;
    bool is_unpacking, is_pinned;
    int64_t batches, batch, warmup, threads;
} options = {.type = "struct", .place = "between", .batches = 15, .warmup = 400, .threads = 1};

static double worst_s; /* of the calls that were timed one by one */

static unsigned drawn = 1;

static int draw(int most)
{
    drawn = drawn * 1103515245U + 12345U;
    return (int)(drawn >> 8) % (most + 1);
}

/* A datatype and how many of it make at least so many bytes, or a little less. */
struct packable {
    MPI_Datatype type;
    int count;
};

/* {double, int, 2 double}: 28 bytes in 32. */
static struct packable make_struct(int64_t bytes)
{
    static const int lengths[] = {1, 1, 2};
    static const MPI_Aint places[] = {0, 8, 16};
    MPI_Datatype types[] = {MPI_DOUBLE, MPI_INT, MPI_DOUBLE}, type;
    MPI_Type_create_struct(3, lengths, places, types, &type);
    return (struct packable){type, (int)((bytes + 27) / 28)};
}

/* {int, double, char, float, 2 double}: 33 bytes in 40. */
static struct packable make_fields(int64_t bytes)
{
    static const int lengths[] = {1, 1, 1, 1, 2};
    static const MPI_Aint places[] = {0, 8, 16, 20, 24};
    MPI_Datatype types[] = {MPI_INT, MPI_DOUBLE, MPI_CHAR, MPI_FLOAT, MPI_DOUBLE}, type;
    MPI_Type_create_struct(5, lengths, places, types, &type);
    return (struct packable){type, (int)((bytes + 32) / 33)};
}

/* Single doubles, one somewhere in each four. */
static struct packable make_indexed_block(int64_t bytes)
{
    int count = (int)(bytes / DOUBLE);
    int *places = bench_allocate((size_t)count * sizeof *places);
    MPI_Datatype type;
    for (int i = 0; i < count; i++)
        places[i] = 4 * i + draw(3);
    MPI_Type_create_indexed_block(count, 1, places, MPI_DOUBLE, &type);
    free(places);
    return (struct packable){type, 1};
}

/* One to eight doubles, and as many between. */
static struct packable make_indexed(int64_t bytes)
{
    int room = (int)(bytes / DOUBLE), count = 0, at = 0;
    int *places = bench_allocate((size_t)room * sizeof *places);
    int *lengths = bench_allocate((size_t)room * sizeof *lengths);
    MPI_Datatype type;
    while (room > 0) {
        int length = 1 + draw(7);
        lengths[count] = length < room ? length : room;
        places[count] = at;
        at += lengths[count] + 1 + draw(7);
        room -= lengths[count++];
    }
    MPI_Type_indexed(count, lengths, places, MPI_DOUBLE, &type);
    free(places);
    free(lengths);
    return (struct packable){type, 1};
}

/* A face across the fastest dimension: 8 bytes each 512. */
static struct packable make_x_face(int64_t bytes)
{
    MPI_Datatype type;
    MPI_Type_vector((int)(bytes / DOUBLE), 1, 64, MPI_DOUBLE, &type);
    return (struct packable){type, 1};
}

/* Rows of 2 KiB, the inner half of twice as long ones. */
static struct packable make_rows(int64_t bytes)
{
    MPI_Datatype type;
    int row = bytes < 2048 ? (int)bytes : 2048;
    MPI_Type_vector((int)(bytes / row), row / DOUBLE, 2 * row / DOUBLE, MPI_DOUBLE, &type);
    return (struct packable){type, 1};
}

/* Every other four rows, and of them every other eight doubles. */
static struct packable make_darray(int64_t bytes)
{
    enum { COLUMNS = 64 };
    int rows = (int)(4 * bytes / DOUBLE / COLUMNS);
    const int sizes[] = {rows < 8 ? 8 : rows, COLUMNS}, processes[] = {2, 2}, blocks[] = {4, 8};
    static const int ways[] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_CYCLIC};
    MPI_Datatype type;
    MPI_Type_create_darray(4, 1, 2, sizes, ways, blocks, processes, MPI_ORDER_C, MPI_DOUBLE, &type);
    return (struct packable){type, 1};
}

/* Without gaps: nobody can win anything. */
static struct packable make_contiguous(int64_t bytes)
{
    MPI_Datatype type;
    MPI_Type_contiguous((int)(bytes / DOUBLE), MPI_DOUBLE, &type);
    return (struct packable){type, 1};
}

static const struct {
    const char *name;
    struct packable (*make)(int64_t bytes);
} kinds[] = {
    {"struct", make_struct},   {"fields", make_fields},         {"indexed_block", make_indexed_block},
    {"indexed", make_indexed}, {"x_face", make_x_face},         {"rows", make_rows},
    {"darray", make_darray},   {"contiguous", make_contiguous},
};

static struct packable make(const struct bench *bench, int64_t bytes)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(kinds[i].name, options.type) == 0) {
            struct packable made = kinds[i].make(bytes);
            MPI_Type_commit(&made.type);
            return made;
        }
    bench_refuse(bench, "--type is one of struct, fields, indexed_block, indexed, x_face, rows, darray and "
                        "contiguous");
}

struct buffers {
    struct packable of;
    char *memory, *packed;
    int bytes;
};

static void call(const struct buffers *buffers)
{
    const struct packable *of = &buffers->of;
    int position = 0;
    if (options.is_unpacking)
        MPI_Unpack(buffers->packed, buffers->bytes, &position, buffers->memory, of->count, of->type,
                   MPI_COMM_SELF);
    else
        MPI_Pack(buffers->memory, of->count, of->type, buffers->packed, buffers->bytes, &position,
                 MPI_COMM_SELF);
}

static double timed_call(const struct buffers *buffers)
{
    double began_s = bench_now_s();
    call(buffers);
    double took_s = bench_now_s() - began_s;
    worst_s = took_s > worst_s ? took_s : worst_s;
    return took_s;
}

static void compute(int us)
{
    volatile double sink = 1.0;
    double began_s = bench_now_s();
    while (bench_now_s() - began_s < us * 1e-6)
        sink = sink * 1.0000001;
}

/* Of so many calls, the time that they took. */
static double run_alone(const struct buffers *buffers, int64_t calls)
{
    double began_s = bench_thread_cpu_s();
    for (int64_t i = 0; i < calls; i++)
        call(buffers);
    return bench_thread_cpu_s() - began_s;
}

static double run_between(const struct buffers *buffers, int64_t calls)
{
    double took_s = 0;
    for (int64_t i = 0; i < calls; i++) {
#pragma omp parallel num_threads(options.threads)
        compute(200);
        took_s += timed_call(buffers);
    }
    return took_s;
}

static double run_single(const struct buffers *buffers, int64_t calls)
{
    double took_s = 0;
#pragma omp parallel num_threads(options.threads)
    for (int64_t i = 0; i < calls; i++) {
        compute(200);
#pragma omp single
        took_s += timed_call(buffers);
    }
    return took_s;
}

static double run_beside(const struct buffers *buffers, int64_t calls)
{
    double took_s = 0;
    int is_over = 0;
#pragma omp parallel num_threads(options.threads)
    if (omp_get_thread_num() == 0) {
        for (int64_t i = 0; i < calls; i++)
            took_s += timed_call(buffers);
        __atomic_store_n(&is_over, 1, __ATOMIC_RELEASE);
    } else {
        while (!__atomic_load_n(&is_over, __ATOMIC_ACQUIRE))
            compute(50);
    }
    return took_s;
}

static double run(const struct bench *bench, const struct buffers *buffers, int64_t calls)
{
    if (options.threads == 1)
        return run_alone(buffers, calls);
    if (strcmp(options.place, "between") == 0)
        return run_between(buffers, calls);
    if (strcmp(options.place, "single") == 0)
        return run_single(buffers, calls);
    if (strcmp(options.place, "beside") == 0)
        return run_beside(buffers, calls);
    bench_refuse(bench, "--place is one of between, single and beside");
}

static int64_t at_least(int64_t number, int64_t least) { return number > least ? number : least; }

static void measure(const struct bench *bench, struct bench_json *json, int64_t size)
{
    struct packable of = make(bench, size);
    int bytes;
    MPI_Aint lb, extent;
    MPI_Type_size(of.type, &bytes);
    MPI_Type_get_extent(of.type, &lb, &extent);
    bytes *= of.count;
    size_t memory_bytes = (size_t)lb + (size_t)of.count * (size_t)extent;
    const struct buffers buffers = {of, bench_allocate(memory_bytes), bench_allocate((size_t)bytes), bytes};
    double *samples = bench_allocate((size_t)options.batches * sizeof *samples);
    int64_t batch = options.batch ? options.batch : at_least(BATCH_BYTES / bytes, 1), warmup = options.warmup;
    if (warmup > WARMUP_LEAST && warmup > WARMUP_BYTES / bytes)
        warmup = at_least(WARMUP_BYTES / bytes, WARMUP_LEAST);
    bench_fill(buffers.memory, memory_bytes, 1);
    bench_fill(buffers.packed, (size_t)bytes, 2);
    double first_s = warmup ? run(bench, &buffers, warmup) / (double)warmup : 0;
    worst_s = 0;
    for (int64_t i = 0; i < options.batches; i++)
        samples[i] = run(bench, &buffers, batch) / (double)batch;
    uint64_t digest = options.is_unpacking ? bench_digest(buffers.memory, memory_bytes)
                                           : bench_digest(buffers.packed, (size_t)bytes);
    bench_json_open(json, NULL, '{');
    bench_json_integer(json, "bytes", size);
    bench_json_integer(json, "batch", batch);
    bench_json_integer(json, "first_calls", warmup);
    bench_json_number(json, "first_call_s", first_s);
    bench_json_number(json, "worst_call_s", worst_s);
    bench_json_summary(json, "call_s", bench_summarize(samples, (int)options.batches));
    bench_json_hex(json, "digest", digest);
    bench_json_close(json, '}');
    free(buffers.memory);
    free(buffers.packed);
    free(samples);
    MPI_Type_free(&of.type);
}

/* To the core it is on; threads that come later inherit it. */
static void pin(const struct bench *bench)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((unsigned)sched_getcpu(), &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0)
        bench_refuse(bench, "--pin: the process may not be bound to a core");
}

int main(int argc, char **argv)
{
    options.sizes = bench_list_make("1k,4k,16k,128k,1m,4m,16m");
    const struct bench_option table[] = {
        {"sizes", BENCH_LIST, &options.sizes, "bytes packed by a call, about"},
        {"type", BENCH_TEXT, &options.type, "struct, fields, indexed_block, indexed, x_face, rows, ..."},
        {"unpack", BENCH_FLAG, &options.is_unpacking, "MPI_Unpack instead of MPI_Pack"},
        {"threads", BENCH_INTEGER, &options.threads, "OpenMP threads of the rank"},
        {"place", BENCH_TEXT, &options.place,
         "of calls: between (parallel regions), single, beside (others compute)"},
        {"pin", BENCH_FLAG, &options.is_pinned, "all threads on one core"},
        {"batches", BENCH_INTEGER, &options.batches, "timed batches a size"},
        {"batch", BENCH_INTEGER, &options.batch, "calls in one; 0: of 1 MiB together"},
        {"warmup", BENCH_INTEGER, &options.warmup,
         "calls before, which are told apart: no more than of 32 MiB together, or than 16"},
        {0},
    };
    struct bench bench;
    bench_start(&bench, "pack", argc, argv, table);
    if (options.batches < 1 || options.warmup < 0 || options.batch < 0 || options.threads < 1)
        bench_refuse(&bench, "--batches and --threads are at least 1, --batch and --warmup at least 0");
    for (int i = 0; i < options.sizes.count; i++)
        if (options.sizes.values[i] < 64 || options.sizes.values[i] > 64 << 20)
            bench_refuse(&bench, "--sizes are from 64 bytes to 64 MiB");
    if (options.is_pinned)
        pin(&bench);
    struct bench_json json;
    bench_json_begin(&json, &bench);
    bench_json_text(&json, "type", options.type);
    bench_json_integer(&json, "threads", options.threads);
    bench_json_integer(&json, "pinned", options.is_pinned);
    bench_json_text(&json, "place", options.threads > 1 ? options.place : "alone");
    bench_json_text(&json, "call", options.is_unpacking ? "MPI_Unpack" : "MPI_Pack");
    bench_json_open(&json, "points", '[');
    for (int i = 0; i < options.sizes.count && bench.rank == 0; i++)
        measure(&bench, &json, options.sizes.values[i]);
    bench_json_close(&json, ']');
    bench_json_end(&json);
    bench_finish(&bench);
    return 0;
}
