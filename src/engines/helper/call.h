/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether a process whose message has matched is woken (papers/003 section 4.1.3): not while it is inside
 * MPI, where it makes its progress itself. The mark is looked at only when something matched, and again after
 * a while, until the process is woken or has nothing pending any more. Where the mark cannot be read the
 * process is woken. The ghost's only thread; no MPI. */
#ifndef HW_ENGINES_HELPER_CALL_H
#define HW_ENGINES_HELPER_CALL_H

#include "progress/helped.h"

#include <stdbool.h>
#include <stdint.h>

struct hw_helper_call {
    struct hw_helped_word *word;
    int index; /* of the process on the node */
    bool is_owed;
    uint64_t pause_ns, due_ns; /* while it is owed: when to look again */
};

void hw_helper_call_begin(struct hw_helper_call *call, struct hw_helped_word *word, int index);

/* A message of the process matched. */
void hw_helper_call_match(struct hw_helper_call *call);

/* Somebody waits for the process's part in one-sided operations. */
void hw_helper_call_ask(struct hw_helper_call *call);

/* Looks again if it is time. Returns when the next time is; UINT64_MAX: nothing is owed. */
uint64_t hw_helper_call_again(struct hw_helper_call *call, uint64_t now_ns);

#endif
