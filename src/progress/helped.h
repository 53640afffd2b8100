/* SPDX-License-Identifier: BSD-3-Clause */
/* The word of a helper (papers/003 section 4.1): what a ghost writes for a process of its node when it has
 * seen a message of that process match, and on which the process's progress thread sleeps.
 *
 * It says when to look, and nothing else: a wrong, late or lost word changes no result, since the trigger's
 * timeout is a net under it. One process sleeps on the word, its helper and its own threads change it. */
#ifndef HW_PROGRESS_HELPED_H
#define HW_PROGRESS_HELPED_H

#include <stdbool.h>
#include <stdint.h>

/* In memory that the node shares, on a cache line of its own. */
struct hw_helped_word {
    _Atomic uint32_t word;    /* a futex; counts up with each word, and with each interrupt of the agent */
    _Atomic uint32_t matched; /* messages that matched; the helper writes, before the word */
    char unused[56];
};

/* Before the agent opens its triggers, and after it has closed them. */
void hw_helped_open(struct hw_helped_word *word);
void hw_helped_close(void);
bool hw_helped_is_open(void);

/* Operations of this process that no helper can tell of: as long as there are any, the trigger ticks. They
 * count until all are forgotten, when nothing is outstanding. Threads of the program. */
void hw_helped_add_unknown(void);
void hw_helped_take_unknown(void); /* the last one that was added is known after all */
void hw_helped_forget_unknown(void);

/* Nothing is pending: all messages that matched so far are complete. The agent. */
void hw_helped_settle(void);

/* By the helper, of a process of its node: `count` more messages matched. */
void hw_helped_tell(struct hw_helped_word *word, uint32_t count);

#endif
