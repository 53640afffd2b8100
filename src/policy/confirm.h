/* SPDX-License-Identifier: BSD-3-Clause */
/* hw_confirm sees whether a way that a trial found shorter is shorter in earnest: both are taken in turn, and
 * the least that each took is compared. What a call takes besides, such as a wait for others, may be much
 * more than what is won; so ours stays unless it is clearly the longer. Pure; one thread at a time. */
#ifndef HW_POLICY_CONFIRM_H
#define HW_POLICY_CONFIRM_H

#include "policy/choice.h"

#include <stdbool.h>
#include <stdint.h>

enum hw_confirm_state { HW_CONFIRM_ON, HW_CONFIRM_KEEP, HW_CONFIRM_LEAVE };

/* Zero at the start. */
struct hw_confirm {
    uint64_t least_ns[HW_CHOICE_WAYS]; /* 0: none yet */
    uint32_t looks;
};

/* The way of the next call. */
enum hw_choice_way hw_confirm_next(const struct hw_confirm *confirm);

/* What it took: whether there is more to see, or our way is to be kept, or left. */
enum hw_confirm_state hw_confirm_learn(struct hw_confirm *confirm, enum hw_choice_way way, uint64_t took_ns);

#endif
