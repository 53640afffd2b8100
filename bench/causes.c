/* SPDX-License-Identifier: BSD-3-Clause */
/* Claim: `headway profile` names the cause of a wait, and what an engine would save of it.
 *
 * Steps whose cause is known, because the program is written so, on two ranks. Each rank notes when it began
 * to wait, when the wait was over, and when it came: did what its partner waits for. On one machine, whose
 * nodes have one clock, that says what each wait was for, by Scalasca's definitions:
 *
 *   late          until the partner came: late sender, late receiver, wait at barrier, wait at NxN
 *   no progress   after that, what the computation beside could have hidden, had the wire been busy
 *   bandwidth     after that, what it could not
 *   transfer      after that, in a call that blocks: the message or the operation itself */
#include "common/bench.h"

#include <stdlib.h>
#include <string.h>

enum { STEPS_MAX = 16, TAG = 7, SMALL_BYTES = 8 };

/* What a rank notes of one step. */
struct moments {
    double computed_s, came_s, began_s, ended_s; /* computed_s: with everything posted */
};

static struct {
    const char *steps;
    int64_t bytes, work_units, iterations, wire_ns;
    bool is_same;
} options = {.steps = "progress-p2p", .bytes = 1 << 20, .work_units = 1000, .iterations = 100};

static struct bench bench;
static char *out, *in;
static size_t buffer_bytes;

static int other(void) { return 1 - bench.rank; }

/* Who is late: each in turn, or always the last. */
static bool is_late(int64_t i) { return options.is_same ? bench.rank == 1 : bench.rank == (int)(i % 2); }

/* ---- the steps ------------------------------------------------------------------------------- */

static struct moments complete(MPI_Request *requests, int count, int64_t work_units)
{
    struct moments here = {.came_s = bench_now_s()};
    bench_work(work_units);
    here.began_s = bench_now_s();
    here.computed_s = here.began_s - here.came_s;
    MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
    here.ended_s = bench_now_s();
    return here;
}

static struct moments exchange(int64_t bytes, int64_t work_units)
{
    MPI_Request requests[2];
    MPI_Irecv(in, (int)bytes, MPI_BYTE, other(), TAG, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, (int)bytes, MPI_BYTE, other(), TAG, MPI_COMM_WORLD, &requests[1]);
    return complete(requests, 2, work_units);
}

/* The wire is idle while both compute. */
static struct moments progress_p2p(int64_t i)
{
    (void)i;
    return exchange(options.bytes, options.work_units);
}

static struct moments progress_coll(int64_t i)
{
    (void)i;
    MPI_Request request;
    int count = (int)options.bytes;
    MPI_Ialltoall(out, count, MPI_BYTE, in, count, MPI_BYTE, MPI_COMM_WORLD, &request);
    return complete(&request, 1, options.work_units);
}

/* Far more to move than the computation could hide. */
static struct moments bandwidth(int64_t i)
{
    (void)i;
    return exchange(4 * options.bytes, options.work_units / 4);
}

static struct moments send_after(int64_t work_units, int64_t bytes)
{
    bench_work(work_units);
    struct moments here = {.began_s = bench_now_s()};
    here.came_s = here.began_s;
    MPI_Send(out, (int)bytes, MPI_BYTE, other(), TAG, MPI_COMM_WORLD);
    here.ended_s = bench_now_s();
    return here;
}

