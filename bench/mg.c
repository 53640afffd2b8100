/* SPDX-License-Identifier: BSD-3-Clause */
/* Claim: a multigrid solver whose halos are derived datatypes communicates in less time, and its answer stays
 * the same (papers/004 figure 2, after NAS MG).
 *
 * Poisson's equation around a grounded sphere in a periodic box of charges: V-cycles over cell-centred grids,
 * seven-point operator, damped Jacobi, averaging and trilinear interpolation. Ranks divide the box in up to
 * three directions. Before each use of neighbours the whole halo of a level is exchanged, direction after
 * direction, so that corners come along; a direction with one rank wraps around locally, unless --self.
 *
 * --layout arrays has one array for each field and exchanges one of them: faces are subarrays of
 * doubles. --layout cells has an array of structs and exchanges whole cells, as MPI_Type_create_struct
 * describes them. OpenMP threads compute; MPI is called between parallel regions, or in `single` of one that
 * lasts a whole cycle. */
#include "common/bench.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum {
    DIMENSIONS = 3,
    LEVELS_MAX = 16,
    SWEEPS = 2,
    COARSEST_SWEEPS = 16,
    COARSEST_CELLS = 2,
    COARSEST_SIZE = 8,
    PACK_SAMPLES = 5,
    WORTH_THREADS = 4096
};

static struct {
    int64_t size, cycles, warmup, threads;
    const char *place, *layout, *split;
    bool is_single, has_cells, has_self;
} options = {64, 20, 10, 2, "between", "cells", "xyz", false, false, false};

struct cell {
    double potential;
    int32_t is_grounded;
    double residual, charge;
};

/* Direction 0 is the one in which memory is consecutive. Fields are reached by a step, in doubles or ints,
 * from one cell to the next: 1, or the size of a cell. */
struct level {
    int cells[DIMENSIONS];   /* of this rank, without the halo */
    int64_t row, plane, all; /* cells in a row, a plane and all of it, with the halo */
    double h;                /* distance between cells */
    double *potential, *residual, *charge;
    int32_t *is_grounded;
    int step, int_step;
    void *memory[4];                                    /* to be freed */
    MPI_Datatype out[DIMENSIONS][2], in[DIMENSIONS][2]; /* faces, on both sides */
    int64_t exchanges;                                  /* of one direction */
};

static struct {
    MPI_Comm grid;
    int ranks[DIMENSIONS], place[DIMENSIONS];
    int neighbours[DIMENSIONS][2];
    int split_count; /* directions with messages */
    int level_count;
    struct level levels[LEVELS_MAX];
    double *plane_sums;
    double comm_s; /* of this cycle, in MPI */
    double norm;
} solver;

static bool is_exchanged(int d) { return solver.ranks[d] > 1 || options.has_self; }

static int64_t at(const struct level *level, int64_t x, int64_t y, int64_t z)
{
    return z * level->plane + y * level->row + x;
}

/* ---- halos ----------------------------------------------------------------------------------- */

/* Cells first..first+counts of an array with halos, as a datatype. */
static MPI_Datatype face_make(const struct level *level, MPI_Datatype element, const int first[DIMENSIONS],
                              const int counts[DIMENSIONS])
{
    const int sizes[] = {level->cells[2] + 2, level->cells[1] + 2, level->cells[0] + 2};
    const int part[] = {counts[2], counts[1], counts[0]}, from[] = {first[2], first[1], first[0]};
    MPI_Datatype type;
    MPI_Type_create_subarray(DIMENSIONS, sizes, part, from, MPI_ORDER_C, element, &type);
    MPI_Type_commit(&type);
    return type;
}

/* Directions that were exchanged before bring their halo along. */
static void faces_make(struct level *level, MPI_Datatype element)
{
    for (int d = 0; d < DIMENSIONS; d++) {
        int first[DIMENSIONS], counts[DIMENSIONS], last = level->cells[d];
        for (int other = 0; other < DIMENSIONS; other++) {
            first[other] = other < d ? 0 : 1;
            counts[other] = other < d ? level->cells[other] + 2 : level->cells[other];
        }
        const int out[2] = {1, last}, in[2] = {0, last + 1};
        counts[d] = 1;
        for (int side = 0; side < 2; side++) {
            first[d] = out[side];
            level->out[d][side] = face_make(level, element, first, counts);
            first[d] = in[side];
            level->in[d][side] = face_make(level, element, first, counts);
        }
    }
}

