/* SPDX-License-Identifier: BSD-3-Clause */
/* Claim: an epoch whose target is late takes its origin no longer than its own computation (papers/003
 * figures 12 and 14).
 *
 * Rank i of the lower half is the origin of a Put to rank i + ranks/2: it begins an epoch, puts, works and
 * ends the epoch. The target works before it opens: before MPI_Win_post (gats), before its MPI_Win_fence
 * (fence), or before it gives back the lock of its own window (lock). Where the beginning waits, the two
 * follow one another. */
#include "common/window.h"

#include <stdlib.h>
#include <string.h>

enum kind { GATS, FENCE, LOCK, KINDS };
static const char *const kind_names[KINDS] = {"gats", "fence", "lock"};

static struct {
    struct bench_points points;
    int64_t late_units;
    const char *kind_name;
    enum kind kind;
} options = {.kind_name = "gats"};

struct epoch {
    char *buffer; /* the origin's */
    int bytes;
    int partner;
    bool is_origin;
    int64_t work_units;
    MPI_Group group; /* the partner alone */
    MPI_Win win;
};

static void begin(void *context)
{
    const struct epoch *epoch = context;
    if (options.kind == GATS)
        MPI_Win_start(epoch->group, 0, epoch->win);
    else if (options.kind == FENCE)
        MPI_Win_fence(MPI_MODE_NOPRECEDE, epoch->win);
    else
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, epoch->partner, 0, epoch->win);
    MPI_Put(epoch->buffer, epoch->bytes, MPI_BYTE, epoch->partner, 0, epoch->bytes, MPI_BYTE, epoch->win);
}

static void end(void *context)
{
    const struct epoch *epoch = context;
    if (options.kind == GATS)
        MPI_Win_complete(epoch->win);
    else if (options.kind == FENCE)
        MPI_Win_fence(MPI_MODE_NOSUCCEED, epoch->win);
    else
        MPI_Win_unlock(epoch->partner, epoch->win);
}

static void be_late(const struct epoch *epoch)
{
    bench_work(options.late_units);
    if (options.kind == GATS) {
        MPI_Win_post(epoch->group, 0, epoch->win);
        MPI_Win_wait(epoch->win);
    } else if (options.kind == FENCE) {
        MPI_Win_fence(MPI_MODE_NOPRECEDE, epoch->win);
        MPI_Win_fence(MPI_MODE_NOSUCCEED, epoch->win);
    } else {
        int rank;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Win_unlock(rank, epoch->win);
    }
}

/* A target that holds its lock has it before any origin asks. */
static void meet(const struct bench *bench, const struct epoch *epoch)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (options.kind != LOCK)
        return;
    if (!epoch->is_origin)
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, bench->rank, 0, epoch->win);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void iteration_run(const struct bench *bench, struct epoch *epoch, double *seconds)
{
    meet(bench, epoch);
    if (!epoch->is_origin) {
        be_late(epoch);
        return;
    }
    bench_overlap_run(begin, epoch->work_units, end, epoch, seconds);
}

static void work_run(void *context)
{
    const struct epoch *epoch = context;
    if (epoch->is_origin)
        bench_work(epoch->work_units);
}

static void point_measure(const struct bench *bench, int at, struct bench_json *json)
{
    int64_t bytes = options.points.sizes.values[at];
    int half = bench->ranks / 2, count = (int)bench_list_at(&options.points.iterations, at);
    int warmup = (int)bench_list_at(&options.points.warmup, at);
    char *memory;
    MPI_Group world;
    struct bench_phases phases;
    struct epoch epoch = {.buffer = bench_allocate((size_t)bytes),
                          .bytes = (int)bytes,
                          .is_origin = bench->rank < half,
                          .work_units = bench_list_at(&options.points.work_units, at)};
    epoch.partner = epoch.is_origin ? bench->rank + half : bench->rank - half;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &epoch.partner, &epoch.group);
    MPI_Win_allocate((MPI_Aint)bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &epoch.win);
    bench_fill(epoch.buffer, (size_t)bytes, (uint64_t)bench->rank + 1);
    bench_json_open(json, NULL, '{');
    bench_json_integer(json, "bytes", bytes);
    bench_json_integer(json, "work_units", epoch.work_units);
    bench_alone_measure(json, "compute", "compute_alone_s", 1, count, work_run, &epoch);
    bench_phases_init(&phases, BENCH_OVERLAP_PHASES, bench_overlap_names, count, false);
    for (int i = -warmup; i < count; i++) {
        double seconds[BENCH_OVERLAP_PHASES] = {0};
        iteration_run(bench, &epoch, seconds);
        if (i >= 0)
            bench_phases_record(&phases, i, seconds);
    }
    bench_json_phases(json, &phases);
    bench_phases_free(&phases);
    MPI_Barrier(MPI_COMM_WORLD);
    bench_json_digest(json, epoch.is_origin ? 0 : bench_digest(memory, (size_t)bytes));
    bench_json_close(json, '}');
    MPI_Win_free(&epoch.win);
    MPI_Group_free(&epoch.group);
    MPI_Group_free(&world);
    free(epoch.buffer);
}

static void options_check(const struct bench *bench)
{
    if (bench->ranks % 2 != 0)
        bench_refuse(bench, "needs an even number of ranks");
    int kind = bench_name_find(kind_names, KINDS, options.kind_name);
    if (kind == KINDS)
        bench_refuse(bench, "--kind is gats, fence or lock");
    options.kind = (enum kind)kind;
    if (options.late_units < 0)
        bench_refuse(bench, "--late-units is 0 or more");
    bench_points_check(bench, &options.points, 1, 1 << 30);
}

int main(int argc, char **argv)
{
    options.points = bench_points_make("64k,1m", "5");
    const struct bench_option table[] = {
        {"sizes", BENCH_LIST, &options.points.sizes, "bytes of a Put"},
        {"kind", BENCH_TEXT, &options.kind_name, "gats, fence or lock"},
        {"work-units", BENCH_LIST, &options.points.work_units,
         "units of work of an origin, for all sizes or for each"},
        {"late-units", BENCH_INTEGER, &options.late_units, "units of work of a target before it opens"},
        {"iterations", BENCH_LIST, &options.points.iterations, "timed iterations, for all sizes or for each"},
        {"warmup", BENCH_LIST, &options.points.warmup, "iterations before them"},
        {0},
    };
    struct bench bench;
    struct bench_json json;
    bench_start(&bench, "rma_late", argc, argv, table);
    options_check(&bench);
    bench_json_begin(&json, &bench);
    bench_json_text(&json, "kind", kind_names[options.kind]);
    bench_json_integer(&json, "late_units", options.late_units);
    bench_points_finish(&bench, &json, options.points.sizes.count, point_measure);
    return 0;
}
