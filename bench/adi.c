/* SPDX-License-Identifier: BSD-3-Clause */
/* Claim: a solver of implicit line systems overlaps its many exchanges with what it computes anyway, and its
 * answer stays the same (papers/003 figure 9, after NAS SP).
 *
 * Three fields of a nonlinear heat equation go to their steady state, which is known, by approximate
 * factorization: a step solves scalar pentadiagonal systems along all lines in x, then in y, then in z. The
 * box is multi-partitioned: y and z are cut into as many parts as there are ranks, and rank r has the blocks
 * (a, b) with b - a = r, modulo the ranks. So at each stage of a sweep every rank has one block to work on.
 * Lines of a block are eliminated in chunks; what the next block needs of a chunk is under way while the next
 * chunk is computed. Receives are posted before a sweep begins.
 *
 * No value depends on how many ranks there are, not by a bit: one rank is the serial run. */
#include "common/bench.h"
#include "common/heat.h"
#include "common/penta.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FIELDS = BENCH_HEAT_FIELDS, HALO = 2 };
enum { Y_LOW, Y_HIGH, Z_LOW, Z_HIGH, SIDES };
enum { FORTH, BACK, WAYS };
enum { ALONE_SAMPLES = 3 };

static struct {
    int64_t size, chunks, steps, warmup;
} options = {96, 2, 12, 2};

static const double time_step = 0.05, bump_height = 0.3;

/* Fields have a halo of two points; all other arrays have none. x is the fastest direction. */
struct block {
    int64_t first[2]; /* its place in y and z */
    int64_t parts[2]; /* which part of them it is */
    double *field[FIELDS], *delta[FIELDS], *force[FIELDS];
    double *factor; /* of the Laplacian, as the fields are now */
    double *upper[2];
    double *face_in[SIDES], *face_out[SIDES];
};

/* Of y or z: how far rows and planes of a block lie apart, and who has the blocks before and after. */
struct sweep {
    int64_t row, plane;
    int before, after;
};

static struct {
    int rank, ranks;
    int64_t part; /* points of a block in y and z */
    double h, scale;
    struct block *blocks;       /* by their part of y */
    struct bench_penta scratch; /* of lines along x, turned */
    double *scratch_factor;
    double *zeros, *carry_in[WAYS], *carry_out[WAYS]; /* of all stages of a sweep */
    MPI_Request *arriving[WAYS], *leaving;
    struct bench_pieces pieces;
    bool is_silent; /* computes without a message */
    double comm_s;  /* of this step, in MPI */
    double change;
} solver;

/* ---- places ---------------------------------------------------------------------------------- */

static int64_t at(int64_t x, int64_t y, int64_t z) { return (z * solver.part + y) * options.size + x; }

static int64_t field_row(void) { return options.size + 2 * HALO; }

static int64_t field_at(int64_t x, int64_t y, int64_t z)
{
    return ((z + HALO) * (solver.part + 2 * HALO) + y + HALO) * field_row() + x + HALO;
}

static int rank_near(int step) { return (solver.rank + step + solver.ranks) % solver.ranks; }

/* The block of this rank that is part PART of y (0) or z (1). */
static struct block *block_of(int direction, int64_t part)
{
    int64_t in_y = direction == 0 ? part : (part - solver.rank + solver.ranks) % solver.ranks;
    return &solver.blocks[in_y];
}

/* ---- the equation ---------------------------------------------------------------------------- */

static void place_of(const struct block *block, int64_t x, int64_t y, int64_t z, double place[3])
{
    const int64_t point[3] = {x, block->first[0] + y, block->first[1] + z};
    for (int d = 0; d < 3; d++)
        place[d] = (double)(point[d] + 1) * solver.h;
}

static bool is_within(int64_t value, int64_t end) { return value >= 0 && value < end; }
static void point_fill(struct block *block, int64_t x, int64_t y, int64_t z)
{
    int64_t n = options.size, m = solver.part;
    bool is_in_box =
        is_within(x, n) && is_within(block->first[0] + y, n) && is_within(block->first[1] + z, n);
    double place[3], force[FIELDS];
    place_of(block, x, y, z, place);
    bench_heat_force(place, force);
    for (int f = 0; f < FIELDS; f++) {
        block->field[f][field_at(x, y, z)] =
            bench_heat_steady(f, place) + (is_in_box ? bump_height * bench_heat_bump(place) : 0.0);
        if (is_within(x, n) && is_within(y, m) && is_within(z, m))
            block->force[f][at(x, y, z)] = force[f];
    }
}

