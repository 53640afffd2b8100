/* SPDX-License-Identifier: BSD-3-Clause */
/* Claim: a real two-dimensional solver gains, and its answer stays the same (papers/000 figure 7).
 *
 * Heat equation on a periodic grid, explicit Euler, five-point stencil, one ghost layer. Each step posts
 * the four exchanges, updates the interior, waits, and updates the boundary. Ranks form a Cartesian
 * grid; by default all of them along the rows, so that the halo is the wide contiguous row. A direction
 * with one rank only wraps around locally. With --persistent the exchanges are defined once and started each
 * step, as many solvers do. */
#include "common/bench.h"

#include <stdlib.h>
#include <string.h>

static struct {
    int64_t columns; /* of one rank's part of the grid */
    int64_t rows;    /* of one rank's part of the grid */
    int64_t ranks_x; /* ranks side by side */
    int64_t steps;
    int64_t warmup;
    int64_t timeline;   /* how many steps to write out */
    int64_t persistent; /* 1: persistent requests */
    bool is_beside;
    bool is_sealed;
} options = {.columns = 65536, .rows = 64, .ranks_x = 1, .steps = 30, .warmup = 3};

enum { SOUTH, NORTH, WEST, EAST, SIDES };
enum { REQUESTS = 2 * SIDES };
enum { COMPUTE_SAMPLES = 5 };

struct solver {
    MPI_Comm grid;
    MPI_Datatype column;
    int neighbours[SIDES]; /* MPI_PROC_NULL where the direction wraps around locally */
    int64_t columns, rows, stride;
    double *now, *next;
    double change; /* sum of squared changes in the last step, boundary after interior */
    /* Persistent: the exchanges of the field that is `now`, and of the one that is `next`. */
    MPI_Request exchanges[REQUESTS], next_exchanges[REQUESTS];
};

enum { POST, INTERIOR, WAIT, BOUNDARY, CPU, TOTAL, PHASES };
static const char *const phase_names[PHASES] = {"post_s",     "compute_s", "wait_s",
                                                "boundary_s", "cpu_s",     "total_s"};

/* When each step reached each phase, in seconds since this rank's first step. */
enum { MARK_START, MARK_POSTED, MARK_COMPUTED, MARK_WAITED, MARK_END, MARKS };

static double *cell(const struct solver *solver, double *field, int64_t row, int64_t column)
{
    return field + row * solver->stride + column;
}

/* The start depends on the place in the whole grid, so the solution does not depend on the ranks. */
static void field_fill(struct solver *solver, int64_t first_row, int64_t first_column)
{
    for (int64_t row = 1; row <= solver->rows; row++)
        for (int64_t column = 1; column <= solver->columns; column++)
            *cell(solver, solver->now, row, column) =
                (double)(((first_row + row) * 7919 + (first_column + column) * 104729) % 1000) / 1000.0;
}

struct message {
    double *buffer;
    int count;
    MPI_Datatype type;
    int peer, tag;
};

/* Those of one field: the first half is received, the other half sent. Tags name the side a message leaves
 * from, so that two neighbours that are one rank stay apart. */
static void messages_list(const struct solver *solver, double *field, struct message messages[REQUESTS])
{
    int64_t rows = solver->rows, columns = solver->columns;
    const int *to = solver->neighbours;
    int width = (int)columns;
    const struct message list[REQUESTS] = {
        {cell(solver, field, 0, 1), width, MPI_DOUBLE, to[NORTH], SOUTH},
        {cell(solver, field, rows + 1, 1), width, MPI_DOUBLE, to[SOUTH], NORTH},
        {cell(solver, field, 1, 0), 1, solver->column, to[WEST], EAST},
        {cell(solver, field, 1, columns + 1), 1, solver->column, to[EAST], WEST},
        {cell(solver, field, 1, 1), width, MPI_DOUBLE, to[NORTH], NORTH},
        {cell(solver, field, rows, 1), width, MPI_DOUBLE, to[SOUTH], SOUTH},
        {cell(solver, field, 1, 1), 1, solver->column, to[WEST], WEST},
        {cell(solver, field, 1, columns), 1, solver->column, to[EAST], EAST},
    };
    memcpy(messages, list, sizeof list);
}

