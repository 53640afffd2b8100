/* SPDX-License-Identifier: BSD-3-Clause */
/* Claim: a decomposition whose panels are read one-sidedly from owners that compute takes less time, and its
 * answer stays the same (papers/003 figure 15).
 *
 * A dense matrix is decomposed with partial pivoting, from left to right. Its block columns are dealt to the
 * ranks in turn. The owner of a panel decomposes it, opens it to the others, and updates its other columns
 * while they read it with MPI_Get. All look one panel ahead: a panel is made as soon as its columns are
 * up to date, and read beside the update of all others. --sync gats: the owner opens panels by MPI_Win_post,
 * and readers are in epochs of MPI_Win_start. --sync lock: readers hold a shared lock; a message without
 * content says that the panel is there.
 *
 * Rows of columns to the left of a panel stay where they are: A = P0' L0 P1' L1 ... U. No value depends on
 * how many ranks there are. */
#include "common/dgemm.h"

#include <math.h>
#include <string.h>

/* Fortran's, as every BLAS has it. */
void dtrsm_(const char *side, const char *uplo, const char *transa, const char *diag, const int *m,
            const int *n, const double *alpha, const double *a, const int *lda, double *b, const int *ldb,
            size_t side_length, size_t uplo_length, size_t transa_length, size_t diag_length);

enum sync { GATS, LOCK, SYNCS };
static const char *const sync_names[SYNCS] = {"gats", "lock"};

static struct {
    int64_t size, block, iterations, warmup;
    const char *sync_name;
    enum sync sync;
} options = {768, 64, 5, 2, "gats", GATS};

/* A panel in a window: what is left of its columns from the diagonal on, column after column, then the row
 * that each of its rows was exchanged with. */
static struct {
    int rank, ranks;
    int64_t size, block, count; /* rows; columns of a block; blocks */
    double *columns;            /* of this rank's blocks, whole */
    double *panels;             /* of this rank, in the window */
    double *read[2];            /* panels of others, in turn */
    MPI_Win win;
    MPI_Group others, *each;
    int64_t under_way; /* the panel that is being read, or -1 */
    int64_t expected;  /* the panel whose message is awaited, or -1 */
    MPI_Request notice, *notices;
    double comm_s; /* of this decomposition, in MPI */
} lu;

/* ---- places ---------------------------------------------------------------------------------- */

static int owner_of(int64_t block) { return (int)(block % lu.ranks); }

static bool is_mine(int64_t block) { return owner_of(block) == lu.rank; }

static double *block_at(int64_t block) { return lu.columns + block / lu.ranks * lu.size * lu.block; }

static int64_t panel_rows(int64_t block) { return lu.size - block * lu.block; }

static int64_t panel_doubles(int64_t block) { return (panel_rows(block) + 1) * lu.block; }

/* Where a panel begins in its owner's window; the end of that for the first BLOCK that is not there. */
static int64_t panel_start(int64_t block)
{
    int64_t start = 0;
    for (int64_t before = owner_of(block); before < block; before += lu.ranks)
        start += panel_doubles(before);
    return start;
}

static double *panel_of(int64_t block) { return lu.panels + panel_start(block); }

static double entry_of(int64_t row, int64_t column)
{
    uint64_t value = (uint64_t)(row * 40503 + column * 2654435 + 1) * 0x9e3779b97f4a7c15u;
    value = (value ^ (value >> 31)) * 0xbf58476d1ce4e5b9u;
    return (double)((value ^ (value >> 29)) >> 11) * 0x1p-53 - 0.5;
}

static void matrix_fill(void)
{
    for (int64_t b = lu.rank; b < lu.count; b += lu.ranks)
        for (int64_t c = 0; c < lu.block; c++)
            for (int64_t row = 0; row < lu.size; row++)
                block_at(b)[c * lu.size + row] = entry_of(row, b * lu.block + c);
}

/* ---- computation ----------------------------------------------------------------------------- */

static void rows_exchange(double *columns, int64_t count, int64_t one, int64_t other)
{
    for (int64_t c = 0; c < count; c++) {
        double *column = columns + c * lu.size, kept = column[one];
        column[one] = column[other];
        column[other] = kept;
    }
}

static int64_t pivot_find(const double *column, int64_t row)
{
    int64_t best = row;
    for (int64_t i = row + 1; i < lu.size; i++)
        if (fabs(column[i]) > fabs(column[best]))
            best = i;
    return best;
}