/* By one thread, outside of regions or in `single`. */
static void direction_exchange(struct level *level, int d)
{
    MPI_Request requests[4];
    double began_s = bench_now_s();
    for (int side = 0; side < 2; side++)
        MPI_Irecv(level->potential, 1, level->in[d][side], solver.neighbours[d][side], 1 - side, solver.grid,
                  &requests[side]);
    for (int side = 0; side < 2; side++)
        MPI_Isend(level->potential, 1, level->out[d][side], solver.neighbours[d][side], side, solver.grid,
                  &requests[2 + side]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    solver.comm_s += bench_now_s() - began_s;
    level->exchanges++;
}

/* The one rank of a direction is its own neighbour. */
static void direction_wrap(struct level *level, int d)
{
    int from[DIMENSIONS], to[DIMENSIONS], n = level->cells[d];
    double *u = level->potential;
    for (int other = 0; other < DIMENSIONS; other++) {
        from[other] = other < d ? 0 : 1;
        to[other] = other < d ? level->cells[other] + 1 : level->cells[other];
    }
    int a = d == 0 ? 1 : 0, b = d == 2 ? 1 : 2;
    int64_t strides[DIMENSIONS] = {1, level->row, level->plane};
#pragma omp for
    for (int j = from[b]; j <= to[b]; j++)
        for (int i = from[a]; i <= to[a]; i++) {
            int64_t start = j * strides[b] + i * strides[a];
            u[start * level->step] = u[(start + n * strides[d]) * level->step];
            u[(start + (n + 1) * strides[d]) * level->step] = u[(start + strides[d]) * level->step];
        }
}

static void halo_exchange(struct level *level)
{
    for (int d = 0; d < DIMENSIONS; d++) {
        if (!is_exchanged(d)) {
            direction_wrap(level, d);
        } else {
#pragma omp single
            direction_exchange(level, d);
        }
    }
}

/* ---- numerics: each shared by the threads that call it -------------------------------------------- */

static void residual_kernel(struct level *level)
{
    const double *u = level->potential;
    int64_t s = level->step, row = level->row * s, plane = level->plane * s;
    double scale = 1.0 / (level->h * level->h);
#pragma omp for
    for (int z = 1; z <= level->cells[2]; z++)
        for (int y = 1; y <= level->cells[1]; y++)
            for (int x = 1; x <= level->cells[0]; x++) {
                int64_t cell = at(level, x, y, z), i = cell * s;
                double around = u[i - s] + u[i + s] + u[i - row] + u[i + row] + u[i - plane] + u[i + plane];
                level->residual[i] = level->is_grounded[cell * level->int_step]
                                         ? 0.0
                                         : level->charge[i] - scale * (6.0 * u[i] - around);
            }
}

static void correct_kernel(struct level *level)
{
    const double weight = 6.0 / 7.0 / 6.0 * level->h * level->h;
    int64_t s = level->step;
#pragma omp for
    for (int z = 1; z <= level->cells[2]; z++)
        for (int y = 1; y <= level->cells[1]; y++)
            for (int x = 1; x <= level->cells[0]; x++) {
                int64_t i = at(level, x, y, z) * s;
                level->potential[i] += weight * level->residual[i];
            }
}

/* The coarse grid's charge is the mean residual of the eight cells in each of its own. */
static void restrict_kernel(struct level *fine)
{
    struct level *coarse = fine + 1;
    int64_t s = fine->step, row = fine->row * s, plane = fine->plane * s;
#pragma omp for
    for (int z = 1; z <= coarse->cells[2]; z++)
        for (int y = 1; y <= coarse->cells[1]; y++)
            for (int x = 1; x <= coarse->cells[0]; x++) {
                const double *r = fine->residual + at(fine, 2 * x - 1, 2 * y - 1, 2 * z - 1) * s;
                double low = (r[0] + r[s]) + (r[row] + r[row + s]);
                double high = (r[plane] + r[plane + s]) + (r[plane + row] + r[plane + row + s]);
                int64_t i = at(coarse, x, y, z) * coarse->step;
                coarse->charge[i] = (low + high) / 8.0;
                coarse->potential[i] = 0.0;
            }
}

/* Three quarters from the cell around, one from its neighbour, in each direction. */
static double interpolated(const double *u, int64_t dx, int64_t dy, int64_t dz)
{
    double here = 9.0 * (3.0 * u[0] + u[dx]) + 3.0 * (3.0 * u[dy] + u[dy + dx]);
    double there = 3.0 * (3.0 * u[dz] + u[dz + dx]) + (3.0 * u[dz + dy] + u[dz + dy + dx]);
    return (here + there) / 64.0;
}

static void interpolate_kernel(struct level *fine)
{
    const struct level *coarse = fine + 1;
    int64_t s = coarse->step;
#pragma omp for
    for (int z = 1; z <= fine->cells[2]; z++)
        for (int y = 1; y <= fine->cells[1]; y++)
            for (int x = 1; x <= fine->cells[0]; x++) {
                int64_t cell = at(fine, x, y, z);
                const double *u = coarse->potential + at(coarse, (x + 1) / 2, (y + 1) / 2, (z + 1) / 2) * s;
                if (!fine->is_grounded[cell * fine->int_step])
                    fine->potential[cell * fine->step] += interpolated(
                        u, x % 2 ? -s : s, (y % 2 ? -s : s) * coarse->row, (z % 2 ? -s : s) * coarse->plane);
            }
}

/* A sum for each plane, so that the answer does not depend on which thread has which. */
static void square_kernel(struct level *level)
{
#pragma omp for
    for (int z = 1; z <= level->cells[2]; z++) {
        double sum = 0.0;
        for (int y = 1; y <= level->cells[1]; y++)
            for (int x = 1; x <= level->cells[0]; x++) {
                double r = level->residual[at(level, x, y, z) * level->step];
                sum += r * r;
            }
        solver.plane_sums[z - 1] = sum;
    }
}

/* By all threads of the region that lasts, or by those of one of its own. */
static void run(void kernel(struct level *), struct level *level)
{
    if (options.is_single) {
        kernel(level);
    } else {
#pragma omp parallel if (level->all >= WORTH_THREADS)
        kernel(level);
    }
}

static void residual_find(struct level *level)
{
    halo_exchange(level);
    run(residual_kernel, level);
}

static void smooth(struct level *level, int64_t sweeps)
{
    for (int64_t i = 0; i < sweeps; i++) {
        residual_find(level);
        run(correct_kernel, level);
    }
}

static void descend(struct level *level)
{
    if (level == &solver.levels[solver.level_count - 1]) {
        smooth(level, COARSEST_SWEEPS);
        return;
    }
    smooth(level, SWEEPS);
    residual_find(level);
    run(restrict_kernel, level);
    descend(level + 1);
    halo_exchange(level + 1);
    run(interpolate_kernel, level);
    smooth(level, SWEEPS);
}

/* By one thread. */
static void norm_find(void)
{
    double sum = 0.0, all;
    for (int z = 0; z < solver.levels[0].cells[2]; z++)
        sum += solver.plane_sums[z];
    double began_s = bench_now_s();
    MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, solver.grid);
    solver.comm_s += bench_now_s() - began_s;
    solver.norm = sqrt(all / pow((double)options.size, DIMENSIONS));
}

