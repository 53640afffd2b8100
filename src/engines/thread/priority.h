/* SPDX-License-Identifier: BSD-3-Clause */
/* Real-time priority of the progress thread (HEADWAY_PRIORITY): on a loaded core a woken thread waits for the
 * others' slices, in real time it does not. A turn that takes long then keeps the program's thread off its
 * core: after one the next wakes are without. Progress thread only but for the last. */
#ifndef HW_ENGINES_THREAD_PRIORITY_H
#define HW_ENGINES_THREAD_PRIORITY_H

#include <stdbool.h>
#include <stdint.h>

/* At the thread's start. */
void hw_priority_begin(void);

/* It was woken, or is about to sleep. */
void hw_priority_woken(uint64_t now_ns);
void hw_priority_sleeps(uint64_t now_ns);

/* Any thread. */
bool hw_priority_is_real_time(void);

#endif
