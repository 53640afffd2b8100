/* SPDX-License-Identifier: BSD-3-Clause */
/* Claim: making windows and synchronising on them costs at most twice what it costs plain (papers/002 7.2,
 * fig. 4).
 *
 * A sample is one of: making a window (`window`; freeing it is its own phase), an exclusive lock and unlock
 * of the last rank (`lock`), the same with a Put between (`put`), a Put and flush in a long lock_all epoch
 * (`flush`), MPI_Win_lock_all and unlock_all (`lock_all`), for all of which rank 0 works alone while the
 * others wait inside MPI; a fence (`fence`); a Put of rank 0 to the last between MPI_Win_start and complete,
 * MPI_Win_post and wait (`pscw`). The windows'
 * processes are those of the world, in its order or in reverse (`order`), as in a grid; `epoch-type` is the
 * info key's value. */
#include "common/bench.h"

#include <stdlib.h>
#include <string.h>

static struct {
    struct bench_list sizes;
    int64_t rounds, warmup;
    const char *what, *order, *epoch_type;
} options = {.rounds = 40, .warmup = 5, .what = "window", .order = "world", .epoch_type = ""};

static MPI_Comm members;
static MPI_Info info;

enum { FREE, SAMPLE, PHASES };

static const char *const whats[] = {"window", "lock", "put", "flush", "lock_all", "fence", "pscw"};
enum { WHATS = sizeof whats / sizeof whats[0] };

static void window_make(int64_t bytes, MPI_Win *win)
{
    char *base;
    MPI_Win_allocate((MPI_Aint)bytes, 1, info, members, &base, win);
}

static void windows_measure(int64_t bytes, struct bench_phases *phases)
{
    for (int64_t i = -options.warmup; i < options.rounds; i++) {
        MPI_Win win;
        MPI_Barrier(MPI_COMM_WORLD);
        double start_s = bench_now_s();
        window_make(bytes, &win);
        double made_s = bench_now_s();
        MPI_Barrier(MPI_COMM_WORLD);
        double ready_s = bench_now_s();
        MPI_Win_free(&win);
        if (i < 0)
            continue;
        phases->samples[FREE][i] = bench_now_s() - ready_s;
        phases->samples[SAMPLE][i] = made_s - start_s;
    }
}

static bool is_what(const char *what) { return strcmp(options.what, what) == 0; }

static void put(const char *buffer, int64_t bytes, int target, MPI_Win win)
{
    MPI_Put(buffer, (int)bytes, MPI_BYTE, target, 0, (int)bytes, MPI_BYTE, win);
}

/* Of rank 0 and TARGET; `other` is the one to the other. */
static void expose_and_access(const char *buffer, int64_t bytes, int rank, int target, MPI_Group other,
                              MPI_Win win)
{
    if (rank == target) {
        MPI_Win_post(other, 0, win);
        MPI_Win_wait(win);
    } else if (rank == 0) {
        MPI_Win_start(other, 0, win);
        put(buffer, bytes, target, win);
        MPI_Win_complete(win);
    }
}

/* What rank 0 does alone. */
static void synchronise(const char *buffer, int64_t bytes, int target, MPI_Win win)
{
    if (is_what("lock_all")) {
        MPI_Win_lock_all(0, win);
        MPI_Win_unlock_all(win);
    } else if (is_what("flush")) {
        put(buffer, bytes, target, win);
        MPI_Win_flush(target, win);
    } else {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win);
        if (is_what("put"))
            put(buffer, bytes, target, win);
        MPI_Win_unlock(target, win);
    }
}

static void synchronisation_measure(const struct bench *bench, int64_t bytes, struct bench_phases *phases)
{
    MPI_Win win;
    char *buffer = bench_allocate((size_t)bytes);
    MPI_Group all, other;
    int last = bench->ranks - 1, other_rank = bench->rank == 0 ? last : 0;
    window_make(bytes, &win);
    MPI_Win_get_group(win, &all);
    MPI_Group_incl(all, 1, &other_rank, &other);
    if (is_what("flush"))
        MPI_Win_lock_all(0, win);
    for (int64_t i = -options.warmup; i < options.rounds; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double start_s = bench_now_s();
        if (is_what("fence"))
            MPI_Win_fence(0, win);
        else if (is_what("pscw"))
            expose_and_access(buffer, bytes, bench->rank, last, other, win);
        else if (bench->rank == 0)
            synchronise(buffer, bytes, last, win);
        if (i >= 0)
            phases->samples[SAMPLE][i] = bench_now_s() - start_s;
    }
    if (is_what("flush"))
        MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Group_free(&other);
    MPI_Group_free(&all);
    MPI_Win_free(&win);
    free(buffer);
}

static void members_make(void)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, 0, strcmp(options.order, "reversed") == 0 ? -rank : rank, &members);
    MPI_Info_create(&info);
    if (options.epoch_type[0])
        MPI_Info_set(info, "epoch_type", options.epoch_type);
}

int main(int argc, char **argv)
{
    options.sizes = bench_list_make("8,1m");
    const struct bench_option table[] = {
        {"sizes", BENCH_LIST, &options.sizes, "bytes of the window on each rank"},
        {"rounds", BENCH_INTEGER, &options.rounds, "timed rounds a size"},
        {"warmup", BENCH_INTEGER, &options.warmup, "untimed rounds a size"},
        {"what", BENCH_TEXT, &options.what, "window, lock, put, flush, lock_all, fence or pscw"},
        {"order", BENCH_TEXT, &options.order, "of the window's processes: world or reversed"},
        {"epoch-type", BENCH_TEXT, &options.epoch_type, "the info key epoch_type; empty: none"},
        {0},
    };
    static const char *const names[PHASES] = {"free_s", "sample_s"};
    struct bench bench;
    struct bench_json json;
    bench_start(&bench, "rma_cost", argc, argv, table);
    if (bench_name_find(whats, WHATS, options.what) == WHATS)
        bench_refuse(&bench, "--what %s is not one; --help lists them", options.what);
    if (strcmp(options.order, "world") != 0 && strcmp(options.order, "reversed") != 0)
        bench_refuse(&bench, "--order is world or reversed, not %s", options.order);
    members_make();
    bench_json_begin(&json, &bench);
    bench_json_text(&json, "what", options.what);
    bench_json_text(&json, "order", options.order);
    bench_json_text(&json, "epoch_type", options.epoch_type);
    bench_json_open(&json, "points", '[');
    for (int i = 0; i < options.sizes.count; i++) {
        struct bench_phases phases;
        int64_t bytes = options.sizes.values[i];
        bench_phases_init(&phases, PHASES, names, (int)options.rounds, false);
        if (is_what("window"))
            windows_measure(bytes, &phases);
        else
            synchronisation_measure(&bench, bytes, &phases);
        bench_json_open(&json, NULL, '{');
        bench_json_integer(&json, "bytes", bytes);
        bench_json_phases(&json, &phases);
        bench_json_close(&json, '}');
        bench_phases_free(&phases);
    }
    bench_json_close(&json, ']');
    bench_json_end(&json);
    MPI_Info_free(&info);
    MPI_Comm_free(&members);
    bench_finish(&bench);
    return 0;
}