static void cycle_run(void)
{
    descend(solver.levels);
    residual_find(solver.levels);
    run(square_kernel, solver.levels);
#pragma omp single
    norm_find();
}

static void cycle(void)
{
    solver.comm_s = 0.0;
    if (options.is_single) {
#pragma omp parallel
        cycle_run();
    } else {
        cycle_run();
    }
}

/* ---- start ----------------------------------------------------------------------------------- */

static void fields_make(struct level *level)
{
    size_t all = (size_t)level->all;
    if (options.has_cells) {
        struct cell *cells = level->memory[0] = bench_allocate(all * sizeof *cells);
        memset(cells, 0, all * sizeof *cells);
        level->potential = &cells->potential;
        level->residual = &cells->residual;
        level->charge = &cells->charge;
        level->is_grounded = &cells->is_grounded;
        level->step = sizeof(struct cell) / sizeof(double);
        level->int_step = sizeof(struct cell) / sizeof(int32_t);
        return;
    }
    double **fields[] = {&level->potential, &level->residual, &level->charge};
    for (int i = 0; i < 3; i++) {
        *fields[i] = level->memory[i] = bench_allocate(all * sizeof(double));
        memset(*fields[i], 0, all * sizeof(double));
    }
    level->is_grounded = level->memory[3] = bench_allocate(all * sizeof(int32_t));
    memset(level->is_grounded, 0, all * sizeof(int32_t));
    level->step = level->int_step = 1;
}