/* The steady state everywhere, outside of the box for good; inside with a bump. */
static void block_fill(struct block *block)
{
    for (int64_t z = -HALO; z < solver.part + HALO; z++)
        for (int64_t y = -HALO; y < solver.part + HALO; y++)
            for (int64_t x = -HALO; x < options.size + HALO; x++)
                point_fill(block, x, y, z);
}

/* ---- explicit part: the Laplacian ------------------------------------------------------------ */

static void row_explicit(struct block *block, int64_t y, int64_t z)
{
    int64_t start = field_at(0, y, z), to = at(0, y, z), row = field_row();
    struct bench_heat_row line = {.count = options.size,
                                  .steps = {1, row, row * (solver.part + 2 * HALO)},
                                  .scale = solver.scale,
                                  .time_step = time_step,
                                  .factor = block->factor + to};
    for (int f = 0; f < FIELDS; f++) {
        line.fields[f] = block->field[f] + start;
        line.force[f] = block->force[f] + to;
        line.delta[f] = block->delta[f] + to;
    }
    bench_heat_explicit(&line);
}

/* Rows that need no face of another block, or all others. */
static void rows_explicit(struct block *block, bool is_inner)
{
    int64_t end = solver.part - HALO;
    for (int64_t z = 0; z < solver.part; z++)
        for (int64_t y = 0; y < solver.part; y++)
            if (is_inner == (y >= HALO && y < end && z >= HALO && z < end))
                row_explicit(block, y, z);
}

/* ---- faces ----------------------------------------------------------------------------------- */

static int64_t face_doubles(void) { return HALO * solver.part * options.size * FIELDS; }

/* Whose block lies beyond a side: MPI_PROC_NULL at the end of the box. */
static int neighbour_of(const struct block *block, int side)
{
    bool is_high = side == Y_HIGH || side == Z_HIGH;
    int64_t part = block->parts[side / 2] + (is_high ? 1 : -1);
    if (part < 0 || part >= solver.ranks)
        return MPI_PROC_NULL;
    bool is_next = (side == Y_LOW) || (side == Z_HIGH);
    return rank_near(is_next ? 1 : -1);
}

/* Both layers of a side, of the block itself or (IS_HALO) of its neighbour. */
static void face_copy(struct block *block, int side, bool is_halo)
{
    int64_t m = solver.part, n = options.size;
    bool is_high = side == Y_HIGH || side == Z_HIGH;
    int64_t first = is_high ? (is_halo ? m : m - HALO) : (is_halo ? -HALO : 0);
    double *buffer = is_halo ? block->face_in[side] : block->face_out[side];
    for (int f = 0; f < FIELDS; f++)
        for (int64_t layer = first; layer < first + HALO; layer++)
            for (int64_t i = 0; i < m; i++, buffer += n) {
                int64_t place = side < Z_LOW ? field_at(0, layer, i) : field_at(0, i, layer);
                double *row = block->field[f] + place;
                memcpy(is_halo ? row : buffer, is_halo ? buffer : row, (size_t)n * sizeof(double));
            }
}

/* A tag names the block that receives and its side. */
static int faces_post(MPI_Request *requests)
{
    int count = 0, doubles = (int)face_doubles();
    for (int i = 0; i < solver.ranks; i++)
        for (int side = 0; side < SIDES; side++)
            MPI_Irecv(solver.blocks[i].face_in[side], doubles, MPI_DOUBLE,
                      neighbour_of(&solver.blocks[i], side), i * SIDES + side, MPI_COMM_WORLD,
                      &requests[count++]);
    static const int opposite[SIDES] = {Y_HIGH, Y_LOW, Z_HIGH, Z_LOW}, steps[SIDES] = {-1, 1, 0, 0};
    for (int i = 0; i < solver.ranks; i++)
        for (int side = 0; side < SIDES; side++)
            MPI_Isend(solver.blocks[i].face_out[side], doubles, MPI_DOUBLE,
                      neighbour_of(&solver.blocks[i], side),
                      ((i + steps[side] + solver.ranks) % solver.ranks) * SIDES + opposite[side],
                      MPI_COMM_WORLD, &requests[count++]);
    return count;
}

