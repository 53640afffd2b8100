/* SPDX-License-Identifier: BSD-3-Clause */
/* Windows of a program that always has something outstanding. Where it posts as much as it completes (double
 * buffering) a window is some such rounds, since a long wait and a short one often take turns. Pure; the
 * caller serialises. */
#ifndef HW_POLICY_ROUNDS_H
#define HW_POLICY_ROUNDS_H

#include "policy/policy.h"

#include <stdbool.h>
#include <stdint.h>

/* Of less than this in all no window ends: windows have their price. */
#define HW_POLICY_LEAST_ROUNDS_NS UINT64_C(300000)

/* A round of a window of the class has ended, `round_count` of them since it began, `since_ns` ago. True if
 * the window ends with it. */
bool hw_policy_rounds_end(struct hw_policy_class *class, uint32_t round_count, uint64_t since_ns);

#endif