/* What depends on the place in the whole box, so that it does not depend on the ranks. */
static void fields_fill(struct level *level, int depth)
{
    int64_t size = options.size >> depth;
    for (int z = 1; z <= level->cells[2]; z++)
        for (int y = 1; y <= level->cells[1]; y++)
            for (int x = 1; x <= level->cells[0]; x++) {
                const int place[DIMENSIONS] = {x, y, z};
                double squares = 0.0;
                int64_t number = 0;
                for (int d = 0; d < DIMENSIONS; d++) {
                    int64_t global = (int64_t)solver.place[d] * level->cells[d] + place[d] - 1;
                    double from_centre = ((double)global + 0.5) / (double)size - 0.5;
                    squares += from_centre * from_centre;
                    number = number * 1009 + global;
                }
                int64_t cell = at(level, x, y, z);
                bool is_charged = depth == 0 && number % 4099 == 0;
                level->is_grounded[cell * level->int_step] = squares < 1.0 / 64.0;
                level->charge[cell * level->step] = !is_charged ? 0.0 : number % 2 ? 1.0 : -1.0;
            }
}

static MPI_Datatype element_make(void)
{
    static const int lengths[] = {1, 1, 2};
    static const MPI_Aint places[] = {offsetof(struct cell, potential), offsetof(struct cell, is_grounded),
                                      offsetof(struct cell, residual)};
    MPI_Datatype types[] = {MPI_DOUBLE, MPI_INT32_T, MPI_DOUBLE}, fields, cell;
    if (!options.has_cells) {
        MPI_Type_dup(MPI_DOUBLE, &cell);
        return cell;
    }
    MPI_Type_create_struct(3, lengths, places, types, &fields);
    MPI_Type_create_resized(fields, 0, sizeof(struct cell), &cell);
    MPI_Type_free(&fields);
    return cell;
}

static bool level_make(struct level *level, int depth, MPI_Datatype element)
{
    for (int d = 0; d < DIMENSIONS; d++) {
        int64_t cells = (options.size >> depth) / solver.ranks[d];
        if (cells < COARSEST_CELLS || options.size >> depth < COARSEST_SIZE)
            return false;
        level->cells[d] = (int)cells;
    }
    level->row = level->cells[0] + 2;
    level->plane = level->row * (level->cells[1] + 2);
    level->all = level->plane * (level->cells[2] + 2);
    level->h = 1.0 / (double)(options.size >> depth);
    fields_make(level);
    fields_fill(level, depth);
    faces_make(level, element);
    return true;
}

