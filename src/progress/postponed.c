/* SPDX-License-Identifier: BSD-3-Clause */
#include "progress/postponed.h"

#include "base/options.h"
#include "profile/calls/calls.h"
#include "profile/record/counters.h"
#include "progress/inside.h"
#include "real/constants.h"
#include "real/quirks.h"

/* Of one series: the rest begin at once. */
enum { MOST = 64 };

atomic_bool hw_postponed_wanted;

enum { NOT_JOINED, MAY, MAY_NOT };
static atomic_int allowance;

/* In the order of their posts. Written by who is in MPI: the program's thread, or the progress thread in its
 * turn (progress/gate.h). */
static MPI_Request postponed[MOST];
static int postponed_count;

/* Tools below us are to see the calls that the program made. */
static bool has_tools(void)
{
    return hw_real.Irecv != hw_bottom.Irecv || hw_real.Wait != hw_bottom.Wait ||
           hw_real.Waitall != hw_bottom.Waitall;
}

void hw_postponed_joined(int level, bool is_session)
{
    bool is_useful = HW_REAL_ANSWERS_BEHIND_DATA && hw_options.postpone != HW_OPTION_POSTPONE_OFF;
    bool is_alone =
        !is_session && level <= HW_THREAD_FUNNELED && hw_atomic_load_relaxed(&allowance) == NOT_JOINED;
    bool may = is_useful && is_alone && !hw_profile_is_on() && !has_tools();
    hw_atomic_store_relaxed(&allowance, may ? MAY : MAY_NOT);
    hw_atomic_store_relaxed(&hw_postponed_wanted, may && hw_options.postpone == HW_OPTION_POSTPONE_ON);
}

void hw_postponed_stop(void)
{
    hw_atomic_store_relaxed(&allowance, MAY_NOT);
    hw_atomic_store_relaxed(&hw_postponed_wanted, false);
}

void hw_postponed_want(bool is_wanted)
{
    if (hw_options.postpone == HW_OPTION_POSTPONE_AUTO && hw_atomic_load_relaxed(&allowance) == MAY)
        hw_atomic_store_relaxed(&hw_postponed_wanted, is_wanted);
}

void hw_postponed_start(void)
{
    int count = postponed_count;
    if (count == 0)
        return;
    postponed_count = 0;
    hw_bottom.Startall(count, postponed); /* raises its own errors */
}

static void pay(void)
{
    hw_inside_is_owing = false;
    hw_postponed_start();
}

bool hw_postponed_is_possible(int source)
{
    bool is_possible = hw_postponed_is_wanted() && postponed_count < MOST &&
                       (source >= 0 || source == HW_ANY_SOURCE) &&
                       (!hw_inside_is_owing || hw_inside_owes(pay));
    if (!is_possible)
        hw_inside_pay();
    return is_possible;
}

int hw_postponed_receive(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                         MPI_Comm comm, MPI_Request *request)
{
    int rc = hw_real_recv_init(buf, count, datatype, source, tag, comm, request);
    if (rc != MPI_SUCCESS)
        return rc;
    HW_COUNT(receives_postponed);
    postponed[postponed_count++] = *request;
    hw_inside_owe(pay);
    return rc;
}

void hw_postponed_let_send(void)
{
    if (!hw_inside_owes(pay))
        hw_inside_pay();
}