/* Column after column, in place. PIVOTS[i] is what row i of the block was exchanged with. */
static void panel_decompose(int64_t block, double *pivots)
{
    double *columns = block_at(block);
    for (int64_t i = 0; i < lu.block; i++) {
        int64_t row = block * lu.block + i, pivot = pivot_find(columns + i * lu.size, row);
        double *restrict column = columns + i * lu.size;
        pivots[i] = (double)pivot;
        rows_exchange(columns, lu.block, row, pivot);
        for (int64_t r = row + 1; r < lu.size; r++)
            column[r] /= column[row];
        for (int64_t c = i + 1; c < lu.block; c++) {
            double *restrict other = columns + c * lu.size;
            for (int64_t r = row + 1; r < lu.size; r++)
                other[r] -= column[r] * other[row];
        }
    }
}

/* What a panel does to a block to its right. */
static void block_update(int64_t block, int64_t panel, const double *entries)
{
    const double one = 1.0, minus = -1.0;
    double *columns = block_at(block), *from = columns + panel * lu.block;
    int rows = (int)panel_rows(panel), width = (int)lu.block, size = (int)lu.size, below = rows - width;
    const double *pivots = entries + (int64_t)rows * width;
    for (int64_t i = 0; i < width; i++)
        rows_exchange(columns, width, panel * width + i, (int64_t)pivots[i]);
    dtrsm_("L", "L", "N", "U", &width, &width, &one, entries, &rows, from, &size, 1, 1, 1, 1);
    if (below > 0)
        dgemm_("N", "N", &below, &width, &width, &minus, entries + width, &rows, from, &size, &one,
               from + width, &size, 1, 1);
}

/* ---- panels: their owner --------------------------------------------------------------------- */

static void panel_copy(int64_t block, const double *pivots)
{
    int64_t rows = panel_rows(block);
    double *to = panel_of(block);
    for (int64_t c = 0; c < lu.block; c++)
        memcpy(to + c * rows, block_at(block) + c * lu.size + block * lu.block, (size_t)rows * sizeof *to);
    memcpy(to + rows * lu.block, pivots, (size_t)lu.block * sizeof *to);
}

/* Opens a panel to the others. */
static void panel_open(int64_t block, const double *pivots)
{
    double began_s = bench_now_s();
    if (options.sync == LOCK)
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, lu.rank, 0, lu.win);
    panel_copy(block, pivots);
    if (options.sync == LOCK) {
        MPI_Win_unlock(lu.rank, lu.win);
        for (int other = 0; other < lu.ranks; other++)
            MPI_Isend(NULL, 0, MPI_BYTE, other == lu.rank ? MPI_PROC_NULL : other, (int)block, MPI_COMM_WORLD,
                      &lu.notices[other]);
    } else if (lu.ranks > 1)
        MPI_Win_post(lu.others, 0, lu.win);
    lu.comm_s += bench_now_s() - began_s;
}

static void panel_close(void)
{
    double began_s = bench_now_s();
    if (options.sync == LOCK)
        MPI_Waitall(lu.ranks, lu.notices, MPI_STATUSES_IGNORE);
    else if (lu.ranks > 1)
        MPI_Win_wait(lu.win);
    lu.comm_s += bench_now_s() - began_s;
}

static void panel_make(int64_t block)
{
    double pivots[lu.block];
    panel_decompose(block, pivots);
    panel_open(block, pivots);
}

/* ---- panels: their readers ------------------------------------------------------------------- */

/* Whether the owner said that a panel is there; with MUST_WAIT it has when this returns. */
static bool is_told(int64_t block, bool must_wait)
{
    int is_there = 1;
    if (lu.expected != block)
        MPI_Irecv(NULL, 0, MPI_BYTE, owner_of(block), (int)block, MPI_COMM_WORLD, &lu.notice);
    lu.expected = block;
    if (must_wait)
        MPI_Wait(&lu.notice, MPI_STATUS_IGNORE);
    else
        MPI_Test(&lu.notice, &is_there, MPI_STATUS_IGNORE);
    return is_there;
}

/* Begins to read a panel of another rank, unless that is under way. */
static void reading_begin(int64_t block, bool must_wait)
{
    if (block >= lu.count || is_mine(block) || lu.under_way == block)
        return;
    double began_s = bench_now_s();
    int owner = owner_of(block), doubles = (int)panel_doubles(block);
    if (options.sync == GATS || is_told(block, must_wait)) {
        if (options.sync == GATS)
            MPI_Win_start(lu.each[owner], 0, lu.win);
        else
            MPI_Win_lock(MPI_LOCK_SHARED, owner, 0, lu.win);
        MPI_Get(lu.read[block % 2], doubles, MPI_DOUBLE, owner, panel_start(block), doubles, MPI_DOUBLE,
                lu.win);
        lu.under_way = block;
    }
    lu.comm_s += bench_now_s() - began_s;
}

