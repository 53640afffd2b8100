/* SPDX-License-Identifier: BSD-3-Clause */
/* Wakes the progress thread. The caller is inside a hook but no longer inside the real MPI: the woken thread
 * may get the caller's core at once, and must not take it to be. */
#ifndef HW_ENGINES_THREAD_WAKE_H
#define HW_ENGINES_THREAD_WAKE_H

#include "engines/thread/sleep.h"

#include <stdint.h>

/* If it sleeps at least as deeply as DEPTH. */
void hw_wake(enum hw_sleep depth);

/* A moment later, when the series of posts is over, where the thread can be told so; else at once. */
void hw_wake_soon(enum hw_sleep depth);

/* Likewise; nothing where it cannot be told. Also before the real MPI. */
void hw_wake_arm(void);

/* After so long, if nothing wakes it before; nothing where it cannot be told. */
void hw_wake_arm_in(uint64_t delay_ns);

#endif
