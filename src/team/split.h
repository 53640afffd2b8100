/* SPDX-License-Identifier: BSD-3-Clause */
/* A copy of many bytes, done by the caller alone or shared with a team, whichever takes less time: learnt
 * from the first copies of its kind, and looked at again now and then. Any thread of the program. */
#ifndef HW_TEAM_SPLIT_H
#define HW_TEAM_SPLIT_H

#include "policy/choice.h"
#include "team/idle.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* What is known of one kind of copies of about one size, in each place where idle threads may be. Zero at
 * first. */
struct hw_team_split {
    struct hw_team_split_at {
        atomic_uint left; /* copies before the next is timed */
        atomic_uint way;  /* enum hw_choice_way of those: HW_CHOICE_MPI is alone, HW_CHOICE_OURS is shared */
        atomic_uint pieces;   /* in which a shared one goes */
        atomic_bool is_taken; /* somebody has `choice` */
        struct hw_choice choice;
    } at[HW_IDLE_PLACES];
};

/* Does bytes from..to of the copy. On any thread, ranges in any order, each byte once. */
typedef void hw_team_range(void *context, int64_t from, int64_t to);

/* The smallest copy that is worth a thought. */
enum { HW_TEAM_SPLIT_MIN = 64 * 1024 };

/* Does bytes 0..bytes; all are done when it returns. */
void hw_team_split(struct hw_team_split *of, hw_team_range *range, void *context, int64_t bytes);

#endif
