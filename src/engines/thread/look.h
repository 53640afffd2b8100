/* SPDX-License-Identifier: BSD-3-Clause */
/* The progress thread's looks at the connections, from which the policy learns whether a transfer needs it
 * (overlap.h). The progress thread alone calls. */
#ifndef HW_ENGINES_THREAD_LOOK_H
#define HW_ENGINES_THREAD_LOOK_H

#include <stdbool.h>

/* Before the thread's first turn in a window, else nothing: a listing of descriptors may take long. */
void hw_look_first(void);

/* After a turn, where the policy wants to know how long the transfer takes. */
void hw_look_again(void);

/* In a probe: false if it is over, and the thread begins. */
bool hw_look_goes_by_itself(void);

#endif
