/* SPDX-License-Identifier: BSD-3-Clause */
/* Scalar pentadiagonal line systems, many side by side, that may go on from one block to the next.
 *
 * Row i of a line is that of 1 - factor(i) s, s being the second difference of fourth order: coefficients
 * c, -16 c, 1 + 30 c, -16 c, c with c = scale * factor(i). All fields have the same matrix. */
#ifndef HEADWAY_BENCH_PENTA_H
#define HEADWAY_BENCH_PENTA_H

#include <stdint.h>

enum { BENCH_PENTA_FIELDS = 3, BENCH_PENTA_CARRIED = 2 };

/* Rows follow upon one another along the lines, STRIDE apart; lanes lie side by side. */
struct bench_penta {
    int64_t rows, lanes, stride;
    double scale;
    const double *factor;
    double *upper[2];                   /* of the matrix, once rows are eliminated */
    double *values[BENCH_PENTA_FIELDS]; /* right sides, which become the solution */
};

/* Doubles that the next block needs of a plane that is eliminated, and the block before of one that is
 * solved. Zeros at the ends of lines. */
static inline int64_t bench_penta_forth(int64_t lanes)
{
    return (int64_t)BENCH_PENTA_CARRIED * (2 + BENCH_PENTA_FIELDS) * lanes;
}

static inline int64_t bench_penta_back(int64_t lanes)
{
    return (int64_t)BENCH_PENTA_CARRIED * BENCH_PENTA_FIELDS * lanes;
}

/* From the first row to the last. OUT may be NULL. */
void bench_penta_eliminate(const struct bench_penta *plane, const double *in, double *out);

/* From the last row to the first. OUT may be NULL. */
void bench_penta_substitute(const struct bench_penta *plane, const double *in, double *out);

#endif