static void exchange_post(struct solver *solver, MPI_Request requests[REQUESTS])
{
    struct message list[REQUESTS];
    messages_list(solver, solver->now, list);
    for (const struct message *m = list; m < list + SIDES; m++)
        MPI_Irecv(m->buffer, m->count, m->type, m->peer, m->tag, solver->grid, requests++);
    for (const struct message *m = list + SIDES; m < list + REQUESTS; m++)
        MPI_Isend(m->buffer, m->count, m->type, m->peer, m->tag, solver->grid, requests++);
}

static void exchange_define(struct solver *solver, double *field, MPI_Request requests[REQUESTS])
{
    struct message list[REQUESTS];
    messages_list(solver, field, list);
    for (const struct message *m = list; m < list + SIDES; m++)
        MPI_Recv_init(m->buffer, m->count, m->type, m->peer, m->tag, solver->grid, requests++);
    for (const struct message *m = list + SIDES; m < list + REQUESTS; m++)
        MPI_Send_init(m->buffer, m->count, m->type, m->peer, m->tag, solver->grid, requests++);
}

static void solver_init(struct solver *solver, const struct bench *bench)
{
    int sizes[2] = {bench->ranks / (int)options.ranks_x, (int)options.ranks_x};
    int periodic[2] = {1, 1};
    MPI_Cart_create(MPI_COMM_WORLD, 2, sizes, periodic, 0, &solver->grid);
    if (options.is_sealed)
        bench_seal(solver->grid);
    MPI_Cart_shift(solver->grid, 0, 1, &solver->neighbours[NORTH], &solver->neighbours[SOUTH]);
    MPI_Cart_shift(solver->grid, 1, 1, &solver->neighbours[WEST], &solver->neighbours[EAST]);
    if (sizes[0] == 1)
        solver->neighbours[NORTH] = solver->neighbours[SOUTH] = MPI_PROC_NULL;
    if (sizes[1] == 1)
        solver->neighbours[WEST] = solver->neighbours[EAST] = MPI_PROC_NULL;

    int place[2];
    int me;
    MPI_Comm_rank(solver->grid, &me);
    MPI_Cart_coords(solver->grid, me, 2, place);

    solver->columns = options.columns;
    solver->rows = options.rows;
    solver->stride = options.columns + 2;
    MPI_Type_vector((int)solver->rows, 1, (int)solver->stride, MPI_DOUBLE, &solver->column);
    MPI_Type_commit(&solver->column);

    size_t cells = (size_t)((solver->rows + 2) * solver->stride);
    solver->now = bench_allocate(cells * sizeof(double));
    solver->next = bench_allocate(cells * sizeof(double));
    memset(solver->next, 0, cells * sizeof(double));
    memset(solver->now, 0, cells * sizeof(double));
    field_fill(solver, place[0] * solver->rows, place[1] * solver->columns);
    if (options.persistent) {
        exchange_define(solver, solver->now, solver->exchanges);
        exchange_define(solver, solver->next, solver->next_exchanges);
    }
}

static void solver_free(struct solver *solver)
{
    for (int i = 0; options.persistent && i < REQUESTS; i++) {
        MPI_Request_free(&solver->exchanges[i]);
        MPI_Request_free(&solver->next_exchanges[i]);
    }
    MPI_Type_free(&solver->column);
    MPI_Comm_free(&solver->grid);
    free(solver->now);
    free(solver->next);
}

/* The layer beyond the edge, for the directions without another rank. */
static void wrap_locally(struct solver *solver)
{
    double *now = solver->now;
    int64_t rows = solver->rows, columns = solver->columns;
    if (solver->neighbours[NORTH] == MPI_PROC_NULL) {
        size_t bytes = (size_t)columns * sizeof(double);
        memcpy(cell(solver, now, 0, 1), cell(solver, now, rows, 1), bytes);
        memcpy(cell(solver, now, rows + 1, 1), cell(solver, now, 1, 1), bytes);
    }
    if (solver->neighbours[WEST] == MPI_PROC_NULL) {
        for (int64_t row = 1; row <= rows; row++) {
            *cell(solver, now, row, 0) = *cell(solver, now, row, columns);
            *cell(solver, now, row, columns + 1) = *cell(solver, now, row, 1);
        }
    }
}

static double segment_update(const double *restrict now, double *restrict next, int64_t stride, int64_t count)
{
    double change = 0.0;
    for (int64_t i = 0; i < count; i++) {
        double step = 0.1 * (now[i - 1] + now[i + 1] + now[i - stride] + now[i + stride] - 4.0 * now[i]);
        next[i] = now[i] + step;
        change += step * step;
    }
    return change;
}