static void faces_copy(bool is_halo)
{
    for (int i = 0; i < solver.ranks; i++)
        for (int side = 0; side < SIDES; side++)
            if (neighbour_of(&solver.blocks[i], side) != MPI_PROC_NULL)
                face_copy(&solver.blocks[i], side, is_halo);
}

static void explicit_run(void)
{
    bool is_quiet = solver.is_silent || solver.ranks == 1;
    int count = 0;
    MPI_Request requests[2 * SIDES * solver.ranks];
    faces_copy(false);
    double began_s = bench_now_s();
    if (!is_quiet)
        count = faces_post(requests);
    solver.comm_s += bench_now_s() - began_s;
    for (int i = 0; i < solver.ranks; i++)
        rows_explicit(&solver.blocks[i], true);
    began_s = bench_now_s();
    if (!is_quiet)
        MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
    solver.comm_s += bench_now_s() - began_s;
    faces_copy(true);
    for (int i = 0; i < solver.ranks; i++)
        rows_explicit(&solver.blocks[i], false);
}

/* ---- implicit part: lines -------------------------------------------------------------------- */

static struct bench_penta plane_of(const struct sweep *sweep, const struct block *block, int64_t plane)
{
    int64_t start = plane * sweep->plane;
    struct bench_penta found = {.rows = solver.part,
                                .lanes = options.size,
                                .stride = sweep->row,
                                .scale = solver.scale,
                                .factor = block->factor + start,
                                .upper = {block->upper[0] + start, block->upper[1] + start}};
    for (int f = 0; f < FIELDS; f++)
        found.values[f] = block->delta[f] + start;
    return found;
}

/* Of one plane, to the next block (FORTH) and back. */
static int64_t carry_doubles(int way)
{
    return way == FORTH ? bench_penta_forth(options.size) : bench_penta_back(options.size);
}

static int64_t chunk_planes(void) { return solver.part / options.chunks; }

/* Planes of a chunk. IN and OUT are buffers of all its planes; NULL: of zeros, none. */
static void chunk_run(int way, const struct sweep *sweep, const struct block *block, int64_t chunk,
                      double *in, double *out)
{
    for (int64_t i = 0; i < chunk_planes(); i++) {
        struct bench_penta plane = plane_of(sweep, block, chunk * chunk_planes() + i);
        double *from = in == NULL ? solver.zeros : in + i * carry_doubles(way);
        double *to = out == NULL ? NULL : out + i * carry_doubles(way);
        if (way == FORTH)
            bench_penta_eliminate(&plane, from, to);
        else
            bench_penta_substitute(&plane, from, to);
    }
}

/* ---- sweeps ---------------------------------------------------------------------------------- */

static int64_t chunk_doubles(int way) { return chunk_planes() * carry_doubles(way); }

static double *carry_of(double *const buffers[WAYS], int way, int64_t stage, int64_t chunk)
{
    return buffers[way] + (stage * options.chunks + chunk) * chunk_doubles(way);
}

static int carry_tag(int way, int64_t stage, int64_t chunk)
{
    return (int)((way * solver.ranks + stage) * options.chunks + chunk);
}

/* A stage receives from the one before in the order of the way. */
static void sweep_post(const struct sweep *sweep)
{
    for (int way = 0; way < WAYS; way++)
        for (int64_t stage = 0; stage < solver.ranks; stage++)
            for (int64_t chunk = 0; chunk < options.chunks; chunk++) {
                bool is_first = stage == (way == FORTH ? 0 : solver.ranks - 1);
                MPI_Irecv(carry_of(solver.carry_in, way, stage, chunk), (int)chunk_doubles(way), MPI_DOUBLE,
                          is_first ? MPI_PROC_NULL : (way == FORTH ? sweep->before : sweep->after),
                          carry_tag(way, stage, chunk), MPI_COMM_WORLD,
                          &solver.arriving[way][stage * options.chunks + chunk]);
            }
}

