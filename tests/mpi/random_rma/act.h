/* SPDX-License-Identifier: BSD-3-Clause */
/* Executes a round of a plan on a window. */
#ifndef TESTS_MPI_RANDOM_RMA_ACT_H
#define TESTS_MPI_RANDOM_RMA_ACT_H

#include "plan.h"

#include <stddef.h>

struct window {
    MPI_Win win;
    MPI_Comm comm;
    MPI_Group group;
    unsigned char *base, *allocated; /* allocated: what a created window lies in */
    MPI_Aint *addresses;             /* of the members' base, where the window is dynamic */
    int rank, size;
    int disp_unit;
    bool is_created;
};

void act_make_types(void);
void act_free_types(void);

/* Opens the access epochs, makes the calls of this rank, closes them. What was fetched is added to *hash. */
void act_round(const struct window *window, const struct round_plan *round, uint64_t salt, uint64_t *hash);

/* Every slot of this rank's memory begins a round with small numbers of the round's type. */
void act_reset(const struct window *window, const struct round_plan *round);

uint64_t act_hash(uint64_t hash, const void *data, size_t length);

#endif