/* The panel, which is there when this returns. */
static const double *reading_end(int64_t block)
{
    if (is_mine(block))
        return panel_of(block);
    reading_begin(block, true);
    double began_s = bench_now_s();
    if (options.sync == GATS)
        MPI_Win_complete(lu.win);
    else
        MPI_Win_unlock(owner_of(block), lu.win);
    lu.comm_s += bench_now_s() - began_s;
    return lu.read[block % 2];
}

static void decompose(void)
{
    lu.comm_s = 0.0;
    lu.under_way = lu.expected = -1;
    if (is_mine(0))
        panel_make(0);
    for (int64_t k = 0; k < lu.count; k++) {
        const double *panel = reading_end(k);
        if (k + 1 < lu.count && is_mine(k + 1)) {
            block_update(k + 1, k, panel);
            panel_make(k + 1);
        }
        for (int64_t b = lu.rank; b < lu.count; b += lu.ranks) {
            if (b <= k + 1)
                continue;
            reading_begin(k + 1, false);
            block_update(b, k, panel);
        }
        if (is_mine(k))
            panel_close();
    }
}

/* ---- answer ---------------------------------------------------------------------------------- */

/* U times V, of this rank's columns. */
static void upper_apply(const double *v, double *product)
{
    for (int64_t b = lu.rank; b < lu.count; b += lu.ranks)
        for (int64_t c = 0; c < lu.block; c++) {
            int64_t column = b * lu.block + c;
            for (int64_t row = 0; row <= column; row++)
                product[row] += block_at(b)[c * lu.size + row] * v[column];
        }
}

/* P' L of one panel times V, in place. */
static void lower_apply(int64_t block, double *v)
{
    int64_t first = block * lu.block;
    const double *columns = block_at(block), *pivots = panel_of(block) + panel_rows(block) * lu.block;
    for (int64_t c = lu.block - 1; c >= 0; c--)
        for (int64_t row = first + c + 1; row < lu.size; row++)
            v[row] += columns[c * lu.size + row] * v[first + c];
    for (int64_t i = lu.block - 1; i >= 0; i--) {
        int64_t other = (int64_t)pivots[i];
        double kept = v[first + i];
        v[first + i] = v[other];
        v[other] = kept;
    }
}

/* The matrix as it was times V, of this rank's columns; SUMS of the absolute values of each row. */
static void matrix_apply(const double *v, double *product, double *sums)
{
    for (int64_t b = lu.rank; b < lu.count; b += lu.ranks)
        for (int64_t column = b * lu.block; column < (b + 1) * lu.block; column++)
            for (int64_t row = 0; row < lu.size; row++) {
                double entry = entry_of(row, column);
                product[row] += entry * v[column];
                sums[row] += fabs(entry);
            }
}

/* How far the product of the factors is from the matrix, as both map one vector: in units of what rounding
 * may do. Collective. */
static double residual_find(void)
{
    int n = (int)lu.size;
    double *memory = bench_allocate((size_t)(4 * n) * sizeof *memory);
    double *v = memory, *factors = v + n, *whole = factors + n, *sums = whole + n, worst = 0.0, norm = 0.0;
    memset(memory, 0, (size_t)(4 * n) * sizeof *memory);
    for (int i = 0; i < n; i++)
        v[i] = entry_of(i, n + 7);
    upper_apply(v, factors);
    matrix_apply(v, whole, sums);
    MPI_Allreduce(MPI_IN_PLACE, factors, 3 * n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int64_t b = lu.count - 1; b >= 0; b--) {
        if (is_mine(b))
            lower_apply(b, factors);
        MPI_Bcast(factors, n, MPI_DOUBLE, owner_of(b), MPI_COMM_WORLD);
    }
    for (int i = 0; i < n; i++) {
        worst = fmax(worst, fabs(factors[i] - whole[i]));
        norm = fmax(norm, sums[i]);
    }
    free(memory);
    return worst / (0x1p-52 * norm * n * 0.5);
}

