/* SPDX-License-Identifier: BSD-3-Clause */
/* Lets the program finish a series of posts before the thread looks. */
#ifndef HW_ENGINES_THREAD_SETTLE_H
#define HW_ENGINES_THREAD_SETTLE_H

#include "progress/trigger.h"

#include <stdbool.h>

/* The program has posted; after hw_overlap_posted. `is_last`: of its series, as far as is known. */
void hw_settle_posted(bool is_last);

/* The thread: returns when the series is over. A poll in the midst of it would answer the partner's receive
 * requests before the program's own sends are announced; the partner would then fill the connection with its
 * data, and our announcement's answer would wait behind it: the two directions one after the other instead of
 * at once. */
void hw_settle(struct hw_triggers *triggers);

#endif
