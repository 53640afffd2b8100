/* SPDX-License-Identifier: BSD-3-Clause */
/* Judges whether a ghost has its core to itself: not if there are more processes than cores, nor if it spins
 * and must often wait for the core. Ghost's only thread. */
#ifndef HW_GHOST_CORE_H
#define HW_GHOST_CORE_H

#include "base/visibility.h"

#include <stdbool.h>
#include <stdint.h>

extern HW_HIDDEN bool hw_ghost_core_is_shared; /* written by the functions below alone */

void hw_ghost_core_begin(uint64_t now_ns);

/* The ghost spins from now on. */
void hw_ghost_core_judge_from(uint64_t now_ns);

/* While it spins. True: a judgement was due and was passed. */
bool hw_ghost_core_judge(uint64_t now_ns);

/* While it shares. True: it is time to try again, so that the core counts as its own for now. */
bool hw_ghost_core_try(uint64_t now_ns);

#endif