/* Bits of both factors and of the exchanges. */
static void answer_write(struct bench_json *json)
{
    uint64_t digest = 0, sum = 0;
    for (int64_t b = lu.rank; b < lu.count; b += lu.ranks) {
        size_t pivots = (size_t)lu.block * sizeof(double);
        digest +=
            (uint64_t)(4 * b + 1) * bench_digest(block_at(b), (size_t)(lu.size * lu.block) * sizeof(double));
        digest += (uint64_t)(4 * b + 3) * bench_digest(panel_of(b) + panel_rows(b) * lu.block, pivots);
    }
    MPI_Reduce(&digest, &sum, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    bench_json_hex(json, "digest", sum);
    bench_json_number(json, "residual", residual_find());
}

/* ---- start and end --------------------------------------------------------------------------- */

static void groups_make(void)
{
    MPI_Group world;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_excl(world, 1, &lu.rank, &lu.others);
    lu.each = bench_allocate((size_t)lu.ranks * sizeof(MPI_Group));
    for (int rank = 0; rank < lu.ranks; rank++)
        MPI_Group_incl(world, 1, &rank, &lu.each[rank]);
    MPI_Group_free(&world);
}

static void lu_make(const struct bench *bench)
{
    lu.rank = bench->rank;
    lu.ranks = bench->ranks;
    lu.size = options.size;
    lu.block = options.block;
    lu.count = lu.size / lu.block;
    size_t blocks = (size_t)(lu.count / lu.ranks + 1);
    lu.columns = bench_allocate(blocks * (size_t)(lu.size * lu.block) * sizeof(double));
    for (int i = 0; i < 2; i++)
        lu.read[i] = bench_allocate((size_t)panel_doubles(0) * sizeof(double));
    int64_t end = lu.rank;
    while (end < lu.count)
        end += lu.ranks;
    MPI_Win_allocate(panel_start(end) * (MPI_Aint)sizeof(double), sizeof(double), MPI_INFO_NULL,
                     MPI_COMM_WORLD, &lu.panels, &lu.win);
    lu.notices = bench_allocate((size_t)lu.ranks * sizeof(MPI_Request));
    groups_make();
}

static void lu_free(void)
{
    MPI_Win_free(&lu.win);
    MPI_Group_free(&lu.others);
    for (int rank = 0; rank < lu.ranks; rank++)
        MPI_Group_free(&lu.each[rank]);
    free(lu.each);
    free(lu.notices);
    free(lu.columns);
    free(lu.read[0]);
    free(lu.read[1]);
}

static void iterations_run(struct bench_phases *phases)
{
    for (int64_t i = -options.warmup; i < options.iterations; i++) {
        matrix_fill();
        MPI_Barrier(MPI_COMM_WORLD);
        struct bench_step step = bench_step_begin();
        decompose();
        bench_step_end(phases, i, step, lu.comm_s);
    }
}

static void options_check(const struct bench *bench)
{
    int sync = bench_name_find(sync_names, SYNCS, options.sync_name);
    if (sync == SYNCS)
        bench_refuse(bench, "--sync is gats or lock");
    options.sync = (enum sync)sync;
    if (options.block < 1 || options.block > 1024 || options.size < options.block || options.size > 16384 ||
        options.size % options.block != 0)
        bench_refuse(bench, "--block is 1 to 1024 and divides --size, which is at most 16384");
    if (options.iterations < 1)
        bench_refuse(bench, "--iterations is at least 1");
}

int main(int argc, char **argv)
{
    const struct bench_option table[] = {
        {"size", BENCH_INTEGER, &options.size, "rows and columns of the matrix"},
        {"block", BENCH_INTEGER, &options.block, "columns of a block"},
        {"sync", BENCH_TEXT, &options.sync_name, "gats (post and start) or lock"},
        {"iterations", BENCH_INTEGER, &options.iterations, "timed decompositions"},
        {"warmup", BENCH_INTEGER, &options.warmup, "decompositions before them"},
        {0},
    };
    struct bench bench;
    bench_start(&bench, "lu", argc, argv, table);
    options_check(&bench);
    lu_make(&bench);
    struct bench_json json;
    bench_json_begin(&json, &bench);
    bench_json_integer(&json, "size", options.size);
    bench_json_integer(&json, "block", options.block);
    bench_json_text(&json, "sync", sync_names[options.sync]);
    bench_json_integer(&json, "bytes", panel_doubles(0) * (int64_t)sizeof(double));
    bench_blas_write(&json);
    struct bench_phases phases;
    bench_steps_init(&phases, (int)options.iterations);
    iterations_run(&phases);
    answer_write(&json);
    bench_json_phases(&json, &phases);
    bench_json_end(&json);
    bench_phases_free(&phases);
    lu_free();
    bench_finish(&bench);
    return 0;
}
