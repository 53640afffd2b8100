/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether messages of a class are worth a ghost (HEADWAY_P2P=auto), as their sender sees it. What a ghost
 * gains is the time in which a message moves while the program does something else: a program that waits at
 * once gains nothing, and its messages take the way over the ghosts for it. Pure; one thread at a time. */
#ifndef HW_ENGINES_P2P_USER_WORTH_H
#define HW_ENGINES_P2P_USER_WORTH_H

#include <stdbool.h>
#include <stdint.h>

/* Zero at the start. */
struct hw_p2p_worth {
    uint32_t losses;     /* in a row */
    uint32_t left_alone; /* messages to come that are the MPI's */
    uint32_t terms;      /* in which messages were, in a row */
};

enum {
    HW_P2P_WORTH_LOSSES = 4,      /* after so many messages are left alone */
    HW_P2P_WORTH_TERM = 64,       /* so many at first, each time twice as many, */
    HW_P2P_WORTH_TERM_MAX = 4096, /* and so many at most */
    HW_P2P_WORTH_CLASSES = 40,
};

/* By powers of two of bytes. */
static inline int hw_p2p_worth_class(uint64_t bytes)
{
    int bits = bytes ? 64 - __builtin_clzll(bytes) : 0;
    return bits < HW_P2P_WORTH_CLASSES ? bits : HW_P2P_WORTH_CLASSES - 1;
}

/* Of the next message of the class. */
bool hw_p2p_worth_ask(struct hw_p2p_worth *worth);

/* Of one that a ghost had: it was under way for `moved_ns`, and the program waited for `waited_ns` of these.
 */
void hw_p2p_worth_learn(struct hw_p2p_worth *worth, uint64_t moved_ns, uint64_t waited_ns);

#endif
