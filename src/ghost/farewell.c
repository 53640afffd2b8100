/* SPDX-License-Identifier: BSD-3-Clause */
#include "ghost/farewell.h"

#include "base/clock.h"
#include "ghost/bell.h"
#include "ghost/channel.h"
#include "ghost/rates.h"
#include "ghost/service.h"
#include "ghost/watch.h"
#include "real/constants.h"
#include "world/world.h"

#include <stddef.h>

#define QUIESCE_NS (2 * HW_NS_PER_MS)

void hw_ghost_farewell_quiesce(void)
{
    MPI_Request request;
    int flag;
    hw_bottom.Barrier(hw_world.all);
    if (hw_bottom.Irecv(NULL, 0, HW_BYTE, hw_world.rank, HW_GHOST_TAG_NEVER, hw_world.all, &request) !=
        MPI_SUCCESS)
        return;
    for (uint64_t end_ns = hw_clock_now_ns() + QUIESCE_NS; hw_clock_now_ns() < end_ns;)
        hw_bottom.Test(&request, &flag, HW_STATUS_IGNORE);
    hw_bottom.Cancel(&request);
    hw_bottom.Wait(&request, HW_STATUS_IGNORE);
    hw_bottom.Barrier(hw_world.all);
}

/* Not before every user process is here: until then one may need any ghost, the first for the gate. And not
 * before a ghost has had all commands: nobody waits for an unlock to arrive, and what is left of a
 * communicator when it is freed some MPIs take for an error. */
static void tell_finish(bool is_any_lost)
{
    const uint64_t *told = hw_ghost_channel_sum();
    if (hw_world.processes[hw_world.rank].local_index > 0)
        return;
    hw_ghost_watch_stop();
    for (int i = 0; i < hw_world.own_node->ghost_count; i++) {
        int place = hw_world.own_node->first_ghost + i;
        struct hw_ghost_command command = {
            .tag = HW_GHOST_TAG_FINISH, .id = told[place], .words = {is_any_lost}};
        hw_ghost_tell(hw_world.ghost_ranks[place], &command);
    }
}

void hw_ghost_farewell(void)
{
    const struct hw_ghost_service *service;
    if (hw_ghost_services_were_lost()) {
        tell_finish(true);
        return;
    }
    for (int i = 0; (service = hw_ghost_service_at(i)) != NULL; i++)
        if (service->leave)
            service->leave();
    hw_ghost_rates_hide_mark();
    tell_finish(false);
    for (int i = 0; (service = hw_ghost_service_at(i)) != NULL; i++)
        if (service->close)
            service->close();
    hw_ghost_bells_free();
    hw_ghost_farewell_quiesce();
    hw_ghost_channel_close();
}
