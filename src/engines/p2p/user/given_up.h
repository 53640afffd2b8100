/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of operations whose requests the program has freed. They are looked through whenever it leaves a call
 * that may tell it of an end; a program that makes no such call looks through them when they have grown to
 * twice what was left the last time. So they hold no more than twice what is under way, and each operation is
 * looked at a few times. In turns (turns.h). */
#ifndef HW_ENGINES_P2P_USER_GIVEN_UP_H
#define HW_ENGINES_P2P_USER_GIVEN_UP_H

#include <stdbool.h>
#include <stdint.h>

/* Of one list. Zero at the start. */
struct hw_p2p_given_up {
    uint32_t count, left; /* now, and after the last look */
    bool is_looking;      /* a handler of an error that it raises may free requests */
};

enum { HW_P2P_GIVEN_UP_FEW = 16 };

/* One more. True: it is time for a look. */
static inline bool hw_p2p_given_up_one(struct hw_p2p_given_up *list)
{
    return ++list->count > 2 * list->left + HW_P2P_GIVEN_UP_FEW && !list->is_looking;
}

/* Around a look, which leaves LEFT. */
static inline void hw_p2p_given_up_look(struct hw_p2p_given_up *list) { list->is_looking = true; }
static inline void hw_p2p_given_up_looked(struct hw_p2p_given_up *list, uint32_t left)
{
    *list = (struct hw_p2p_given_up){.count = left, .left = left};
}

#endif
