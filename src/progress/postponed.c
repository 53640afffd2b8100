/* SPDX-License-Identifier: BSD-3-Clause */
#include "progress/postponed.h"

#include "base/clock.h"
#include "base/options.h"
#include "profile/calls/calls.h"
#include "profile/record/counters.h"
#include "real/constants.h"
#include "real/extensions.h"
#include "real/quirks.h"

#include <pthread.h>

/* At once: one more starts those. */
enum { MOST = 64 };

atomic_uint_fast64_t hw_postponed_least_bytes = UINT64_MAX;

enum { NOT_JOINED, MAY, MAY_NOT };
static atomic_int allowance; /* written under the lock */

/* Held over the start: a thread that calls MPI for the first time waits until all is started. A handler of an
 * error of the start may come back. */
static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

/* In the order of their posts; hw_inside_postponed of them. Under the lock. */
static MPI_Request postponed[MOST];
static struct envelope {
    MPI_Comm comm;
    int source, tag;
    bool is_unknown; /* of a persistent one: any receive may take its message */
} envelopes[MOST];
static bool is_starting;
static atomic_uint_fast64_t oldest_ns; /* when the first of them was posted */

/* Tools below us are to see the calls that the program made. */
static bool has_tools(void)
{
#define IS_TOOLS(name) (hw_real.name != hw_bottom.name)
    return IS_TOOLS(Irecv) || IS_TOOLS(Recv_init) || IS_TOOLS(Startall) || IS_TOOLS(Wait) ||
           IS_TOOLS(Waitall) || IS_TOOLS(Waitany) || IS_TOOLS(Waitsome) || IS_TOOLS(Test) ||
           IS_TOOLS(Testall) || IS_TOOLS(Testany) || IS_TOOLS(Testsome) || IS_TOOLS(Request_free) ||
           IS_TOOLS(Cancel) || IS_TOOLS(Request_get_status);
#undef IS_TOOLS
}

static void allow(bool may, uint64_t least_bytes)
{
    pthread_mutex_lock(&lock);
    hw_atomic_store_relaxed(&allowance, may ? MAY : MAY_NOT);
    hw_atomic_store_relaxed(&hw_postponed_least_bytes, least_bytes);
    pthread_mutex_unlock(&lock);
}

/* They count until they are started: who finds none goes on. */
static void start(void)
{
    pthread_mutex_lock(&lock);
    int count = is_starting ? 0 : hw_atomic_load_relaxed(&hw_inside_postponed);
    if (count > 0) {
        is_starting = true;
        int rc = hw_bottom.Startall(count, postponed);
        hw_atomic_store_release(&hw_inside_postponed, 0);
        is_starting = false;
        if (rc != MPI_SUCCESS) /* no call of the program can return it */
            hw_bottom.Comm_call_errhandler(HW_COMM_WORLD, rc);
    }
    pthread_mutex_unlock(&lock);
}

static void stop_and_start(void)
{
    hw_postponed_stop();
    start();
}

/* Below MPI_THREAD_MULTIPLE another thread may call what concerns no message at any time, and the MPI has no
 * locks: it starts nothing. Where threads hand over, one's call may begin beside the other's first one.
 * Calls that are not of the standard start nothing, and may wait. */
void hw_postponed_joined(int level, bool is_session)
{
    bool is_possible = hw_real_answers_hold_up() && hw_real_asking_keeps_status();
    bool is_first = !is_session && hw_atomic_load_relaxed(&allowance) == NOT_JOINED;
    bool may = is_possible && hw_options.postpone != HW_OPTION_POSTPONE_OFF && is_first &&
               level != HW_THREAD_SERIALIZED && !hw_profile_is_on() && !has_tools() &&
               hw_real_extension_used() == NULL;
    hw_inside_begin_postponing(start);
    allow(may, may && hw_options.postpone == HW_OPTION_POSTPONE_ON ? 0 : UINT64_MAX);
    if (may && !hw_inside_is_only_thread(level == HW_THREAD_MULTIPLE ? stop_and_start : hw_postponed_stop))
        hw_postponed_stop();
}

