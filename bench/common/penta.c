/* SPDX-License-Identifier: BSD-3-Clause */
/* Elimination and substitution of pentadiagonal lines, lane by lane. */
#pragma GCC optimize("O3") /* lanes side by side are for vectors */

#include "penta.h"

#include <string.h>

enum { FIELDS = BENCH_PENTA_FIELDS, CARRIED = BENCH_PENTA_CARRIED };
enum { LANES = 128 }; /* at a time */

/* x(i) = values(i) - upper0(i) x(i+1) - upper1(i) x(i+2), once row i is eliminated. */
struct row {
    const double *upper[2], *values[FIELDS];
};

static struct row row_of(const struct bench_penta *plane, int64_t row)
{
    struct row found;
    for (int i = 0; i < 2; i++)
        found.upper[i] = plane->upper[i] + row * plane->stride;
    for (int f = 0; f < FIELDS; f++)
        found.values[f] = plane->values[f] + row * plane->stride;
    return found;
}

static struct row row_carried(const double *memory, int64_t lanes)
{
    struct row found;
    for (int i = 0; i < 2; i++)
        found.upper[i] = memory + i * lanes;
    for (int f = 0; f < FIELDS; f++)
        found.values[f] = memory + (2 + f) * lanes;
    return found;
}

static void row_carry(double *memory, const struct row *row, int64_t lanes)
{
    size_t bytes = (size_t)lanes * sizeof(double);
    for (int i = 0; i < 2; i++)
        memcpy(memory + i * lanes, row->upper[i], bytes);
    for (int f = 0; f < FIELDS; f++)
        memcpy(memory + (2 + f) * lanes, row->values[f], bytes);
}

/* What a row's own coefficients become, of LANES lanes, and of its upper ones. */
struct factors {
    double outer[LANES], lower[LANES], pivot[LANES];
};

static void row_factor(const struct bench_penta *plane, int64_t start, const struct row *two,
                       const struct row *one, int64_t first, int64_t lanes, struct factors *factors)
{
    const double *restrict factor = plane->factor + start + first;
    const double *restrict p2 = two->upper[0] + first, *restrict q2 = two->upper[1] + first;
    const double *restrict p1 = one->upper[0] + first, *restrict q1 = one->upper[1] + first;
    double *restrict p = plane->upper[0] + start + first, *restrict q = plane->upper[1] + start + first;
    double *restrict outers = factors->outer, *restrict lowers = factors->lower;
    double *restrict pivots = factors->pivot;
    for (int64_t i = 0; i < lanes; i++) {
        double outer = plane->scale * factor[i], lower = -16.0 * outer - outer * p2[i];
        double pivot = 1.0 / (1.0 + 30.0 * outer - outer * q2[i] - lower * p1[i]);
        p[i] = (-16.0 * outer - lower * q1[i]) * pivot;
        q[i] = outer * pivot;
        outers[i] = outer;
        lowers[i] = lower;
        pivots[i] = pivot;
    }
}

/* ONE and TWO are the rows before. */
static void row_eliminate(const struct bench_penta *plane, int64_t row, const struct row *two,
                          const struct row *one)
{
    struct factors factors;
    int64_t start = row * plane->stride;
    for (int64_t first = 0; first < plane->lanes; first += LANES) {
        int64_t lanes = plane->lanes - first < LANES ? plane->lanes - first : LANES;
        row_factor(plane, start, two, one, first, lanes, &factors);
        for (int f = 0; f < FIELDS; f++) {
            double *restrict values = plane->values[f] + start + first;
            const double *restrict before = two->values[f] + first, *restrict last = one->values[f] + first;
            for (int64_t i = 0; i < lanes; i++)
                values[i] = (values[i] - factors.outer[i] * before[i] - factors.lower[i] * last[i]) *
                            factors.pivot[i];
        }
    }
}

void bench_penta_eliminate(const struct bench_penta *plane, const double *in, double *out)
{
    int64_t lanes = plane->lanes, carried = bench_penta_forth(lanes) / CARRIED;
    struct row two = row_carried(in, lanes), one = row_carried(in + carried, lanes);
    for (int64_t i = 0; i < plane->rows; i++) {
        row_eliminate(plane, i, &two, &one);
        two = one;
        one = row_of(plane, i);
    }
    if (out == NULL)
        return;
    row_carry(out, &two, lanes);
    row_carry(out + carried, &one, lanes);
}

/* Row ROW of a field, which may be one of the block after this one. */
static const double *solved(const struct bench_penta *plane, int field, int64_t row, const double *in)
{
    if (row < plane->rows)
        return plane->values[field] + row * plane->stride;
    return in + ((row - plane->rows) * FIELDS + field) * plane->lanes;
}

void bench_penta_substitute(const struct bench_penta *plane, const double *in, double *out)
{
    int64_t lanes = plane->lanes;
    for (int64_t row = plane->rows - 1; row >= 0; row--) {
        const double *restrict p = plane->upper[0] + row * plane->stride;
        const double *restrict q = plane->upper[1] + row * plane->stride;
        for (int f = 0; f < FIELDS; f++) {
            const double *restrict one = solved(plane, f, row + 1, in);
            const double *restrict two = solved(plane, f, row + 2, in);
            double *restrict values = plane->values[f] + row * plane->stride;
            for (int64_t i = 0; i < lanes; i++)
                values[i] -= p[i] * one[i] + q[i] * two[i];
            if (out != NULL && row < CARRIED)
                memcpy(out + (row * FIELDS + f) * lanes, values, (size_t)lanes * sizeof(double));
        }
    }
}
