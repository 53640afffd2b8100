/* SPDX-License-Identifier: BSD-3-Clause */
#include "ghost/user.h"

#include "base/log.h"
#include "ghost/bell.h"
#include "ghost/channel.h"
#include "ghost/leaver.h"
#include "ghost/node_memory.h"
#include "ghost/rates.h"
#include "ghost/service.h"
#include "ghost/watch.h"
#include "world/world.h"

#include <stddef.h>

enum hw_status hw_ghost_user_start(void (*at_end)(void))
{
    const struct hw_ghost_service *service;
    enum hw_status status = hw_ghost_channel_open();
    if (status == HW_OK)
        status = hw_world_at_end(at_end);
    if (status != HW_OK) {
        hw_log_error(
            "no memory to talk to ghosts, or the MPI refuses attributes; run without HEADWAY_GHOSTS");
        hw_ghost_channel_close();
        return status;
    }
    hw_ghost_bells_make(false);
    hw_ghost_rates_show_mark();
    hw_ghost_leaver_start();
    hw_ghost_node_memory_open();
    for (int i = 0; status == HW_OK && (service = hw_ghost_service_at(i)) != NULL; i++)
        if (service->open)
            status = service->open();
    if (status == HW_OK)
        hw_ghost_watch_start();
    return status;
}

uint64_t hw_ghost_user_cpu_ns(void)
{
    int ghost = hw_world.processes[hw_world.rank].ghost;
    return hw_ghost_bell_cpu_ns(hw_world.processes[ghost].local_index);
}
