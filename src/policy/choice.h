/* SPDX-License-Identifier: BSD-3-Clause */
/* hw_choice decides between the MPI's way and ours to do the same thing again and again, from what both took.
 * It tries both a few times in turn, then takes the shorter, and looks at the other one seldom: what that
 * costs stays below a hundredth of the time of all. Pure; one thread at a time. */
#ifndef HW_POLICY_CHOICE_H
#define HW_POLICY_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

enum hw_choice_way { HW_CHOICE_MPI, HW_CHOICE_OURS, HW_CHOICE_WAYS };

/* Zero at the start. */
struct hw_choice {
    uint64_t ns[HW_CHOICE_WAYS]; /* what each takes; 0: not known */
    uint32_t looks;              /* how many calls were timed */
    uint32_t controls;           /* times that the way stayed what it was after another look */
    bool is_settled;
    enum hw_choice_way way; /* if settled */
};

/* The way of the call that is timed next. */
enum hw_choice_way hw_choice_next(const struct hw_choice *choice);

/* What it took. Returns how many calls follow by choice->way before the next is timed. */
uint32_t hw_choice_learn(struct hw_choice *choice, enum hw_choice_way way, uint64_t took_ns);

/* So many calls that a look, which costs `price_ns`, costs little beside them: each takes `each_ns`, which is
 * not 0, and `controls` looks in a row changed nothing, so that looks become rarer. Also for route.h. */
uint32_t hw_choice_calls_before(uint64_t price_ns, uint64_t each_ns, uint32_t controls);
enum { HW_CHOICE_CONTROLS_MAX = 6 }; /* after so many in vain looks do not become rarer any more */

/* What one call by our way wins, as far as known. */
uint64_t hw_choice_won_ns(const struct hw_choice *choice);

#endif
