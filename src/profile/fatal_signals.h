/* SPDX-License-Identifier: BSD-3-Clause */
/* Word of a signal that ends the process, before it does.
 *
 * Only where the signal would end it for sure: it has no handler, or one of the MPI's own that prints where
 * the program was. A handler that the program sets up, before or later, is left alone and takes the place of
 * ours. If it calls ours, as the one from before it, SIGUSR1 and SIGUSR2 do nothing, as without us; others
 * end the process. After the word the handler from before is back, and the signal comes again, as it came: by
 * the same instruction, or sent with what its sender told. So exit status, core file and the MPI's words
 * stay.
 */
#ifndef HW_PROFILE_FATAL_SIGNALS_H
#define HW_PROFILE_FATAL_SIGNALS_H

#include <stdbool.h>

/* `tell` must be async-signal-safe. `is_mpis` knows the MPI's own libraries by their path. */
void hw_fatal_signals_watch(void (*tell)(int number), bool (*is_mpis)(const char *path));

/* Handlers are as they were, but for those that somebody has changed meanwhile. */
void hw_fatal_signals_leave(void);

#endif
