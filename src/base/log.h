/* SPDX-License-Identifier: BSD-3-Clause */
/* The log prints one line `[headway rank 3] cause; what to do` on standard error.
 *
 * Every line is one write(2) of at most HW_LOG_LINE_MAX bytes (longer text is cut with "..."), so lines of
 * different processes never mix. No memory is allocated and no lock is taken. Any thread may call at any
 * time: before MPI_Init, after MPI_Finalize, in a forked child. No function here calls MPI. errno is kept.
 *
 * Errors and warnings are printed by every process (but see hw_log_fatal); notes and info only by rank 0 (or
 * by a process that knows no rank), at level debug by all. Until hw_log_set_rank the rank is what the
 * launcher left in the environment (PMI_RANK, PMIX_RANK, OMPI_COMM_WORLD_RANK, SLURM_PROCID), if anything. */
#ifndef HW_BASE_LOG_H
#define HW_BASE_LOG_H

#include "base/atomic.h"

/* In the order of the values of HEADWAY_LOG in spec/options.toml. */
enum hw_log_level { HW_LOG_QUIET, HW_LOG_ERROR, HW_LOG_WARN, HW_LOG_INFO, HW_LOG_DEBUG };

enum { HW_LOG_LINE_MAX = 1024 };

void hw_log_set_level(enum hw_log_level level);
enum hw_log_level hw_log_level(void);

/* The rank in the world, as soon as MPI can tell. */
void hw_log_set_rank(int rank);
/* The rank in use, -1 while unknown. */
int hw_log_rank(void);

void hw_log_error(const char *format, ...) __attribute__((format(printf, 1, 2), cold));
/* An error for which the caller ends the process before any communication. The processes that one launcher
 * started on this node say the same line once: which of them is left open, for their environments and
 * programs may differ. The one that speaks returns half a second later. */
void hw_log_fatal(const char *format, ...) __attribute__((format(printf, 1, 2), cold));
void hw_log_warn(const char *format, ...) __attribute__((format(printf, 1, 2), cold));
/* Something the user asked to be told (HEADWAY_VERBOSE): printed at any level but quiet. */
void hw_log_note(const char *format, ...) __attribute__((format(printf, 1, 2), cold));
void hw_log_info(const char *format, ...) __attribute__((format(printf, 1, 2), cold));
void hw_log_debug(const char *format, ...) __attribute__((format(printf, 1, 2), cold));

/* Before a process ends the job: returns once what it said has been read, or half a second later. Hydra looks
 * at what a process asks of it before it reads what the process said; where it finds both, as on a busy core,
 * it ends the job and says nothing of why. */
void hw_log_await_reader(void);

/* Prints the first time it is called with this flag (static atomic_flag said = ATOMIC_FLAG_INIT). */
void hw_log_once(atomic_flag *flag, enum hw_log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4), cold));

#endif