/* The most ranks go to the direction that --split names first. */
static void solver_make(const struct bench *bench)
{
    int counts[DIMENSIONS] = {0}, periodic[DIMENSIONS] = {1, 1, 1};
    MPI_Dims_create(bench->ranks, DIMENSIONS, counts);
    for (int i = 0; i < DIMENSIONS; i++)
        solver.ranks[options.split[i] - 'x'] = counts[i];
    MPI_Cart_create(MPI_COMM_WORLD, DIMENSIONS, solver.ranks, periodic, 0, &solver.grid);
    int me;
    MPI_Comm_rank(solver.grid, &me);
    MPI_Cart_coords(solver.grid, me, DIMENSIONS, solver.place);
    for (int d = 0; d < DIMENSIONS; d++) {
        if ((solver.ranks[d] & (solver.ranks[d] - 1)) != 0 || options.size / solver.ranks[d] < COARSEST_CELLS)
            bench_refuse(bench, "the number of ranks is a power of two that --size leaves two cells each");
        solver.split_count += is_exchanged(d);
        MPI_Cart_shift(solver.grid, d, 1, &solver.neighbours[d][0], &solver.neighbours[d][1]);
    }
    MPI_Datatype element = element_make();
    while (solver.level_count < LEVELS_MAX &&
           level_make(&solver.levels[solver.level_count], solver.level_count, element))
        solver.level_count++;
    MPI_Type_free(&element);
    solver.plane_sums = bench_allocate((size_t)solver.levels[0].cells[2] * sizeof(double));
}

static void solver_free(void)
{
    for (struct level *level = solver.levels; level < solver.levels + solver.level_count; level++) {
        for (int d = 0; d < DIMENSIONS; d++)
            for (int side = 0; side < 2; side++) {
                MPI_Type_free(&level->out[d][side]);
                MPI_Type_free(&level->in[d][side]);
            }
        for (int i = 0; i < 4; i++)
            free(level->memory[i]);
    }
    free(solver.plane_sums);
    MPI_Comm_free(&solver.grid);
}

/* ---- measurement ----------------------------------------------------------------------------- */

/* What this rank sends in one exchange of a level. */
static int64_t exchange_bytes(const struct level *level)
{
    int64_t bytes = 0;
    for (int d = 0; d < DIMENSIONS; d++)
        for (int side = 0; side < 2 && is_exchanged(d); side++) {
            int size;
            MPI_Type_size(level->out[d][side], &size);
            bytes += size;
        }
    return bytes;
}

/* Packing what goes out in one exchange and unpacking as much, by calls for just that. What comes is not what
 * the solver would get: after the answer only. */
static double faces_pack_s(const struct level *level)
{
    int bytes = (int)exchange_bytes(level);
    char *packed = bench_allocate((size_t)bytes);
    double samples[PACK_SAMPLES];
    for (int i = 0; i < PACK_SAMPLES; i++) {
        double began_s = bench_now_s();
        for (int d = 0; d < DIMENSIONS; d++)
            for (int side = 0; side < 2 && is_exchanged(d); side++) {
                int end = 0, position = 0;
                MPI_Pack(level->potential, 1, level->out[d][side], packed, bytes, &end, solver.grid);
                MPI_Unpack(packed, end, &position, level->potential, 1, level->in[d][side], solver.grid);
            }
        samples[i] = bench_now_s() - began_s;
    }
    free(packed);
    return bench_summarize(samples, PACK_SAMPLES).median;
}

/* Of a whole halo, in a cycle. */
static double exchanges_in_cycle(const struct level *level)
{
    int split = solver.split_count > 0 ? solver.split_count : 1;
    return (double)level->exchanges / split / (double)(options.cycles + options.warmup);
}

/* Of all exchanges of a cycle; the mean of the ranks. Collective. */
static double cycle_pack_s(int ranks)
{
    double mine_s = 0.0, all_s;
    for (struct level *level = solver.levels; level < solver.levels + solver.level_count; level++)
        mine_s += faces_pack_s(level) * exchanges_in_cycle(level);
    MPI_Allreduce(&mine_s, &all_s, 1, MPI_DOUBLE, MPI_SUM, solver.grid);
    return all_s / ranks;
}

