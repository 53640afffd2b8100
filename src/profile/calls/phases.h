/* SPDX-License-Identifier: BSD-3-Clause */
/* Phases of the program, by the names it gives them (include/headway.h): how often, how long, and what was
 * waited for and overlapped meanwhile.
 *
 * They belong to the process. A figure is the difference of the process's counters between begin and end, so
 * what an inner phase counts is in the outer one too, and a window of overlap counts where it ends.
 * Any thread may call; one lock. */
#ifndef HW_PROFILE_CALLS_PHASES_H
#define HW_PROFILE_CALLS_PHASES_H

#include "profile/record/fields.h"

enum { HW_PHASE_NAME_COUNT = 64, HW_PHASE_NAME_BYTES = 64, HW_PHASE_DEPTH = 16 };

enum hw_phase_result { HW_PHASE_OK, HW_PHASE_MISUSE, HW_PHASE_FULL };

enum hw_phase_result hw_phase_begin(const char *name);
enum hw_phase_result hw_phase_end(void);

/* Ends the last that began, if this is its name; else nothing, and HW_PHASE_MISUSE. */
enum hw_phase_result hw_phase_end_if(const char *name);

/* What writes the record's list of phases, those that are open as if they ended then; absent if there was
 * none. */
struct hw_record_part hw_phase_describe(void);

#endif
