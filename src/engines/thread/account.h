/* SPDX-License-Identifier: BSD-3-Clause */
/* What windows of overlap tell the user: the counters of what the thread brought, and a line in the log. The
 * caller serialises. */
#ifndef HW_ENGINES_THREAD_ACCOUNT_H
#define HW_ENGINES_THREAD_ACCOUNT_H

#include "policy/policy.h"

#include <stdint.h>

/* Counts a window with the thread, after the policy has learnt from it. `wake_ns` is what of its
 * overhead was waking the thread, `gap_ns` at what distance the thread looked last. */
void hw_account_window(struct hw_policy_class *class, const struct hw_policy_window *closed, uint64_t wake_ns,
                       uint64_t gap_ns);

/* Writes the window to the log, at level debug. */
void hw_account_log(const struct hw_policy_class *class, const struct hw_policy_window *closed);

#endif