void hw_postponed_stop(void) { allow(false, UINT64_MAX); }

void hw_postponed_fork_child(void)
{
    lock = (pthread_mutex_t)PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
    hw_atomic_store_relaxed(&hw_inside_postponed, 0);
    is_starting = false;
}

bool hw_postponed_may(void) { return hw_atomic_load_relaxed(&allowance) == MAY; }

void hw_postponed_want(uint64_t least_bytes)
{
    if (hw_options.postpone != HW_OPTION_POSTPONE_AUTO || !hw_postponed_may())
        return;
    if (hw_atomic_load_relaxed(&hw_postponed_least_bytes) == least_bytes)
        return;
    pthread_mutex_lock(&lock);
    if (hw_postponed_may()) /* another thread may have come */
        hw_atomic_store_relaxed(&hw_postponed_least_bytes, least_bytes);
    pthread_mutex_unlock(&lock);
}

uint64_t hw_postponed_left_ns(void)
{
    if (!hw_inside_has_postponed())
        return 0;
    uint64_t until_ns = hw_atomic_load_relaxed(&oldest_ns) + HW_POSTPONED_MOST_NS, now_ns = hw_clock_now_ns();
    return until_ns > now_ns ? until_ns - now_ns : 1;
}

bool hw_postponed_is_possible(int source, uint64_t bytes)
{
    return hw_postponed_may() && bytes >= hw_atomic_load_relaxed(&hw_postponed_least_bytes) &&
           hw_atomic_load_relaxed(&hw_inside_postponed) < MOST && (source >= 0 || source == HW_ANY_SOURCE);
}

static bool is_same_or_any(int one, int other, int any) { return one == other || one == any || other == any; }

bool hw_postponed_is_rival(int source, int tag, MPI_Comm comm)
{
    if (source == HW_PROC_NULL)
        return false;
    bool is_rival = false;
    pthread_mutex_lock(&lock);
    int count = hw_atomic_load_relaxed(&hw_inside_postponed);
    for (const struct envelope *e = envelopes; e < envelopes + count && !is_rival; e++)
        is_rival = e->is_unknown || (e->comm == comm && is_same_or_any(e->source, source, HW_ANY_SOURCE) &&
                                     is_same_or_any(e->tag, tag, HW_ANY_TAG));
    pthread_mutex_unlock(&lock);
    return is_rival;
}

/* Under the lock. */
static void add(MPI_Request request, const struct envelope *envelope)
{
    HW_COUNT(receives_postponed);
    if (!hw_inside_has_postponed())
        hw_atomic_store_relaxed(&oldest_ns, hw_clock_now_ns());
    int at = hw_atomic_load_relaxed(&hw_inside_postponed);
    postponed[at] = request;
    envelopes[at] = *envelope;
    hw_atomic_add_release(&hw_inside_postponed, 1);
}

bool hw_postponed_restart(int count, const MPI_Request *requests, uint64_t least_bytes)
{
    pthread_mutex_lock(&lock);
    bool may = hw_postponed_is_possible(HW_ANY_SOURCE, least_bytes) && !is_starting &&
               count <= MOST - hw_atomic_load_relaxed(&hw_inside_postponed);
    for (int i = 0; may && i < count; i++)
        add(requests[i], &(struct envelope){.is_unknown = true});
    pthread_mutex_unlock(&lock);
    return may;
}

int hw_postponed_receive(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                         MPI_Comm comm, MPI_Request *request)
{
    int rc = hw_real_recv_init(buf, count, datatype, source, tag, comm, request);
    if (rc != MPI_SUCCESS)
        return rc;
    pthread_mutex_lock(&lock);
    bool may = hw_postponed_may() && !is_starting; /* another thread may have come meanwhile */
    if (may)
        add(*request, &(struct envelope){.comm = comm, .source = source, .tag = tag});
    pthread_mutex_unlock(&lock);
    if (!may && (rc = hw_bottom.Startall(1, request)) != MPI_SUCCESS)
        hw_bottom.Request_free(request);
    return rc;
}
