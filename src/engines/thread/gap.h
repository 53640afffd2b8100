/* SPDX-License-Identifier: BSD-3-Clause */
/* The gap between two looks of the thread in the bulk of a transfer, for each class of operations. Pure but
 * for the option HEADWAY_GAP_US. */
#ifndef HW_ENGINES_THREAD_GAP_H
#define HW_ENGINES_THREAD_GAP_H

#include "policy/policy.h"

#include <stdint.h>

/* Of the window of this class that begins. */
uint64_t hw_gap_for(const struct hw_policy_class *class);

/* After a window: looks as seldom as the transport bears. Gaps become longer while the program need not wait,
 * shorter as soon as it must although the thread took part, and then for long not as long as before again. */
void hw_gap_adapt(struct hw_policy_class *class, const struct hw_policy_window *closed);

#endif
