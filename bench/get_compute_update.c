/* SPDX-License-Identifier: BSD-3-Clause */
/* Claim: an application of the get-compute-update kind does not lose its time to targets that compute
 * (papers/002 section 8, NWChem on Global Arrays).
 *
 * C = A B, the three matrices spread in patches over the ranks, a window each. Every rank draws tasks from
 * one shared counter (NXTASK, one MPI_Fetch_and_op), gets a tile of A and one of B, multiplies them, and
 * accumulates the product into a tile of C. Tiles are strided in their owner's patch, and owners compute
 * meanwhile. Closing a sweep is a flush of everything and a barrier (GA_SYNC). Entries are small integers, so
 * that the sums are exact in any order: a lost or doubled update shows, and ends the program with status 1.
 */
#include "common/bench.h"

#include <stdlib.h>
#include <string.h>

static struct {
    int64_t order, tile, iterations, warmup;
    bool is_beside;
} options = {.order = 1152, .tile = 192, .iterations = 3, .warmup = 1};

enum { A, B, C, MATRICES };
enum { COUNTER, GET, COMPUTE, UPDATE, SYNC, CPU, TOTAL, PHASES };
static const char *const phase_names[PHASES] = {"counter_s", "get_s", "compute_s", "update_s",
                                                "sync_s",    "cpu_s", "total_s"};

/* Of the multiplications alone so many are spared. */
enum { SPARED = 4 };

struct matrices {
    int side[2];        /* ranks in each direction of the grid of patches */
    int64_t rows, cols; /* of a patch */
    int64_t tiles;      /* in each direction of a matrix */
    MPI_Datatype tile;  /* in its owner's patch */
    double *patch[MATRICES];
    MPI_Win win[MATRICES];
    int64_t *next_task; /* of rank 0: what the counter's window holds */
    MPI_Win counter;
    double *buffer[MATRICES]; /* one tile each, contiguous */
    int64_t drawn;            /* tasks of this rank in the last sweep */
};

static double entry(int matrix, int64_t row, int64_t column)
{
    return (double)((row * 7 + column * 13 + matrix * 5) % 11 - 5);
}

/* Collective: a window on PATCH bytes of every rank, open for everybody until the end. */
static void *window_make(MPI_Aint bytes, int unit, MPI_Win *win)
{
    void *base;
    MPI_Win_allocate(bytes, unit, MPI_INFO_NULL, MPI_COMM_WORLD, &base, win);
    MPI_Win_lock_all(0, *win);
    return base;
}

static void matrices_make(struct matrices *m, const struct bench *bench)
{
    MPI_Dims_create(bench->ranks, 2, m->side);
    m->tiles = options.order / options.tile;
    if (options.tile % 4 || options.order % options.tile || m->tiles % m->side[0] || m->tiles % m->side[1])
        bench_refuse(bench,
                     "--tile must be a multiple of 4, and a matrix must divide into %d x %d patches of tiles",
                     m->side[0], m->side[1]);
    m->rows = options.order / m->side[0];
    m->cols = options.order / m->side[1];
    MPI_Type_vector((int)options.tile, (int)options.tile, (int)m->cols, MPI_DOUBLE, &m->tile);
    MPI_Type_commit(&m->tile);
    m->next_task =
        window_make(bench->rank == 0 ? sizeof *m->next_task : 0, sizeof *m->next_task, &m->counter);
    int64_t row = bench->rank / m->side[1] * m->rows, column = bench->rank % m->side[1] * m->cols;
    for (int i = 0; i < MATRICES; i++) {
        m->buffer[i] = bench_allocate((size_t)(options.tile * options.tile) * sizeof(double));
        m->patch[i] =
            window_make((MPI_Aint)(m->rows * m->cols) * (MPI_Aint)sizeof(double), sizeof(double), &m->win[i]);
        for (int64_t r = 0; r < m->rows; r++)
            for (int64_t c = 0; c < m->cols; c++)
                m->patch[i][r * m->cols + c] = entry(i, row + r, column + c);
        MPI_Win_sync(m->win[i]);
    }
}

static void matrices_free(struct matrices *m)
{
    for (int i = 0; i < MATRICES; i++) {
        free(m->buffer[i]);
        MPI_Win_unlock_all(m->win[i]);
        MPI_Win_free(&m->win[i]);
    }
    MPI_Win_unlock_all(m->counter);
    MPI_Win_free(&m->counter);
    MPI_Type_free(&m->tile);
}

