/* SPDX-License-Identifier: BSD-3-Clause */
/* What is the same for all windows of a user process. */
#ifndef HW_ENGINES_RMA_WINDOW_FACTS_H
#define HW_ENGINES_RMA_WINDOW_FACTS_H

#include "base/visibility.h"

#include <stdbool.h>

/* The end of a flush does not tell that a Put has arrived (epoch/arrival.c). Written at the start. */
extern HW_HIDDEN bool hw_rma_needs_confirmation;

/* The call that makes an accumulate waits for its ghost (operation/await.h). Likewise. */
extern HW_HIDDEN bool hw_rma_accumulates_wait;

/* The program may call operations of which we do not hear, and which would go to another process. Likewise.
 */
extern HW_HIDDEN bool hw_rma_has_foreign_operations;

/* The request of an MPI_Rget at a ghost may end before the data are there. Likewise. */
extern HW_HIDDEN bool hw_rma_gets_end_early;

/* At the start. */
void hw_rma_facts_find(void);

/* From here on several threads of this process may call MPI at once: the world or a session has
 * MPI_THREAD_MULTIPLE. What was made before is used by one at a time all the same. */
void hw_rma_expect_threads(void);
bool hw_rma_may_have_threads(void);

#endif