/* To the stage after STAGE in the order of the way. */
static void carry_send(int way, const struct sweep *sweep, int64_t stage, int64_t chunk, MPI_Request *request)
{
    double began_s = bench_now_s();
    if (!solver.is_silent)
        MPI_Isend(carry_of(solver.carry_out, way, stage, chunk), (int)chunk_doubles(way), MPI_DOUBLE,
                  way == FORTH ? sweep->after : sweep->before,
                  carry_tag(way, way == FORTH ? stage + 1 : stage - 1, chunk), MPI_COMM_WORLD, request);
    solver.comm_s += bench_now_s() - began_s;
}

/* One chunk of one stage: what it needs is awaited, what it leaves is sent. Returns whether something was. */
static bool stage_run(int way, const struct sweep *sweep, int direction, int64_t stage, int64_t chunk,
                      MPI_Request *request)
{
    int64_t last = solver.ranks - 1;
    bool has_before = stage != (way == FORTH ? 0 : last), has_after = stage != (way == FORTH ? last : 0);
    double began_s = bench_now_s();
    if (has_before && !solver.is_silent)
        MPI_Wait(&solver.arriving[way][stage * options.chunks + chunk], MPI_STATUS_IGNORE);
    solver.comm_s += bench_now_s() - began_s;
    chunk_run(way, sweep, block_of(direction, stage), chunk,
              has_before ? carry_of(solver.carry_in, way, stage, chunk) : NULL,
              has_after ? carry_of(solver.carry_out, way, stage, chunk) : NULL);
    if (has_after)
        carry_send(way, sweep, stage, chunk, request);
    return has_after && !solver.is_silent;
}

/* Along y (0) or z (1). A chunk at its last block turns round at once. */
static void sweep_run(int direction)
{
    int64_t n = options.size, plane = n * solver.part, last = solver.ranks - 1;
    const struct sweep sweep = {.row = direction == 0 ? n : plane,
                                .plane = direction == 0 ? plane : n,
                                .before = rank_near(direction == 0 ? 1 : -1),
                                .after = rank_near(direction == 0 ? -1 : 1)};
    double began_s = bench_now_s();
    if (!solver.is_silent)
        sweep_post(&sweep);
    solver.comm_s += bench_now_s() - began_s;
    int sent = 0;
    for (int64_t stage = 0; stage <= last; stage++)
        for (int64_t chunk = 0; chunk < options.chunks; chunk++) {
            sent += stage_run(FORTH, &sweep, direction, stage, chunk, &solver.leaving[sent]);
            if (stage == last)
                sent += stage_run(BACK, &sweep, direction, stage, chunk, &solver.leaving[sent]);
        }
    for (int64_t stage = last - 1; stage >= 0; stage--)
        for (int64_t chunk = 0; chunk < options.chunks; chunk++)
            sent += stage_run(BACK, &sweep, direction, stage, chunk, &solver.leaving[sent]);
    began_s = bench_now_s();
    MPI_Waitall(sent, solver.leaving, MPI_STATUSES_IGNORE);
    for (int way = 0; way < WAYS && !solver.is_silent; way++) /* those from nobody */
        MPI_Waitall(solver.ranks * (int)options.chunks, solver.arriving[way], MPI_STATUSES_IGNORE);
    solver.comm_s += bench_now_s() - began_s;
}

/* Lines along x lie in one block. They are turned, so that lanes lie side by side. */
static void plane_turn(double *restrict ours, double *restrict theirs, bool is_back)
{
    enum { TILE = 8 };
    int64_t n = options.size, m = solver.part;
    for (int64_t from = 0; from < n; from += TILE)
        for (int64_t y = 0; y < m; y++)
            for (int64_t x = from; x < n && x < from + TILE; x++)
                if (is_back)
                    theirs[y * n + x] = ours[x * m + y];
                else
                    ours[x * m + y] = theirs[y * n + x];
}

static void values_turn(struct block *block, int64_t z, bool is_back)
{
    for (int f = 0; f < FIELDS; f++)
        plane_turn(solver.scratch.values[f], block->delta[f] + at(0, 0, z), is_back);
}

static void sweep_x(void)
{
    for (int i = 0; i < solver.ranks; i++)
        for (int64_t z = 0; z < solver.part; z++) {
            values_turn(&solver.blocks[i], z, false);
            plane_turn(solver.scratch_factor, solver.blocks[i].factor + at(0, 0, z), false);
            bench_penta_eliminate(&solver.scratch, solver.zeros, NULL);
            bench_penta_substitute(&solver.scratch, solver.zeros, NULL);
            values_turn(&solver.blocks[i], z, true);
        }
}

