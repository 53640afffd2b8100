/* SPDX-License-Identifier: BSD-3-Clause */
/* The steady state is cos(a x + 0.3) cos(b y) exp(c z), with a, b and c of each field. */
#pragma GCC optimize("O3") /* rows are for vectors */

#include "heat.h"

#include <math.h>

enum { FIELDS = BENCH_HEAT_FIELDS };

static const double waves[FIELDS][3] = {{1.0, 2.0, 0.5}, {2.0, 0.5, 1.0}, {1.5, 1.0, -0.5}};

double bench_heat_steady(int field, const double place[3])
{
    const double *wave = waves[field];
    return cos(wave[0] * place[0] + 0.3) * cos(wave[1] * place[1]) * exp(wave[2] * place[2]);
}

double bench_heat_factor(const double values[FIELDS])
{
    double sum = 0.0;
    for (int f = 0; f < FIELDS; f++)
        sum += values[f] * values[f];
    return 1.0 + 0.1 * sum;
}

void bench_heat_force(const double place[3], double force[FIELDS])
{
    double values[FIELDS];
    for (int f = 0; f < FIELDS; f++)
        values[f] = bench_heat_steady(f, place);
    double factor = bench_heat_factor(values);
    for (int f = 0; f < FIELDS; f++) {
        const double *wave = waves[f];
        double laplacian = (wave[2] * wave[2] - wave[0] * wave[0] - wave[1] * wave[1]) * values[f];
        force[f] = -factor * laplacian;
    }
}

double bench_heat_bump(const double place[3])
{
    const double pi = 3.14159265358979323846;
    return sin(pi * place[0]) * sin(pi * place[1]) * sin(pi * place[2]);
}

/* Times 12 h h. */
static inline double second_difference(const double *u, int64_t step)
{
    return 16.0 * (u[-step] + u[step]) - (u[-2 * step] + u[2 * step]) - 30.0 * u[0];
}

void bench_heat_explicit(const struct bench_heat_row *row)
{
    double *restrict factor = row->factor;
    for (int64_t x = 0; x < row->count; x++) {
        double values[FIELDS];
        for (int f = 0; f < FIELDS; f++)
            values[f] = row->fields[f][x];
        factor[x] = bench_heat_factor(values);
    }
    for (int f = 0; f < FIELDS; f++) {
        const double *restrict u = row->fields[f], *restrict force = row->force[f];
        double *restrict delta = row->delta[f];
        for (int64_t x = 0; x < row->count; x++) {
            double sum = second_difference(u + x, row->steps[0]) + second_difference(u + x, row->steps[1]) +
                         second_difference(u + x, row->steps[2]);
            delta[x] = row->scale * factor[x] * sum + row->time_step * force[x];
        }
    }
}