static void interior_update(struct solver *solver)
{
    solver->change = 0.0;
    for (int64_t row = 2; row < solver->rows; row++)
        solver->change +=
            segment_update(cell(solver, solver->now, row, 2), cell(solver, solver->next, row, 2),
                           solver->stride, solver->columns - 2);
}

static void boundary_update(struct solver *solver)
{
    double *now = solver->now, *next = solver->next;
    int64_t rows = solver->rows, columns = solver->columns, stride = solver->stride;
    const int64_t edge_rows[2] = {1, rows};
    for (int i = 0; i < 2; i++)
        solver->change += segment_update(cell(solver, now, edge_rows[i], 1),
                                         cell(solver, next, edge_rows[i], 1), stride, columns);
    for (int64_t row = 2; row < rows; row++) {
        solver->change += segment_update(cell(solver, now, row, 1), cell(solver, next, row, 1), stride, 1);
        solver->change +=
            segment_update(cell(solver, now, row, columns), cell(solver, next, row, columns), stride, 1);
    }
    solver->now = next;
    solver->next = now;
    MPI_Request started[REQUESTS];
    memcpy(started, solver->exchanges, sizeof started);
    memcpy(solver->exchanges, solver->next_exchanges, sizeof started);
    memcpy(solver->next_exchanges, started, sizeof started);
}

static void step_run(struct solver *solver, double marks[MARKS])
{
    MPI_Request posted[REQUESTS];
    MPI_Request *requests = options.persistent ? solver->exchanges : posted;
    marks[MARK_START] = bench_now_s();
    if (options.persistent)
        MPI_Startall(REQUESTS, requests);
    else
        exchange_post(solver, requests);
    marks[MARK_POSTED] = bench_now_s();
    wrap_locally(solver);
    interior_update(solver);
    marks[MARK_COMPUTED] = bench_now_s();
    MPI_Waitall(REQUESTS, requests, MPI_STATUSES_IGNORE);
    marks[MARK_WAITED] = bench_now_s();
    boundary_update(solver);
    marks[MARK_END] = bench_now_s();
}

static void phases_record(struct bench_phases *phases, int64_t step, const double marks[MARKS], double cpu_s)
{
    for (int i = 0; i < MARKS - 1; i++)
        phases->samples[POST + i][step] = marks[i + 1] - marks[i];
    phases->samples[CPU][step] = cpu_s;
    phases->samples[TOTAL][step] = marks[MARK_END] - marks[MARK_START];
}

/* The interior update alone, nothing pending: what the computation costs undisturbed. What it writes, the
 * step after it writes again. */
static void interior_run(void *solver) { interior_update(solver); }

static double alone_run(struct solver *solver)
{
    return options.is_beside ? bench_alone_now(interior_run, solver) : 0;
}

/* Steps run freely, as in a real solver: neighbours keep one another in step, no barrier does, unless the
 * computation is measured alone before each. */
