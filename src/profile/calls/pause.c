/* SPDX-License-Identifier: BSD-3-Clause */
/* A thread's profile that the program pauses (MPI_Pcontrol). */
#include "base/atomic.h"
#include "profile/calls/calls.h"
#include "profile/calls/requests.h"
#include "profile/record/lock.h"
#include "profile/waits/wire_windows.h"

static atomic_uint_fast64_t paused_ns; /* of all threads */

static void give_up(const struct hw_profile_request *request) { hw_wire_completed(request->window); }

void hw_profile_pause(void)
{
    hw_thread_sum_up(hw_profile_mine, HW_DELAY_NO_WHO);
    hw_profile_lock();
    hw_requests_give_up(give_up);
    hw_profile_unlock();
    hw_profile_mine->paused_ns = hw_clock_fast_ns();
}

void hw_profile_resume(void)
{
    if (hw_profile_mine->paused_ns)
        hw_atomic_add_relaxed(&paused_ns, hw_clock_fast_ns() - hw_profile_mine->paused_ns);
    hw_profile_mine->paused_ns = 0;
    hw_profile_mine->delays.ended_ns = 0; /* what came between is no gap */
}

double hw_profile_paused_s(void)
{
    uint64_t sum_ns = hw_atomic_load_relaxed(&paused_ns);
    return sum_ns ? (double)sum_ns / (double)HW_NS_PER_S : -1;
}