/* Where the tile (ROW, COLUMN) lies: the rank, and the displacement there. */
static int tile_owner(const struct matrices *m, int64_t row, int64_t column, MPI_Aint *at)
{
    int64_t first_row = row * options.tile, first_column = column * options.tile;
    *at = (MPI_Aint)(first_row % m->rows * m->cols + first_column % m->cols);
    return (int)(first_row / m->rows * m->side[1] + first_column / m->cols);
}

/* C = A B for tiles of SIDE x SIDE. Four rows by four columns at a time, whose sums stay in registers. */
static __attribute__((noinline)) void multiply(double *restrict c, const double *restrict a,
                                               const double *restrict b, int64_t side)
{
    typedef double two __attribute__((vector_size(16)));
    for (int64_t j = 0; j < side; j += 4)
        for (int64_t i = 0; i < side; i += 4) {
            two sum[4][2] = {0};
            for (int64_t k = 0; k < side; k++) {
                two left, right;
                memcpy(&left, &b[k * side + j], sizeof left);
                memcpy(&right, &b[k * side + j + 2], sizeof right);
                for (int row = 0; row < 4; row++) {
                    double factor = a[(i + row) * side + k];
                    sum[row][0] += factor * left;
                    sum[row][1] += factor * right;
                }
            }
            for (int row = 0; row < 4; row++)
                memcpy(&c[(i + row) * side + j], sum[row], sizeof sum[row]);
        }
}

static int64_t next_task(const struct matrices *m)
{
    int64_t one = 1, task;
    MPI_Fetch_and_op(&one, &task, MPI_INT64_T, 0, 0, MPI_SUM, m->counter);
    MPI_Win_flush(0, m->counter);
    return task;
}

static void tiles_get(const struct matrices *m, const int64_t place[MATRICES][2])
{
    int owner[2], count = (int)(options.tile * options.tile);
    for (int i = A; i <= B; i++) {
        MPI_Aint at;
        owner[i] = tile_owner(m, place[i][0], place[i][1], &at);
        MPI_Get(m->buffer[i], count, MPI_DOUBLE, owner[i], at, 1, m->tile, m->win[i]);
    }
    for (int i = A; i <= B; i++)
        MPI_Win_flush_local(owner[i], m->win[i]);
}

static void tile_update(const struct matrices *m, const int64_t place[2])
{
    MPI_Aint at;
    int owner = tile_owner(m, place[0], place[1], &at);
    MPI_Accumulate(m->buffer[C], (int)(options.tile * options.tile), MPI_DOUBLE, owner, at, 1, m->tile,
                   MPI_SUM, m->win[C]);
    MPI_Win_flush_local(owner, m->win[C]);
}