static struct moments receive_after(int64_t work_units, int64_t bytes)
{
    bench_work(work_units);
    struct moments here = {.began_s = bench_now_s()};
    here.came_s = here.began_s;
    MPI_Recv(in, (int)bytes, MPI_BYTE, other(), TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    here.ended_s = bench_now_s();
    return here;
}

static struct moments late_sender(int64_t i)
{
    int64_t bytes = options.bytes / 4;
    return is_late(i) ? send_after(options.work_units, bytes) : receive_after(0, bytes);
}

static struct moments late_receiver(int64_t i)
{
    int64_t bytes = options.bytes / 2;
    return is_late(i) ? receive_after(2 * options.work_units, bytes) : send_after(0, bytes);
}

/* The last rank always has three times as much to compute. */
static int64_t uneven(void) { return options.work_units * (bench.rank == 1 ? 3 : 1); }

static struct moments imbalance_barrier(int64_t i)
{
    (void)i;
    bench_work(uneven());
    struct moments here = {.began_s = bench_now_s()};
    here.came_s = here.began_s;
    MPI_Barrier(MPI_COMM_WORLD);
    here.ended_s = bench_now_s();
    return here;
}

static struct moments imbalance_wait(int64_t i)
{
    (void)i;
    bench_work(uneven());
    return exchange(SMALL_BYTES, 0);
}

/* What is posted first would be there, but the partner is as late with the next one. */
static struct moments imbalance_posted(int64_t i)
{
    (void)i;
    return exchange(options.bytes, uneven());
}

static struct moments allreduce(int64_t i)
{
    double one = 1, sum = 0;
    bench_work(is_late(i) ? options.work_units : options.work_units / 8);
    struct moments here = {.began_s = bench_now_s()};
    here.came_s = here.began_s;
    MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    here.ended_s = bench_now_s();
    return here;
}

/* ---- what they were for ---------------------------------------------------------------------- */

enum cause { NO_PROGRESS, BANDWIDTH, LATE_SENDER, LATE_RECEIVER, AT_BARRIER, AT_NXN, TRANSFER, CAUSE_COUNT };
static const char *const cause_names[CAUSE_COUNT] = {
    "no_progress", "bandwidth", "late_sender", "late_receiver", "wait_at_barrier", "wait_at_nxn", "transfer",
};

static const struct step {
    const char *name;
    struct moments (*run)(int64_t i);
    enum cause late; /* what waiting for the partner to come is */
    bool is_overlap; /* the rest is for progress or bandwidth, not the call's own */
    int messages;    /* of --bytes each way, of one that overlaps */
} steps[] = {
    {"progress-p2p", progress_p2p, LATE_SENDER, true, 1},
    {"progress-coll", progress_coll, AT_NXN, true, 1},
    {"bandwidth", bandwidth, LATE_SENDER, true, 4},
    {"late-sender", late_sender, LATE_SENDER, false, 0},
    {"late-receiver", late_receiver, LATE_RECEIVER, false, 0},
    {"imbalance-barrier", imbalance_barrier, AT_BARRIER, false, 0},
    {"imbalance-wait", imbalance_wait, LATE_SENDER, true, 0},
    {"imbalance-posted", imbalance_posted, LATE_SENDER, true, 1},
    {"allreduce", allreduce, AT_NXN, false, 0},
};
enum { STEP_COUNT = sizeof steps / sizeof steps[0] };

static double within(double value, double most) { return value < 0 ? 0 : value < most ? value : most; }

/* One wait of a rank. */
static void judge(const struct step *step, const struct moments *mine, const struct moments *partner,
                  double *found)
{
    double waited_s = mine->ended_s - mine->began_s;
    double late_s = within(partner->came_s - mine->began_s, waited_s), rest_s = waited_s - late_s;
    /* Transports whose directions take turns need up to twice as long, and so much more could be hidden. */
    double wire_s = 1e-9 * (double)options.wire_ns * step->messages;
    double turns = wire_s > 0 ? 1 + within(rest_s / wire_s - 1, 1) : 1;
    double computed_s = wire_s > 0 ? within(mine->computed_s, wire_s) : mine->computed_s;
    double hidden_s = step->is_overlap ? within(turns * computed_s, rest_s) : 0;
    double shown_s = rest_s - hidden_s;
    found[step->late] += late_s;
    found[NO_PROGRESS] += hidden_s;
    found[step->is_overlap && step->messages ? BANDWIDTH : TRANSFER] += shown_s;
}

/* ---- the program ----------------------------------------------------------------------------- */

static int steps_parse(const struct step **chosen)
{
    char *text = strdup(options.steps), *rest = text;
    int count = 0;
    for (char *name; (name = strsep(&rest, ",")) != NULL; count++) {
        int at = 0;
        while (at < STEP_COUNT && strcmp(steps[at].name, name) != 0)
            at++;
        if (count == STEPS_MAX || at == STEP_COUNT)
            bench_refuse(&bench, "--steps: no step '%s', or more than %d; see bench/causes.c", name,
                         STEPS_MAX);
        chosen[count] = &steps[at];
    }
    free(text);
    return count;
}

/* Seconds of both ranks by cause, on rank 0. */
static void causes_write(struct bench_json *json, const struct step *const *chosen, int count,
                         struct moments *mine)
{
    size_t moments = (size_t)count * (size_t)options.iterations;
    struct moments *all = bench_allocate(2 * moments * sizeof *all);
    int doubles = (int)(moments * sizeof *mine / sizeof(double));
    MPI_Gather(mine, doubles, MPI_DOUBLE, all, doubles, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    double found[CAUSE_COUNT] = {0};
    for (size_t i = 0; bench.rank == 0 && i < moments; i++)
        for (int rank = 0; rank < 2; rank++)
            judge(chosen[i % (size_t)count], &all[(size_t)rank * moments + i],
                  &all[(size_t)(1 - rank) * moments + i], found);
    bench_json_open(json, "causes", '{');
    for (int cause = 0; cause < CAUSE_COUNT; cause++)
        bench_json_number(json, cause_names[cause], found[cause] / 2);
    bench_json_close(json, '}');
    free(all);
}

int main(int argc, char **argv)
{
    const struct bench_option table[] = {
        {"steps", BENCH_TEXT, &options.steps, "steps that are done in turn, with commas between"},
        {"bytes", BENCH_INTEGER, &options.bytes, "of a message; some steps have more or less"},
        {"work-units", BENCH_INTEGER, &options.work_units, "computation of a step; some have more or less"},
        {"wire-ns", BENCH_INTEGER, &options.wire_ns, "what --bytes take on the link one way; 0: not known"},
        {"iterations", BENCH_INTEGER, &options.iterations, "times that all steps are done"},
        {"same", BENCH_FLAG, &options.is_same, "the last rank is the late one each time, not each in turn"},
        {0},
    };
    const struct step *chosen[STEPS_MAX];
    bench_start(&bench, "causes", argc, argv, table);
    if (bench.ranks != 2 || options.iterations < 1 || options.bytes < 1 || options.bytes > 1 << 28)
        bench_refuse(&bench, "needs two ranks, an iteration, and --bytes from 1 to 256m");
    int count = steps_parse(chosen);
    buffer_bytes = 4 * (size_t)options.bytes + SMALL_BYTES;
    out = bench_allocate(buffer_bytes);
    in = bench_allocate(buffer_bytes);
    bench_fill(out, buffer_bytes, (uint64_t)bench.rank + 1);
    struct moments *mine = bench_allocate((size_t)count * (size_t)options.iterations * sizeof *mine);

    MPI_Barrier(MPI_COMM_WORLD);
    double start_s = bench_now_s();
    for (int64_t i = 0; i < options.iterations * count; i++)
        mine[i] = chosen[i % count]->run(i / count);
    double wall_s = bench_now_s() - start_s;

    struct bench_json json;
    bench_json_begin(&json, &bench);
    bench_json_text(&json, "steps", options.steps);
    bench_json_integer(&json, "bytes", options.bytes);
    causes_write(&json, chosen, count, mine);
    double longest_s = 0;
    MPI_Reduce(&wall_s, &longest_s, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    bench_json_number(&json, "wall_s", longest_s);
    bench_json_number(&json, "work_checksum", bench_work_checksum());
    bench_json_end(&json);
    free(mine);
    free(out);
    free(in);
    bench_finish(&bench);
    return 0;
}