static void delta_add(struct block *block)
{
    for (int f = 0; f < FIELDS; f++)
        for (int64_t z = 0; z < solver.part; z++)
            for (int64_t y = 0; y < solver.part; y++) {
                double *restrict u = block->field[f] + field_at(0, y, z);
                const double *restrict delta = block->delta[f] + at(0, y, z);
                for (int64_t x = 0; x < options.size; x++) {
                    u[x] += delta[x];
                    solver.change = fmax(solver.change, fabs(delta[x]));
                }
            }
}

static void step_run(void *unused)
{
    (void)unused;
    solver.comm_s = solver.change = 0.0;
    explicit_run();
    sweep_x();
    sweep_run(0);
    sweep_run(1);
    for (int i = 0; i < solver.ranks; i++)
        delta_add(&solver.blocks[i]);
}

/* ---- start and answer ------------------------------------------------------------------------ */

/* Of zeros, until the end. */
static void *memory_take(size_t bytes)
{
    void *piece = bench_pieces_take(&solver.pieces, bytes);
    return memset(piece, 0, bytes);
}

static double *doubles(int64_t count) { return memory_take((size_t)count * sizeof(double)); }

static void block_make(struct block *block, int64_t in_y)
{
    int64_t m = solver.part, points = m * m * options.size;
    block->parts[0] = in_y;
    block->parts[1] = (solver.rank + in_y) % solver.ranks;
    for (int d = 0; d < 2; d++) {
        block->first[d] = block->parts[d] * m;
        block->upper[d] = doubles(points);
    }
    block->factor = doubles(points);
    for (int f = 0; f < FIELDS; f++) {
        block->field[f] = doubles(field_row() * (m + 2 * HALO) * (m + 2 * HALO));
        block->delta[f] = doubles(points);
        block->force[f] = doubles(points);
    }
    for (int side = 0; side < SIDES; side++) {
        block->face_in[side] = doubles(face_doubles());
        block->face_out[side] = doubles(face_doubles());
    }
    block_fill(block);
}

static void scratch_make(void)
{
    int64_t points = solver.part * options.size;
    solver.scratch_factor = doubles(points);
    solver.scratch = (struct bench_penta){.rows = options.size,
                                          .lanes = solver.part,
                                          .stride = solver.part,
                                          .scale = solver.scale,
                                          .factor = solver.scratch_factor,
                                          .upper = {doubles(points), doubles(points)}};
    for (int f = 0; f < FIELDS; f++)
        solver.scratch.values[f] = doubles(points);
}

static void solver_make(const struct bench *bench)
{
    solver.rank = bench->rank;
    solver.ranks = bench->ranks;
    solver.part = options.size / bench->ranks;
    solver.h = 1.0 / (double)(options.size + 1);
    solver.scale = time_step / (12.0 * solver.h * solver.h);
    solver.blocks = memory_take((size_t)bench->ranks * sizeof *solver.blocks);
    for (int i = 0; i < bench->ranks; i++)
        block_make(&solver.blocks[i], i);
    scratch_make();
    size_t requests = (size_t)(bench->ranks * options.chunks);
    solver.zeros = doubles(carry_doubles(FORTH));
    solver.leaving = memory_take(WAYS * requests * sizeof(MPI_Request));
    for (int way = 0; way < WAYS; way++) {
        int64_t carried = bench->ranks * solver.part * carry_doubles(way);
        solver.carry_in[way] = doubles(carried);
        solver.carry_out[way] = doubles(carried);
        solver.arriving[way] = memory_take(requests * sizeof(MPI_Request));
    }
}

/* How far a block is from the steady state at most. */
static double block_error(const struct block *block)
{
    double error = 0.0, place[3];
    for (int64_t z = 0; z < solver.part; z++)
        for (int64_t y = 0; y < solver.part; y++)
            for (int64_t x = 0; x < options.size; x++) {
                place_of(block, x, y, z, place);
                for (int f = 0; f < FIELDS; f++)
                    error =
                        fmax(error, fabs(block->field[f][field_at(x, y, z)] - bench_heat_steady(f, place)));
            }
    return error;
}

