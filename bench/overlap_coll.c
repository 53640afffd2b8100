/* Claim: the time between a nonblocking collective and its wait is used for computing and for
 * communicating (papers/001).
 *
 * BYTES is what one rank exchanges with one other rank (Ialltoall, Ialltoallv, Igatherv, Iscatterv,
 * Iallgather) or the length of the vector (Iallreduce, Ibcast). */
#include "common/window.h"

#include <stdlib.h>
#include <string.h>

static struct {
    const char *collective;
    struct bench_list sizes;
    struct bench_list work_units;
    struct bench_list iterations;
    struct bench_list warmup;
    bool is_beside;
} options = {.collective = "ialltoallv"};

struct transfer {
    char *send, *receive;
    int bytes;
    int ranks;
    int *counts, *offsets;
};

static void alltoall_blocking(void *context)
{
    struct transfer *t = context;
    MPI_Alltoall(t->send, t->bytes, MPI_BYTE, t->receive, t->bytes, MPI_BYTE, MPI_COMM_WORLD);
}

static int alltoall_post(void *context, MPI_Request *requests)
{
    struct transfer *t = context;
    MPI_Ialltoall(t->send, t->bytes, MPI_BYTE, t->receive, t->bytes, MPI_BYTE, MPI_COMM_WORLD, requests);
    return 1;
}

static void alltoallv_blocking(void *context)
{
    struct transfer *t = context;
    MPI_Alltoallv(t->send, t->counts, t->offsets, MPI_BYTE, t->receive, t->counts, t->offsets, MPI_BYTE,
                  MPI_COMM_WORLD);
}

static int alltoallv_post(void *context, MPI_Request *requests)
{
    struct transfer *t = context;
    MPI_Ialltoallv(t->send, t->counts, t->offsets, MPI_BYTE, t->receive, t->counts, t->offsets, MPI_BYTE,
                   MPI_COMM_WORLD, requests);
    return 1;
}

