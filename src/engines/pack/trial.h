/* SPDX-License-Identifier: BSD-3-Clause */
/* A trial packs, or unpacks, what a message brings by the MPI's way and by ours. The buffer has data,
 * unless said otherwise: it is to be sent, or has been received, and is still the MPI call's. Any thread,
 * inside MPI. */
#ifndef HW_ENGINES_PACK_TRIAL_H
#define HW_ENGINES_PACK_TRIAL_H

#include "engines/pack/given.h"
#include "objects/datatype/plan.h"
#include "profile/callers/packings.h"

#include <stdbool.h>

/* A trial has memory for one datatype of the plan. */
bool hw_pack_trial_has_room(const struct hw_plan *plan);

/* Data of this datatype are tried where the program has them, since they span more than memory of ours: of a
 * receive, what has come. */
bool hw_pack_trial_needs_data(MPI_Datatype datatype);

/* Whether the plan packs what the MPI does. Without data (a receive to which nothing has come) in memory of
 * ours, since a program may have less memory there than it says; false if it needs data then. */
bool hw_pack_trial_is_alike(const struct hw_pack_given *given, struct hw_plan *plan, bool has_data);

/* Whether the MPI's way takes more than `least_percent` of ours with one more copy of all. Unpacking writes
 * the bytes that are there. What it measured is in *tried then. */
bool hw_pack_trial_wins(const struct hw_pack_given *given, struct hw_plan *plan, uint64_t least_percent,
                        struct hw_packing_class *tried);

#endif