/* A sum over rows along x, which no rank divides. */
static uint64_t block_digest(const struct block *block)
{
    uint64_t sum = 0;
    for (int f = 0; f < FIELDS; f++)
        for (int64_t z = 0; z < solver.part; z++)
            for (int64_t y = 0; y < solver.part; y++) {
                uint64_t place =
                    (uint64_t)(((block->first[1] + z) * options.size + block->first[0] + y) * FIELDS + f);
                sum += (2 * place + 1) * bench_digest(block->field[f] + field_at(0, y, z),
                                                      (size_t)options.size * sizeof(double));
            }
    return sum;
}

/* The answer: bits of all fields, what the last step changed at most, and how far the steady state is, now
 * and at the start. Collective. */
static void answer_write(struct bench_json *json)
{
    uint64_t digest = 0, sum = 0;
    double mine[2] = {0.0, solver.change}, all[2];
    for (int i = 0; i < solver.ranks; i++) {
        digest += block_digest(&solver.blocks[i]);
        mine[0] = fmax(mine[0], block_error(&solver.blocks[i]));
    }
    MPI_Reduce(&digest, &sum, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(mine, all, 2, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    bench_json_number(json, "start_error", bump_height);
    bench_json_number(json, "error", all[0]);
    bench_json_number(json, "change", all[1]);
    bench_json_hex(json, "digest", sum);
}

/* What a rank sends in a step; the same for each. */
static int64_t step_bytes(void)
{
    int64_t carried = 2 * solver.part * (carry_doubles(FORTH) + carry_doubles(BACK));
    return (solver.ranks - 1) * (SIDES * face_doubles() + carried) * (int64_t)sizeof(double);
}

/* Steps follow upon one another: neighbours keep one another in step. Returns what the timed ones took. */
static double steps_run(struct bench_phases *phases)
{
    double start_s = 0.0;
    for (int64_t i = -options.warmup; i < options.steps; i++) {
        if (i == 0) {
            MPI_Barrier(MPI_COMM_WORLD);
            start_s = bench_now_s();
        }
        struct bench_step step = bench_step_begin();
        step_run(NULL);
        bench_step_end(phases, i, step, solver.comm_s);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    return bench_now_s() - start_s;
}

static void options_check(const struct bench *bench)
{
    int64_t part = options.size / bench->ranks;
    if (options.size > 1024 || options.size % bench->ranks != 0 || part < 2 * HALO)
        bench_refuse(bench,
                     "--size is at most 1024, and leaves each rank the same number of points, 4 at least");
    if (options.chunks < 1 || part % options.chunks != 0)
        bench_refuse(bench, "--chunks divides the points of a rank");
    if (options.steps < 1)
        bench_refuse(bench, "--steps is at least 1");
}

int main(int argc, char **argv)
{
    const struct bench_option table[] = {
        {"size", BENCH_INTEGER, &options.size, "points of the whole box in each direction"},
        {"chunks", BENCH_INTEGER, &options.chunks, "messages of a block in each way of a sweep"},
        {"steps", BENCH_INTEGER, &options.steps, "timed steps"},
        {"warmup", BENCH_INTEGER, &options.warmup, "untimed steps before them"},
        {0},
    };
    struct bench bench;
    bench_start(&bench, "adi", argc, argv, table);
    options_check(&bench);
    solver_make(&bench);
    struct bench_json json;
    bench_json_begin(&json, &bench);
    bench_json_integer(&json, "size", options.size);
    bench_json_integer(&json, "chunks", options.chunks);
    bench_json_integer(&json, "steps", options.steps);
    bench_json_integer(&json, "bytes", step_bytes());
    struct bench_phases phases;
    bench_steps_init(&phases, (int)options.steps);
    bench_json_number(&json, "wall_s", steps_run(&phases));
    answer_write(&json);
    solver.is_silent = true; /* after the answer */
    bench_alone_measure(&json, "compute", "compute_alone_s", 0, ALONE_SAMPLES, step_run, NULL);
    bench_json_phases(&json, &phases);
    bench_json_end(&json);
    bench_phases_free(&phases);
    bench_pieces_free(&solver.pieces);
    bench_finish(&bench);
    return 0;
}
