/* SPDX-License-Identifier: BSD-3-Clause */
/* The thread that writes the record while the program computes, or waits in MPI for ever, and when it ends by
 * another way than MPI_Finalize.
 *
 * It sleeps between two records, for longer and longer, and makes no MPI call. What it reads is copied piece
 * by piece under the profile's lock, so that the program waits for no file. At other ends the thread that
 * ends the process asks it for the last record and waits, but not for ever: what that thread held when a
 * signal came (a lock, memory that malloc was about to change) is of no matter to another thread, or it is
 * late.
 */
#ifndef HW_PROFILE_RECORDER_H
#define HW_PROFILE_RECORDER_H

#include "profile/record.h"

#include <stdbool.h>

/* Starts it, if a record is wanted and HEADWAY_CHECKPOINT is not 0. `describe` fills in the facts and makes
 * no MPI call; it is called by that thread until hw_recorder_stop. `is_mpis` knows the MPI's own libraries by
 * their path: handlers for signals that they set up are fatal ones. One thread at a time, as for the stop. */
void hw_recorder_start(void (*describe)(struct hw_record_facts *facts), bool (*is_mpis)(const char *path));

/* Before MPI_Finalize writes the record itself. Waits for one that is being written. */
void hw_recorder_stop(void);

/* A record soon, as of now. Any thread. */
void hw_recorder_flush(void);

/* The process is about to end: the last record. The first end is the one that is told. Async-signal-safe; any
 * thread. Returns when it is written, or after five seconds. */
void hw_recorder_end(enum hw_record_ending ending, int code);

#endif
