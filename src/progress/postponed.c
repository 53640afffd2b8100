/* SPDX-License-Identifier: BSD-3-Clause */
#include "progress/postponed.h"

#include "base/options.h"
#include "profile/calls/calls.h"
#include "profile/record/counters.h"
#include "real/constants.h"
#include "real/quirks.h"

/* At once: one more starts those. */
enum { MOST = 64 };

atomic_uint_fast64_t hw_postponed_least_bytes = UINT64_MAX;

enum { NOT_JOINED, MAY, MAY_NOT };
static atomic_int allowance;

/* In the order of their posts; hw_inside_postponed of them. */
static MPI_Request postponed[MOST];

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

void hw_postponed_joined(int level, bool is_session)
{
    bool is_useful = HW_REAL_ANSWERS_BEHIND_DATA && hw_options.postpone != HW_OPTION_POSTPONE_OFF;
    bool is_alone =
        !is_session && level <= HW_THREAD_FUNNELED && hw_atomic_load_relaxed(&allowance) == NOT_JOINED;
    bool may = is_useful && is_alone && !hw_profile_is_on() && !has_tools();
    hw_atomic_store_relaxed(&allowance, may ? MAY : MAY_NOT);
    bool is_forced = may && hw_options.postpone == HW_OPTION_POSTPONE_ON;
    hw_atomic_store_relaxed(&hw_postponed_least_bytes, is_forced ? 0 : UINT64_MAX);
}

void hw_postponed_stop(void)
{
    hw_atomic_store_relaxed(&allowance, MAY_NOT);
    hw_atomic_store_relaxed(&hw_postponed_least_bytes, UINT64_MAX);
}

bool hw_postponed_may(void) { return hw_atomic_load_relaxed(&allowance) == MAY; }

void hw_postponed_want(uint64_t least_bytes)
{
    if (hw_options.postpone == HW_OPTION_POSTPONE_AUTO && hw_postponed_may())
        hw_atomic_store_relaxed(&hw_postponed_least_bytes, least_bytes);
}

static void start(void)
{
    int count = hw_inside_postponed;
    hw_inside_postponed = 0;
    int rc = hw_bottom.Startall(count, postponed);
    if (rc != MPI_SUCCESS) /* no call of the program can return it */
        hw_bottom.Comm_call_errhandler(HW_COMM_WORLD, rc);
}

bool hw_postponed_is_possible(int source, uint64_t bytes)
{
    return bytes >= hw_atomic_load_relaxed(&hw_postponed_least_bytes) && hw_inside_postponed < MOST &&
           (source >= 0 || source == HW_ANY_SOURCE);
}

int hw_postponed_receive(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                         MPI_Comm comm, MPI_Request *request)
{
    int rc = hw_real_recv_init(buf, count, datatype, source, tag, comm, request);
    if (rc != MPI_SUCCESS)
        return rc;
    HW_COUNT(receives_postponed);
    postponed[hw_inside_postponed] = *request;
    hw_inside_postpone(start);
    return rc;
}
