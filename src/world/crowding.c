/* SPDX-License-Identifier: BSD-3-Clause */
#include "world/world.h"

#include <sched.h>

bool hw_world_is_crowded(int process_count, bool when_unknown)
{
    cpu_set_t own, all, other, common;
    int sharing_count = 0;
    if (sched_getaffinity(0, sizeof own, &own) != 0)
        return when_unknown;
    all = own;
    for (int i = 0; i < process_count; i++) {
        pid_t pid = hw_world.node_pids[i];
        if (pid <= 0 || sched_getaffinity(pid, sizeof other, &other) != 0)
            return when_unknown;
        CPU_AND(&common, &own, &other);
        if (CPU_COUNT(&common) == 0)
            continue;
        CPU_OR(&all, &all, &other);
        sharing_count++;
    }
    return CPU_COUNT(&all) < sharing_count;
}
