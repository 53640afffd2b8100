/* SPDX-License-Identifier: BSD-3-Clause */
/* A nonlinear heat equation of some fields in the unit box, whose steady state is known:
 * du/dt = k(u) laplacian(u) + force, k being the same for all fields. */
#ifndef HEADWAY_BENCH_HEAT_H
#define HEADWAY_BENCH_HEAT_H

#include <stdint.h>

enum { BENCH_HEAT_FIELDS = 3 };

/* The steady state of FIELD. */
double bench_heat_steady(int field, const double place[3]);

/* k of the fields at one place. */
double bench_heat_factor(const double values[BENCH_HEAT_FIELDS]);

/* What keeps the steady state steady. */
void bench_heat_force(const double place[3], double force[BENCH_HEAT_FIELDS]);

/* 1 in the middle of the box, 0 at its sides. */
double bench_heat_bump(const double place[3]);

/* Points in a row, and their neighbours STEPS apart in each direction. */
struct bench_heat_row {
    int64_t count, steps[3];
    double scale; /* the time step by 12 h h */
    double time_step;
    const double *fields[BENCH_HEAT_FIELDS], *force[BENCH_HEAT_FIELDS];
    double *factor, *delta[BENCH_HEAT_FIELDS];
};

/* Writes k of each point, and what an explicit step of fourth order changes there. */
void bench_heat_explicit(const struct bench_heat_row *row);

#endif
