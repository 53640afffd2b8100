/* SPDX-License-Identifier: BSD-3-Clause */
/* The library's side of include/headway.h: what programs that know of Headway may tell it. */
#include "mpi/interface.h"

#include "base/atomic.h"
#include "engines/engine.h"
#include "headway.h"
#include "objects/request.h"
#include "profile/calls/phases.h"
#include "profile/record/counters.h"
#include "progress/listeners.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned pause_count; /* under lock */

/* Another thread may be in MPI_Finalize. An engine that has been stopped takes any of the calls below without
 * effect, and forgets them at its next start. */

static int pause_engine(void)
{
    pthread_mutex_lock(&lock);
    if (pause_count++ == 0)
        hw_engines_pause(true);
    pthread_mutex_unlock(&lock);
    return HEADWAY_OK;
}

static int resume_engine(void)
{
    pthread_mutex_lock(&lock);
    bool is_paused = pause_count > 0;
    if (is_paused && --pause_count == 0)
        hw_engines_pause(false);
    pthread_mutex_unlock(&lock);
    return is_paused ? HEADWAY_OK : HEADWAY_MISUSE;
}

void hw_interface_engine_started(void)
{
    pthread_mutex_lock(&lock);
    if (pause_count > 0)
        hw_engines_pause(true);
    if (hw_listeners_is_any())
        hw_engines_listen(true);
    pthread_mutex_unlock(&lock);
}

static int listen_to_engine(int descriptor)
{
    if (fcntl(descriptor, F_GETFD) < 0)
        return HEADWAY_MISUSE;
    pthread_mutex_lock(&lock);
    int result = hw_listeners_add(descriptor) == HW_OK ? HEADWAY_OK : HEADWAY_FULL;
    if (result == HEADWAY_OK)
        hw_engines_listen(true);
    pthread_mutex_unlock(&lock);
    return result;
}

static int unlisten_to_engine(int descriptor)
{
    pthread_mutex_lock(&lock);
    bool is_found = hw_listeners_remove(descriptor);
    if (is_found && !hw_listeners_is_any())
        hw_engines_listen(false);
    pthread_mutex_unlock(&lock);
    return is_found ? HEADWAY_OK : HEADWAY_MISUSE;
}

static int result_of(enum hw_phase_result result)
{
    return result == HW_PHASE_OK ? HEADWAY_OK : result == HW_PHASE_FULL ? HEADWAY_FULL : HEADWAY_MISUSE;
}

static int begin_phase(const char *name) { return result_of(hw_phase_begin(name)); }
static int end_phase(void) { return result_of(hw_phase_end()); }

static double seconds(uint64_t ns) { return (double)ns * 1e-9; }

/* As the report of a run does, for this process. */
static double recovered_s(void)
{
    double on_s = seconds(hw_atomic_load_seq_cst(&hw_counters.judged_on_ns));
    double low_s = seconds(hw_atomic_load_seq_cst(&hw_counters.judged_off_low_ns)) - on_s;
    double high_s = seconds(hw_atomic_load_seq_cst(&hw_counters.judged_off_high_ns)) - on_s;
    return low_s <= 0 && high_s >= 0 ? 0 : seconds(hw_atomic_load_seq_cst(&hw_counters.judged_off_ns)) - on_s;
}

static int query(struct headway_state *state, size_t size)
{
    struct headway_state now = {.version = HEADWAY_VERSION, .engine = "off"};
    struct hw_record_facts facts = {.engine = "off"};
    if (!state)
        return HEADWAY_MISUSE;
    pthread_mutex_lock(&lock);
    now.is_paused = pause_count > 0;
    bool is_on = hw_engine_is_on();
    if (is_on)
        hw_engines_describe(&facts);
    pthread_mutex_unlock(&lock);
    now.is_active = is_on && !now.is_paused;
    snprintf(now.engine, sizeof now.engine, "%s", facts.engine);
    now.progress_cpu_s = seconds(facts.thread_cpu_ns);
    now.pending = hw_atomic_load_seq_cst(&hw_request_pending);
    now.tracked = hw_counters_tracked();
    now.waited_s = seconds(hw_atomic_load_seq_cst(&hw_counters.blocked_ns));
    now.overlapped_s = seconds(hw_atomic_load_seq_cst(&hw_counters.overlapped_ns));
    now.recovered_s = recovered_s();
    memcpy(state, &now, size < sizeof now ? size : sizeof now);
    return HEADWAY_OK;
}

__attribute__((visibility("default"))) const struct headway_interface *headway_interface(int version)
{
    static const struct headway_interface functions = {
        .size = sizeof functions,
        .pause = pause_engine,
        .resume = resume_engine,
        .phase_begin = begin_phase,
        .phase_end = end_phase,
        .query = query,
        .listen = listen_to_engine,
        .unlisten = unlisten_to_engine,
    };
    return version == HEADWAY_INTERFACE_VERSION ? &functions : NULL;
}