/* The answer: bits of the residual's norm and of the whole potential. Collective. */
static void answer_write(struct bench_json *json)
{
    const struct level *level = solver.levels;
    uint64_t digest = 0, sum = 0, bits;
    double *row = bench_allocate((size_t)level->cells[0] * sizeof *row);
    for (int z = 1; z <= level->cells[2]; z++)
        for (int y = 1; y <= level->cells[1]; y++) {
            for (int x = 1; x <= level->cells[0]; x++)
                row[x - 1] = level->potential[at(level, x, y, z) * level->step];
            digest = digest * 31 + bench_digest(row, (size_t)level->cells[0] * sizeof *row);
        }
    free(row);
    MPI_Reduce(&digest, &sum, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    memcpy(&bits, &solver.norm, sizeof bits);
    bench_json_number(json, "norm", solver.norm);
    bench_json_hex(json, "norm_bits", bits);
    bench_json_hex(json, "digest", sum);
}

/* Cycles follow upon one another; the norm's sum keeps the ranks in step. Returns what all took. */
static double solve(struct bench_phases *phases)
{
    MPI_Barrier(MPI_COMM_WORLD);
    double start_s = bench_now_s();
    for (int64_t i = -options.warmup; i < options.cycles; i++) {
        struct bench_step step = bench_step_begin();
        cycle();
        bench_step_end(phases, i, step, solver.comm_s);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    return bench_now_s() - start_s;
}

static void options_check(const struct bench *bench)
{
    enum { SIZE_MAX_LOG = 10 };
    options.is_single = strcmp(options.place, "single") == 0;
    options.has_cells = strcmp(options.layout, "cells") == 0;
    if (!options.is_single && strcmp(options.place, "between") != 0)
        bench_refuse(bench, "--place is between or single");
    if (!options.has_cells && strcmp(options.layout, "arrays") != 0)
        bench_refuse(bench, "--layout is arrays or cells");
    int seen = 0;
    for (const char *d = options.split; *d >= 'x' && *d <= 'z'; d++)
        seen |= 1 << (*d - 'x');
    if (seen != (1 << DIMENSIONS) - 1 || strlen(options.split) != DIMENSIONS)
        bench_refuse(bench, "--split is xyz in any order");
    if (options.size < COARSEST_SIZE || options.size > 1 << SIZE_MAX_LOG ||
        (options.size & (options.size - 1)) != 0)
        bench_refuse(bench, "--size is a power of two from 8 to 1024");
    if (options.cycles < 1 || options.threads < 1)
        bench_refuse(bench, "--cycles and --threads are at least 1");
}

static void options_write(struct bench_json *json)
{
    bench_json_integer(json, "size", options.size);
    bench_json_text(json, "layout", options.layout);
    bench_json_text(json, "place", options.place);
    bench_json_integer(json, "threads", options.threads);
}

int main(int argc, char **argv)
{
    const struct bench_option table[] = {
        {"size", BENCH_INTEGER, &options.size, "cells of the whole box in each direction"},
        {"split", BENCH_TEXT, &options.split, "directions, the one with the most ranks first"},
        {"layout", BENCH_TEXT, &options.layout, "of fields: arrays, or cells (structs)"},
        {"place", BENCH_TEXT, &options.place, "of MPI calls: between (parallel regions) or single"},
        {"self", BENCH_FLAG, &options.has_self, "messages, too, of a rank that is its own neighbour"},
        {"threads", BENCH_INTEGER, &options.threads, "OpenMP threads of a rank"},
        {"cycles", BENCH_INTEGER, &options.cycles, "timed V-cycles"},
        {"warmup", BENCH_INTEGER, &options.warmup, "V-cycles before them"},
        {0},
    };
    struct bench bench;
    bench_start(&bench, "mg", argc, argv, table);
    options_check(&bench);
    omp_set_num_threads((int)options.threads);
    solver_make(&bench);
    struct bench_json json;
    bench_json_begin(&json, &bench);
    options_write(&json);
    struct bench_phases phases;
    bench_steps_init(&phases, (int)options.cycles);
    bench_json_number(&json, "wall_s", solve(&phases));
    answer_write(&json);
    bench_json_integer(&json, "bytes", exchange_bytes(solver.levels));
    bench_json_number(&json, "packing_s", cycle_pack_s(bench.ranks));
    bench_json_phases(&json, &phases);
    bench_json_end(&json);
    bench_phases_free(&phases);
    solver_free();
    bench_finish(&bench);
    return 0;
}
