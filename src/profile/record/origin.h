/* SPDX-License-Identifier: BSD-3-Clause */
/* What every report says of a run: which program with which arguments, when, on which machine, by which
 * Headway; and how long MPI_Init took, which is no computation. Thread that initializes MPI; describing: the
 * one that writes the record. */
#ifndef HW_PROFILE_RECORD_ORIGIN_H
#define HW_PROFILE_RECORD_ORIGIN_H

#include "profile/record/fields.h"

/* Before the real MPI_Init. The command line is read here: a program may write over it later. */
void hw_origin_begin(void);

/* After the real MPI_Init, or when the first session is there; the first time counts. */
void hw_origin_entered(void);

/* Sets command, started_s, host, version and init_s. Strings are static. */
void hw_origin_describe(struct hw_record_process *process);

/* Writes the arguments of `words` (each ends with a 0, `length` bytes in all) as a shell would take them.
 * What does not fit ends in "..."; `capacity` is at least 4. */
void hw_origin_quote(const char *words, size_t length, char *text, size_t capacity);

#endif
