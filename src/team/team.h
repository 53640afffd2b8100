/* SPDX-License-Identifier: BSD-3-Clause */
/* A team does one job in pieces: the caller, and those OpenMP threads of the program that are idle while it
 * is inside MPI (papers/004 section II). Nobody is given work; who runs takes the next piece.
 *
 *   outside of parallel regions    a parallel region of ours, whose end waits for all that joined
 *   inside of one                  a task of ours for each other thread of it, which threads take that wait
 * at the end of `single` or at a barrier; those that compute take it later, when there is nothing left to do
 *
 * The caller passes no scheduling point but the making of tasks, so no task of the program runs in it. Where
 * nobody else took a piece, it does the next jobs alone, more of them each time. Any thread of the program,
 * outside of MPI's own code. */
#ifndef HW_TEAM_TEAM_H
#define HW_TEAM_TEAM_H

#include "team/idle.h"

#include <stdint.h>

/* Does one piece. On any thread; pieces in any order; must not call MPI. */
typedef void hw_team_work(void *context, uint32_t piece);

struct hw_team_task {
    hw_team_work *work;
    void *context;
    uint32_t pieces; /* each worth some 50 us: less does not pay for a second thread */
};

/* At most so many threads, the caller included, take part in one job; 0: as many as are idle. Before jobs,
 * and after the MPI has made its threads. */
void hw_team_begin(unsigned most_threads);

/* Where others may take part in a job that begins now. Some ten nanoseconds. */
enum hw_idle_place hw_team_place(void);

/* Every piece is done once, and no thread uses the context any more. */
void hw_team_run(const struct hw_team_task *task);

#endif