static void gatherv_blocking(void *context)
{
    struct transfer *t = context;
    MPI_Gatherv(t->send, t->bytes, MPI_BYTE, t->receive, t->counts, t->offsets, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static int gatherv_post(void *context, MPI_Request *requests)
{
    struct transfer *t = context;
    MPI_Igatherv(t->send, t->bytes, MPI_BYTE, t->receive, t->counts, t->offsets, MPI_BYTE, 0, MPI_COMM_WORLD,
                 requests);
    return 1;
}

static void scatterv_blocking(void *context)
{
    struct transfer *t = context;
    MPI_Scatterv(t->send, t->counts, t->offsets, MPI_BYTE, t->receive, t->bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static int scatterv_post(void *context, MPI_Request *requests)
{
    struct transfer *t = context;
    MPI_Iscatterv(t->send, t->counts, t->offsets, MPI_BYTE, t->receive, t->bytes, MPI_BYTE, 0, MPI_COMM_WORLD,
                  requests);
    return 1;
}

static void allgather_blocking(void *context)
{
    struct transfer *t = context;
    MPI_Allgather(t->send, t->bytes, MPI_BYTE, t->receive, t->bytes, MPI_BYTE, MPI_COMM_WORLD);
}

static int allgather_post(void *context, MPI_Request *requests)
{
    struct transfer *t = context;
    MPI_Iallgather(t->send, t->bytes, MPI_BYTE, t->receive, t->bytes, MPI_BYTE, MPI_COMM_WORLD, requests);
    return 1;
}

/* Integers: the sum does not depend on the order a library adds in. */
static void allreduce_blocking(void *context)
{
    struct transfer *t = context;
    MPI_Allreduce(t->send, t->receive, t->bytes / 8, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
}

static int allreduce_post(void *context, MPI_Request *requests)
{
    struct transfer *t = context;
    MPI_Iallreduce(t->send, t->receive, t->bytes / 8, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD, requests);
    return 1;
}

static void bcast_blocking(void *context)
{
    struct transfer *t = context;
    MPI_Bcast(t->receive, t->bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static int bcast_post(void *context, MPI_Request *requests)
{
    struct transfer *t = context;
    MPI_Ibcast(t->receive, t->bytes, MPI_BYTE, 0, MPI_COMM_WORLD, requests);
    return 1;
}

static const struct collective {
    const char *name;
    void (*blocking)(void *context);
    int (*post)(void *context, MPI_Request *requests);
} collectives[] = {
    {"ialltoall", alltoall_blocking, alltoall_post},
    {"ialltoallv", alltoallv_blocking, alltoallv_post},
    {"igatherv", gatherv_blocking, gatherv_post},
    {"iscatterv", scatterv_blocking, scatterv_post},
    {"iallgather", allgather_blocking, allgather_post},
    {"iallreduce", allreduce_blocking, allreduce_post},
    {"ibcast", bcast_blocking, bcast_post},
    {0},
};

static const struct collective *collective_find(const struct bench *bench)
{
    const struct collective *collective = collectives;
    while (collective->name != NULL && strcmp(collective->name, options.collective) != 0)
        collective++;
    if (collective->name == NULL)
        bench_refuse(bench,
                     "--collective is one of ialltoall ialltoallv igatherv iscatterv iallgather iallreduce "
                     "ibcast");
    return collective;
}

static void point_measure(const struct bench *bench, const struct collective *collective, int at,
                          struct bench_json *json)
{
    int64_t bytes = options.sizes.values[at];
    size_t all_bytes = (size_t)bytes * (size_t)bench->ranks;
    struct transfer transfer = {
        .send = bench_allocate(all_bytes),
        .receive = bench_allocate(all_bytes),
        .bytes = (int)bytes,
        .ranks = bench->ranks,
        .counts = bench_allocate((size_t)bench->ranks * sizeof(int)),
        .offsets = bench_allocate((size_t)bench->ranks * sizeof(int)),
    };
    for (int i = 0; i < bench->ranks; i++) {
        transfer.counts[i] = (int)bytes;
        transfer.offsets[i] = i * (int)bytes;
    }
    const struct bench_window window = {
        .context = &transfer,
        .transfer = collective->blocking,
        .post = collective->post,
        .work_units = bench_list_at(&options.work_units, at),
        .iterations = (int)bench_list_at(&options.iterations, at),
        .warmup = (int)bench_list_at(&options.warmup, at),
        .is_beside = options.is_beside,
    };
    bench_fill(transfer.send, all_bytes, (uint64_t)bench->rank + 1);
    bench_fill(transfer.receive, all_bytes, (uint64_t)bench->rank + 101);
    bench_json_open(json, NULL, '{');
    bench_json_integer(json, "bytes", bytes);
    bench_json_integer(json, "work_units", window.work_units);
    bench_json_integer(json, "iterations", window.iterations);
    bench_window_measure(&window, json);
    bench_digest_write(json, bench_digest(transfer.receive, all_bytes));
    bench_json_close(json, '}');
    free(transfer.send);
    free(transfer.receive);
    free(transfer.counts);
    free(transfer.offsets);
}

static void options_check(const struct bench *bench)
{
    if (!bench_list_fits(&options.work_units, options.sizes.count, 0))
        bench_refuse(bench, "--work-units takes one value, or as many as --sizes");
    if (!bench_list_fits(&options.iterations, options.sizes.count, 1) ||
        !bench_list_fits(&options.warmup, options.sizes.count, 0))
        bench_refuse(bench, "--iterations (1 or more) and --warmup take one value, or as many as --sizes");
    for (int i = 0; i < options.sizes.count; i++)
        if (options.sizes.values[i] * bench->ranks > 1 << 30)
            bench_refuse(bench, "--sizes times the ranks go up to 1024m");
}

int main(int argc, char **argv)
{
    options.sizes = bench_list_make("256k,1m");
    options.work_units = bench_list_make("0");
    options.iterations = bench_list_make("20");
    options.warmup = bench_list_make("3");
    const struct bench_option table[] = {
        {"collective", BENCH_TEXT, &options.collective, "ialltoallv, igatherv, ...; default ialltoallv"},
        {"sizes", BENCH_LIST, &options.sizes, "bytes between two ranks, or of the vector"},
        {"work-units", BENCH_LIST, &options.work_units,
         "units of work in a window, for all sizes or for each"},
        {"iterations", BENCH_LIST, &options.iterations, "timed iterations, for all sizes or for each"},
        {"warmup", BENCH_LIST, &options.warmup, "untimed iterations, for all sizes or for each"},
        BENCH_BESIDE_OPTION(&options.is_beside),
        {0},
    };
    struct bench bench;
    bench_start(&bench, "overlap_coll", argc, argv, table);
    options_check(&bench);
    const struct collective *collective = collective_find(&bench);

    struct bench_json json;
    bench_json_begin(&json, &bench);
    bench_json_text(&json, "collective", collective->name);
    bench_json_open(&json, "points", '[');
    for (int i = 0; i < options.sizes.count; i++)
        point_measure(&bench, collective, i, &json);
    bench_json_close(&json, ']');
    bench_json_number(&json, "work_checksum", bench_work_checksum());
    bench_json_end(&json);
    bench_finish(&bench);
    return 0;
}