/* Nobody is in a sweep: C and the counter back to 0. */
static void sweep_prepare(const struct matrices *m, const struct bench *bench)
{
    memset(m->patch[C], 0, (size_t)(m->rows * m->cols) * sizeof(double));
    if (bench->rank == 0)
        *m->next_task = 0;
    MPI_Win_sync(m->win[C]);
    MPI_Win_sync(m->counter);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* One C = A B; seconds of each phase of this rank into TAKEN. */
static void sweep(struct matrices *m, double *taken)
{
    int64_t plane = m->tiles * m->tiles;
    double start_s = bench_now_s(), start_cpu_s = bench_process_cpu_s(), now_s = start_s;
    memset(taken, 0, PHASES * sizeof *taken);
    for (m->drawn = 0;; m->drawn++) {
        double marks[UPDATE + 1];
        int64_t task = next_task(m);
        marks[COUNTER] = bench_now_s();
        taken[COUNTER] += marks[COUNTER] - now_s;
        if (task >= plane * m->tiles)
            break;
        int64_t row = task % plane / m->tiles, column = task % m->tiles, between = task / plane;
        tiles_get(m, (int64_t[MATRICES][2]){{row, between}, {between, column}});
        marks[GET] = bench_now_s();
        multiply(m->buffer[C], m->buffer[A], m->buffer[B], options.tile);
        marks[COMPUTE] = bench_now_s();
        tile_update(m, (int64_t[2]){row, column});
        now_s = marks[UPDATE] = bench_now_s();
        for (int i = GET; i <= UPDATE; i++)
            taken[i] += marks[i] - marks[i - 1];
    }
    now_s = bench_now_s();
    MPI_Win_flush_all(m->win[C]);
    MPI_Barrier(MPI_COMM_WORLD);
    double end_s = bench_now_s();
    taken[SYNC] = end_s - now_s;
    taken[CPU] = bench_process_cpu_s() - start_cpu_s;
    taken[TOTAL] = end_s - start_s;
}

/* The digest of C, the same in whatever order its entries are taken; 0 where it is not A B. */
static uint64_t product_digest(const struct matrices *m, const struct bench *bench)
{
    int64_t row = bench->rank / m->side[1] * m->rows, column = bench->rank % m->side[1] * m->cols;
    uint64_t mine[3] = {0}, all[3];
    MPI_Win_sync(m->win[C]);
    for (int64_t r = 0; r < m->rows; r++)
        for (int64_t c = 0; c < m->cols; c++) {
            int64_t value = (int64_t)m->patch[C][r * m->cols + c];
            int64_t place[3] = {row + r, column + c, value};
            mine[0] += bench_digest(place, sizeof place);
            mine[1] += (uint64_t)value;
        }
    /* The sum of A B is that of the products of A's column sums and B's row sums. */
    for (int64_t k = bench->rank; k < options.order; k += bench->ranks) {
        int64_t of_a = 0, of_b = 0;
        for (int64_t i = 0; i < options.order; i++) {
            of_a += (int64_t)entry(A, i, k);
            of_b += (int64_t)entry(B, k, i);
        }
        mine[2] += (uint64_t)(of_a * of_b);
    }
    MPI_Allreduce(mine, all, 3, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    return all[1] == all[2] ? all[0] : 0;
}

/* One in SPARED of the multiplications of a product, if each rank does as many. */
static void multiplications_run(void *matrices)
{
    const struct matrices *m = matrices;
    int64_t tasks = m->tiles * m->tiles * m->tiles, ranks = m->side[0] * m->side[1];
    for (int64_t done = 0; done < tasks; done += ranks * SPARED)
        multiply(m->buffer[C], m->buffer[A], m->buffer[B], options.tile);
}

static uint64_t sweeps_measure(struct matrices *m, const struct bench *bench, struct bench_json *json)
{
    struct bench_phases phases;
    uint64_t digest = 0;
    bench_phases_init(&phases, PHASES, phase_names, (int)options.iterations, options.is_beside);
    for (int64_t i = -options.warmup; i < options.iterations; i++) {
        double taken[PHASES], alone_s = 0;
        if (options.is_beside)
            alone_s = bench_alone_now(multiplications_run, m) * SPARED;
        sweep_prepare(m, bench);
        sweep(m, taken);
        uint64_t found = product_digest(m, bench);
        digest = i == -options.warmup || found == digest ? found : 0;
        if (digest == 0)
            break;
        if (i >= 0)
            bench_phases_record(&phases, i, taken);
        if (i >= 0 && options.is_beside)
            phases.alone[i] = alone_s;
    }
    int64_t least, most;
    MPI_Reduce(&m->drawn, &least, 1, MPI_INT64_T, MPI_MIN, 0, MPI_COMM_WORLD);
    MPI_Reduce(&m->drawn, &most, 1, MPI_INT64_T, MPI_MAX, 0, MPI_COMM_WORLD);
    bench_json_integer(json, "least_tasks", least);
    bench_json_integer(json, "most_tasks", most);
    bench_json_phases(json, &phases);
    bench_phases_free(&phases);
    return digest;
}

int main(int argc, char **argv)
{
    const struct bench_option table[] = {
        {"order", BENCH_INTEGER, &options.order, "rows and columns of the matrices"},
        {"tile", BENCH_INTEGER, &options.tile, "rows and columns of a task's tiles"},
        {"iterations", BENCH_INTEGER, &options.iterations, "timed products"},
        {"warmup", BENCH_INTEGER, &options.warmup, "untimed products"},
        BENCH_BESIDE_OPTION(&options.is_beside),
        {0},
    };
    struct bench bench;
    struct bench_json json;
    struct matrices matrices = {0};
    bench_start(&bench, "get_compute_update", argc, argv, table);
    if (options.order < 1 || options.tile < 1 || options.iterations < 1)
        bench_refuse(&bench, "--order, --tile and --iterations must be 1 or more");
    matrices_make(&matrices, &bench);
    bench_json_begin(&json, &bench);
    bench_json_integer(&json, "order", options.order);
    bench_json_integer(&json, "tile", options.tile);
    bench_json_integer(&json, "tasks", matrices.tiles * matrices.tiles * matrices.tiles);
    uint64_t digest = sweeps_measure(&matrices, &bench, &json);
    bench_json_hex(&json, "digest", digest);
    bench_json_end(&json);
    matrices_free(&matrices);
    if (digest == 0 && bench.rank == 0)
        fprintf(stderr, "get_compute_update: the product is wrong: an update was lost or made twice\n");
    bench_finish(&bench);
    return digest == 0;
}
