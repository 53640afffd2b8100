/* SPDX-License-Identifier: BSD-3-Clause */
/* Holding back: in a class of windows that send as much as they receive the thread does not come before the
 * sends are posted.
 *
 * A program that posts receives, computes and sends by turns, and then waits (a transposition, a halo whose
 * boundary is computed first) announces its messages one after the other. Who answers the partner's
 * announcements meanwhile has the own ones behind the partner's data: the two directions go one after the
 * other, and keep to it. Answered when all is announced, they share the time. Pure; the caller serialises. */
#ifndef HW_POLICY_HOLD_H
#define HW_POLICY_HOLD_H

#include <stdbool.h>
#include <stdint.h>

/* In the first window of a class the thread does not hold back for longer: it may be a receiver alone. */
#define HW_POLICY_HOLD_NEW_NS UINT64_C(5000000)

/* Of a class. Zeroed at first. */
struct hw_policy_hold {
    uint64_t sends_bytes; /* that its windows send, as far as they receive as much; 0: others */
    uint32_t rest;        /* windows that are not held, since one was held in vain */
    bool is_known;        /* a window has ended */
};

/* Whether the thread is still to hold back: so much was received and sent in the window, as far as posted. */
bool hw_policy_is_held(const struct hw_policy_hold *hold, uint64_t received_bytes, uint64_t sends_bytes);

/* The window has ended, with so much in all; `was_held`: the thread never came. */
void hw_policy_hold_learn(struct hw_policy_hold *hold, uint64_t received_bytes, uint64_t sends_bytes,
                          bool was_held);

#endif
