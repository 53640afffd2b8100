/* SPDX-License-Identifier: BSD-3-Clause */
/* What waits for another process, and goes on in this one when somebody looks: operations on a target that is
 * not open yet (papers/003 section 4.2). Whoever makes progress may look; nothing depends on who does, or
 * when, since the call that needs it waits.
 *
 * One part of the library looks, and says how many such things there are. */
#ifndef HW_PROGRESS_DEFERRED_H
#define HW_PROGRESS_DEFERRED_H

#include "base/atomic.h"
#include "base/visibility.h"

#include <stdbool.h>

/* Before there is anything. `look` is called by the progress thread alone, in its turn. */
void hw_deferred_open(void (*look)(void));

/* How many; any thread, inside a hook, or in its turn. */
void hw_deferred_add(unsigned count);
void hw_deferred_take(unsigned count);

extern HW_HIDDEN _Atomic unsigned
    hw_deferred_count; /* seq_cst: it says whether the progress thread may park */

static inline bool hw_deferred_is_any(void) { return hw_atomic_load_seq_cst(&hw_deferred_count) != 0; }

/* The progress thread, in its turn (progress/gate.h). True: it has made a call that makes progress. */
bool hw_deferred_look(void);

#endif
