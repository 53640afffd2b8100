/* SPDX-License-Identifier: BSD-3-Clause */
/* Claim: making windows and synchronising on them costs at most twice what it costs plain (papers/002 7.2,
 * fig. 4).
 *
 * A sample is one of: making a window (`window`; freeing it is its own phase), an exclusive lock and unlock
 * of the last rank (`lock`), the same with a Put between (`put`), a Put and flush in a long lock_all epoch
 * (`flush`), MPI_Win_lock_all and unlock_all (`lock_all`), issuing one of a batch of Puts or accumulates in
 * such an epoch (`issue`, `issue_accumulate`), for all of which rank 0 works alone while the others wait
 * inside MPI; a fence (`fence`); MPI_Win_set_info with the hint symmetric=true (`set_info`); one of a batch
 * of barriers beside a window (`barrier`) or with none (`barrier_alone`); a Put of rank 0 to the last between
 * MPI_Win_start and complete, MPI_Win_post and wait (`pscw`). The windows'
 * processes are those of the world, in its order or in reverse (`order`), as in a grid; `epoch-type` is the
 * info key's value. Several samples, named with commas between, are taken one after the other. */
#include "common/bench.h"

#include <stdlib.h>
#include <string.h>

/* `batch`: barriers, or operations, of a sample. In each 16th barrier a library that adapts exchanges
 * something. */
static struct {
    struct bench_list sizes;
    int64_t rounds, warmup, batch;
    const char *what, *order, *epoch_type;
    bool is_guided;
} options = {.rounds = 40, .warmup = 5, .batch = 64, .what = "window", .order = "world", .epoch_type = ""};

static MPI_Comm members;
static MPI_Info info, symmetric;

enum { FREE, SAMPLE, PHASES };

enum what {
    WINDOW,
    LOCK,
    PUT,
    FLUSH,
    LOCK_ALL,
    FENCE,
    PSCW,
    SET_INFO,
    BARRIER,
    BARRIER_ALONE,
    ISSUE,
    ISSUE_ACCUMULATE,
    WHATS
};
static const char *const whats[WHATS] = {"window",   "lock",          "put",   "flush",
                                         "lock_all", "fence",         "pscw",  "set_info",
                                         "barrier",  "barrier_alone", "issue", "issue_accumulate"};
static struct {
    int count;
    enum what value[WHATS];
} asked;

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

/* Whether it is done in a long epoch of lock_all. */
static bool has_epoch(enum what what) { return what == FLUSH || what == ISSUE || what == ISSUE_ACCUMULATE; }

static bool is_batch(enum what what)
{
    return what == BARRIER || what == BARRIER_ALONE || what == ISSUE || what == ISSUE_ACCUMULATE;
}

/* What rank 0 does alone. */
static void synchronise(enum what what, const char *buffer, int64_t bytes, int target, MPI_Win win)
{
    if (what == LOCK_ALL) {
        MPI_Win_lock_all(0, win);
        MPI_Win_unlock_all(win);
    } else if (what == FLUSH) {
        put(buffer, bytes, target, win);
        MPI_Win_flush(target, win);
    } else {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win);
        if (what == PUT)
            put(buffer, bytes, target, win);
        MPI_Win_unlock(target, win);
    }
}

static void issue(enum what what, const char *buffer, int64_t bytes, int target, MPI_Win win)
{
    for (int64_t i = 0; i < options.batch; i++)
        if (what == ISSUE)
            put(buffer, bytes, target, win);
        else
            MPI_Accumulate(buffer, (int)bytes, MPI_BYTE, target, 0, (int)bytes, MPI_BYTE, MPI_REPLACE, win);
}

/* One sample of this rank's. */
static void sample_run(enum what what, const char *buffer, int64_t bytes, int rank, int last, MPI_Group other,
                       MPI_Win win)
{
    if (what == FENCE)
        MPI_Win_fence(0, win);
    else if (what == PSCW)
        expose_and_access(buffer, bytes, rank, last, other, win);
    else if (what == SET_INFO)
        MPI_Win_set_info(win, symmetric);
    else if (what == BARRIER || what == BARRIER_ALONE)
        for (int64_t i = 0; i < options.batch; i++)
            MPI_Barrier(members);
    else if (rank == 0 && (what == ISSUE || what == ISSUE_ACCUMULATE))
        issue(what, buffer, bytes, last, win);
    else if (rank == 0)
        synchronise(what, buffer, bytes, last, win);
}

