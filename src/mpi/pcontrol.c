/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Pcontrol (MPI-4.1 section 15.2.4), by which a program controls a profiler. No entry: its arguments are
 * of any number. What the levels mean is what other profilers make of them:
 *
 *   0, 1      the profile of this thread is paused, and goes on (MPI's own words, mpiP, APS)
 *   2         the record is written now ("profile buffers are flushed")
 *   5 and up  a region of this number begins, and ends at the number with a minus sign (APS): a phase
 *
 * Others are left to tools below us. A name behind the level, as IPM has it, cannot be told from none. */
#include "base/atomic.h"
#include "base/log.h"
#include "profile/calls/phases.h"
#include "profile/recorder.h"
#include "progress/inside.h"
#include "real/real.h"

#include <stdarg.h>
#include <stdio.h>

enum { PAUSE, RESUME, FLUSH, FIRST_REGION = 5 };

#undef MPI_Pcontrol
#undef PMPI_Pcontrol

static void mark_region(int level)
{
    static atomic_flag is_said = ATOMIC_FLAG_INIT;
    char name[HW_PHASE_NAME_BYTES];
    snprintf(name, sizeof name, "region %d", level > 0 ? level : -level);
    enum hw_phase_result result = level > 0 ? hw_phase_begin(name) : hw_phase_end_if(name);
    if (result != HW_PHASE_OK)
        hw_log_once(&is_said, HW_LOG_WARN, "MPI_Pcontrol(%d): %s; the phases of the record are without it",
                    level, result == HW_PHASE_FULL ? "too many regions" : "another region is open, or none");
}

static void control(int level)
{
    if (level == PAUSE || level == RESUME)
        hw_inside_pause_profile(level == PAUSE);
    else if (level == FLUSH)
        hw_recorder_flush();
    else if (level >= FIRST_REGION || level <= -FIRST_REGION)
        mark_region(level);
}

__attribute__((visibility("default"))) int MPI_Pcontrol(const int level, ...)
{
    int (*next)(int level, ...) = NULL;
    void *more[4];
    va_list arguments;
    va_start(arguments, level);
    for (int i = 0; i < 4; i++) /* whatever is there: numbers and pointers of a tool below us */
        more[i] = va_arg(arguments, void *);
    va_end(arguments);
    control(level);
    *(void **)&next = hw_real_next("MPI_Pcontrol");
    return next ? next(level, more[0], more[1], more[2], more[3]) : MPI_SUCCESS;
}

__attribute__((visibility("default"), alias("MPI_Pcontrol"))) int PMPI_Pcontrol(const int level, ...);
