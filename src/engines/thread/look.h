/* SPDX-License-Identifier: BSD-3-Clause */
/* The progress thread's looks at the connections, from which the policy learns whether a transfer needs it
 * (overlap.h). The progress thread alone calls. */
#ifndef HW_ENGINES_THREAD_LOOK_H
#define HW_ENGINES_THREAD_LOOK_H

#include "progress/trigger.h"

#include <stdbool.h>

/* Before the thread's first turn in a window, else nothing: a listing of descriptors may take long. */
void hw_look_first(void);

/* After a turn, where the policy wants to know how long the transfer takes. */
void hw_look_again(void);

/* In a probe: false if it is over, and the thread begins. It is over where something else needs the thread.
 */
bool hw_look_goes_by_itself(bool is_needed);

/* In windows that go on from one to the next: sleeps as long as a look could do nothing that a later one does
 * not do as well, as what is to be sent leaves by itself. It might take a message too early: an answer that
 * leaves before the program's own next message lets the partner's data leave first, and the two directions go
 * one after the other from then on. Some milliseconds at most; may_wait() is asked before each nap. */
void hw_look_wait_for_sense(struct hw_triggers *triggers, bool (*may_wait)(void));

#endif
