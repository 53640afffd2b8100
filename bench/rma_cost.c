/* Claim: making windows and synchronising on them costs at most twice what it costs plain (papers/002 7.2,
 * fig. 4).
 *
 * A sample is one of: making a window (`window`; freeing it is its own phase), an exclusive lock and unlock
 * of the last rank (`lock`), the same with a Put between (`put`), a fence (`fence`), MPI_Win_lock_all and
 * unlock_all (`lock_all`). For the locks rank 0 works alone while all others wait inside MPI. The windows'
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

static const char *const whats[] = {"window", "lock", "put", "fence", "lock_all"};
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

static void synchronise(const char *buffer, int64_t bytes, int target, MPI_Win win)
{
    if (strcmp(options.what, "fence") == 0) {
        MPI_Win_fence(0, win);
    } else if (strcmp(options.what, "lock_all") == 0) {
        MPI_Win_lock_all(0, win);
        MPI_Win_unlock_all(win);
    } else {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win);
        if (strcmp(options.what, "put") == 0)
            MPI_Put(buffer, (int)bytes, MPI_BYTE, target, 0, (int)bytes, MPI_BYTE, win);
        MPI_Win_unlock(target, win);
    }
}

static void synchronisation_measure(const struct bench *bench, int64_t bytes, struct bench_phases *phases)
{
    MPI_Win win;
    char *buffer = bench_allocate((size_t)bytes);
    bool is_collective = strcmp(options.what, "fence") == 0;
    window_make(bytes, &win);
    for (int64_t i = -options.warmup; i < options.rounds; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double start_s = bench_now_s();
        if (is_collective || bench->rank == 0)
            synchronise(buffer, bytes, bench->ranks - 1, win);
        if (i >= 0)
            phases->samples[SAMPLE][i] = bench_now_s() - start_s;
    }
    MPI_Barrier(MPI_COMM_WORLD);
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
        {"what", BENCH_TEXT, &options.what, "window, lock, put, fence or lock_all"},
        {"order", BENCH_TEXT, &options.order, "of the window's processes: world or reversed"},
        {"epoch-type", BENCH_TEXT, &options.epoch_type, "the info key epoch_type; empty: none"},
        {0},
    };
    static const char *const names[PHASES] = {"free_s", "sample_s"};
    struct bench bench;
    struct bench_json json;
    bench_start(&bench, "rma_cost", argc, argv, table);
    if (bench_name_find(whats, WHATS, options.what) == WHATS)
        bench_refuse(&bench, "--what is window, lock, put, fence or lock_all, not %s", options.what);
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
        bench_phases_init(&phases, PHASES, names, (int)options.rounds);
        if (strcmp(options.what, "window") == 0)
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