static void samples_measure(enum what what, const struct bench *bench, const char *buffer, int64_t bytes,
                            MPI_Win win, struct bench_phases *phases)
{
    MPI_Group all, other;
    int last = bench->ranks - 1, other_rank = bench->rank == 0 ? last : 0;
    MPI_Comm_group(members, &all);
    MPI_Group_incl(all, 1, &other_rank, &other);
    if (has_epoch(what))
        MPI_Win_lock_all(0, win);
    for (int64_t i = -options.warmup; i < options.rounds; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double start_s = bench_now_s();
        sample_run(what, buffer, bytes, bench->rank, last, other, win);
        double taken_s = bench_now_s() - start_s;
        if (has_epoch(what))
            MPI_Win_flush_all(win);
        if (i >= 0)
            phases->samples[SAMPLE][i] = taken_s / (is_batch(what) ? (double)options.batch : 1);
    }
    if (has_epoch(what))
        MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Group_free(&other);
    MPI_Group_free(&all);
}

static void synchronisation_measure(enum what what, const struct bench *bench, int64_t bytes,
                                    struct bench_phases *phases)
{
    MPI_Win win = MPI_WIN_NULL;
    char *buffer = bench_allocate((size_t)bytes);
    if (what != BARRIER_ALONE)
        window_make(bytes, &win);
    samples_measure(what, bench, buffer, bytes, win, phases);
    if (what != BARRIER_ALONE)
        MPI_Win_free(&win);
    free(buffer);
}

/* What --what names, commas between. */
static void asked_read(const struct bench *bench)
{
    char *copy = strdup(options.what), *rest = copy;
    for (char *word; (word = strsep(&rest, ",")) != NULL;) {
        int found = bench_name_find(whats, WHATS, word);
        if (found == WHATS || asked.count == WHATS)
            bench_refuse(bench, "--what %s is not one; --help lists them", word);
        asked.value[asked.count++] = (enum what)found;
    }
    free(copy);
}

static void point_measure(enum what what, const struct bench *bench, int64_t bytes, struct bench_json *json)
{
    static const char *const names[PHASES] = {"free_s", "sample_s"};
    struct bench_phases phases;
    bench_phases_init(&phases, PHASES, names, (int)options.rounds, false);
    if (what == WINDOW)
        windows_measure(bytes, &phases);
    else
        synchronisation_measure(what, bench, bytes, &phases);
    bench_json_open(json, NULL, '{');
    bench_json_text(json, "what", whats[what]);
    bench_json_integer(json, "bytes", bytes);
    bench_json_phases(json, &phases);
    bench_json_close(json, '}');
    bench_phases_free(&phases);
}

static void members_make(void)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, 0, strcmp(options.order, "reversed") == 0 ? -rank : rank, &members);
    MPI_Info_create(&info);
    if (options.epoch_type[0])
        MPI_Info_set(info, "epoch_type", options.epoch_type);
    MPI_Info_create(&symmetric);
    MPI_Info_set(symmetric, "symmetric", "true");
    if (options.is_guided) {
        MPI_Info_set(info, "async_config", "on");
        MPI_Info_set(symmetric, "async_config", "on");
    }
}

int main(int argc, char **argv)
{
    options.sizes = bench_list_make("8,1m");
    const struct bench_option table[] = {
        {"sizes", BENCH_LIST, &options.sizes, "bytes of the window on each rank"},
        {"rounds", BENCH_INTEGER, &options.rounds, "timed rounds a size"},
        {"warmup", BENCH_INTEGER, &options.warmup, "untimed rounds a size"},
        {"batch", BENCH_INTEGER, &options.batch, "barriers or operations of a sample"},
        {"what", BENCH_TEXT, &options.what,
         "some of: window, lock, put, flush, lock_all, fence, pscw, set_info, barrier, barrier_alone, issue, "
         "issue_accumulate"},
        {"order", BENCH_TEXT, &options.order, "of the window's processes: world or reversed"},
        {"epoch-type", BENCH_TEXT, &options.epoch_type, "the info key epoch_type; empty: none"},
        {"guided", BENCH_FLAG, &options.is_guided, "the hint async_config=on where windows are made and set"},
        {0},
    };
    struct bench bench;
    struct bench_json json;
    bench_start(&bench, "rma_cost", argc, argv, table);
    asked_read(&bench);
    if (options.batch < 1)
        bench_refuse(&bench, "--batch is a whole number from 1 on, not %lld", (long long)options.batch);
    if (strcmp(options.order, "world") != 0 && strcmp(options.order, "reversed") != 0)
        bench_refuse(&bench, "--order is world or reversed, not %s", options.order);
    members_make();
    bench_json_begin(&json, &bench);
    bench_json_text(&json, "what", options.what);
    bench_json_text(&json, "order", options.order);
    bench_json_text(&json, "epoch_type", options.epoch_type);
    bench_json_open(&json, "points", '[');
    for (int at = 0; at < asked.count; at++)
        for (int i = 0; i < options.sizes.count; i++)
            point_measure(asked.value[at], &bench, options.sizes.values[i], &json);
    bench_json_close(&json, ']');
    bench_json_end(&json);
    MPI_Info_free(&info);
    MPI_Info_free(&symmetric);
    MPI_Comm_free(&members);
    bench_finish(&bench);
    return 0;
}