static double steps_run(struct solver *solver, struct bench_phases *phases, double *timeline)
{
    double marks[MARKS];
    for (int64_t step = 0; step < options.warmup; step++) {
        alone_run(solver);
        step_run(solver, marks);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    double start_s = bench_now_s();
    for (int64_t step = 0; step < options.steps; step++) {
        double alone_s = alone_run(solver);
        if (options.is_beside)
            phases->alone[step] = alone_s;
        double start_cpu_s = bench_process_cpu_s();
        step_run(solver, marks);
        phases_record(phases, step, marks, bench_process_cpu_s() - start_cpu_s);
        if (step < options.timeline)
            for (int i = 0; i < MARKS; i++)
                timeline[step * MARKS + i] = marks[i];
    }
    MPI_Barrier(MPI_COMM_WORLD);
    return bench_now_s() - start_s;
}

/* Marks of the first steps on every rank, in the clock of that rank. Collective. */
static void timeline_write(struct bench_json *json, const struct bench *bench, const double *timeline)
{
    int64_t steps = options.timeline < options.steps ? options.timeline : options.steps;
    int count = (int)steps * MARKS;
    double *all = bench_allocate((size_t)(count * bench->ranks) * sizeof(double));
    MPI_Gather(timeline, count, MPI_DOUBLE, all, count, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    bench_json_open(json, "timeline", '[');
    for (int rank = 0; json->stream != NULL && rank < bench->ranks; rank++) {
        const double *marks = all + (size_t)rank * (size_t)count;
        bench_json_open(json, NULL, '{');
        bench_json_integer(json, "rank", rank);
        bench_json_number(json, "start_monotonic_s", count > 0 ? marks[0] : 0.0);
        bench_json_open(json, "steps", '[');
        for (int64_t step = 0; step < steps; step++) {
            bench_json_open(json, NULL, '[');
            for (int i = 0; i < MARKS; i++)
                bench_json_number(json, NULL, marks[step * MARKS + i] - marks[0]);
            bench_json_close(json, ']');
        }
        bench_json_close(json, ']');
        bench_json_close(json, '}');
    }
    bench_json_close(json, ']');
    free(all);
}

/* The answer: bits of the whole field, and the size of the last change. Collective. */
static void answer_write(struct bench_json *json, struct solver *solver)
{
    uint64_t checksum = 0, sum = 0;
    for (int64_t row = 1; row <= solver->rows; row++)
        checksum += bench_digest(cell(solver, solver->now, row, 1), (size_t)solver->columns * sizeof(double));
    MPI_Reduce(&checksum, &sum, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    double residual = 0.0;
    MPI_Reduce(&solver->change, &residual, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    bench_json_hex(json, "checksum", sum);
    bench_json_number(json, "residual", residual);
}

static void options_check(const struct bench *bench)
{
    if (options.columns < 3 || options.rows < 3 || options.steps < 1)
        bench_refuse(bench, "--columns and --rows are at least 3, --steps at least 1");
    if (options.columns > 1 << 26 || options.rows > 1 << 26)
        bench_refuse(bench, "--columns and --rows go up to 64m");
    if (options.ranks_x < 1 || bench->ranks % options.ranks_x != 0)
        bench_refuse(bench, "--ranks-x must divide the number of ranks");
}

static int64_t halo_bytes(const struct solver *solver)
{
    int64_t bytes = 0;
    if (solver->neighbours[NORTH] != MPI_PROC_NULL)
        bytes += 2 * solver->columns * (int64_t)sizeof(double);
    if (solver->neighbours[WEST] != MPI_PROC_NULL)
        bytes += 2 * solver->rows * (int64_t)sizeof(double);
    return bytes;
}

int main(int argc, char **argv)
{
    const struct bench_option table[] = {
        {"columns", BENCH_INTEGER, &options.columns, "columns of one rank's part"},
        {"rows", BENCH_INTEGER, &options.rows, "rows of one rank's part"},
        {"ranks-x", BENCH_INTEGER, &options.ranks_x, "ranks side by side; the others stack along the rows"},
        {"steps", BENCH_INTEGER, &options.steps, "timed steps"},
        {"warmup", BENCH_INTEGER, &options.warmup, "untimed steps before them"},
        {"timeline", BENCH_INTEGER, &options.timeline, "write the phases of this many steps"},
        {"persistent", BENCH_INTEGER, &options.persistent, "1: persistent requests, started each step"},
        BENCH_BESIDE_OPTION(&options.is_beside),
        BENCH_SEALED_OPTION(&options.is_sealed),
        {0},
    };
    struct bench bench;
    bench_start(&bench, "halo", argc, argv, table);
    options_check(&bench);
    struct solver solver = {.change = 0.0};
    solver_init(&solver, &bench);

    struct bench_json json;
    bench_json_begin(&json, &bench);
    bench_json_integer(&json, "columns", options.columns);
    bench_json_integer(&json, "rows", options.rows);
    bench_json_integer(&json, "steps", options.steps);
    bench_json_integer(&json, "bytes", halo_bytes(&solver));
    bench_alone_measure(&json, "compute", "compute_alone_s", 1, COMPUTE_SAMPLES, interior_run, &solver);
    struct bench_phases phases;
    bench_phases_init(&phases, PHASES, phase_names, (int)options.steps, options.is_beside);
    double *timeline = bench_allocate((size_t)options.steps * MARKS * sizeof(double));
    bench_json_number(&json, "wall_s", steps_run(&solver, &phases, timeline));
    answer_write(&json, &solver);
    timeline_write(&json, &bench, timeline);
    bench_json_phases(&json, &phases);
    bench_json_end(&json);
    bench_phases_free(&phases);
    free(timeline);
    solver_free(&solver);
    bench_finish(&bench);
    return 0;
}
