/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether others wait for this process to serve the windows that it exposes: gathers what policy/awaited.h
 * judges. A thread costs a program without one up to a twentieth (every malloc its short cut, wake-ups), so
 * there is none for windows alone before somebody was seen to wait. */
#ifndef HW_ENGINES_THREAD_AWAITED_H
#define HW_ENGINES_THREAD_AWAITED_H

#include <stdbool.h>

/* Windows are exposed, or none any more. Any thread of the program, inside a hook. */
void hw_awaited_expose(bool is_exposed);

/* The program comes to MPI (HW_INSIDE_PASSES). True if others are found to wait for it, just now. Any thread
 * of the program, inside a hook, before the real call, which may read what was waiting. */
bool hw_awaited_pass(void);

/* Of the last look; always where HEADWAY_STAND_DOWN=never. Any thread. */
bool hw_awaited_is(void);

/* Takes it back after a term. Progress thread only, now and then. */
void hw_awaited_check(void);

/* Around each turn of the thread, the first before it closes the gate. The begin of a term is judged by turns
 * that have something to read and that nothing but exposed windows asked for: what they cost, and whether an
 * answer was sent in them. Progress thread only. */
void hw_awaited_turns(bool is_asked_for);
void hw_awaited_turned(void);

#endif
