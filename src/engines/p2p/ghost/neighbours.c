/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/p2p/ghost/neighbours.h"

#include "base/options.h"
#include "engines/p2p/ghost/memory.h"
#include "engines/p2p/shared/opened.h"
#include "ghost/reach.h"
#include "world/world.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* Where processes and ghosts have a core each. */
bool hw_p2p_neighbours_are_wanted(void)
{
    return hw_options.p2p_near == HW_OPTION_P2P_NEAR_ON ||
           (hw_options.p2p_near == HW_OPTION_P2P_NEAR_AUTO &&
            !hw_world_is_crowded(hw_world.own_node->process_count, true));
}

/* Who may read a process may also open what it has open. A child of fork has no part in it. */
static struct hw_p2p_block *map(pid_t pid, const struct hw_p2p_introduction *told)
{
    int fd = told->file.inode == 0 ? -1 : hw_ghost_pass_open_of(pid, (int)told->descriptor, told->file);
    struct hw_p2p_block *block = fd >= 0 ? hw_p2p_memory_map(fd, hw_p2p_block_bytes()) : NULL;
    if (fd >= 0)
        close(fd);
    if (block)
        madvise(block, hw_p2p_block_bytes(), MADV_DONTFORK);
    return block;
}

/* NULL, or why not. */
static const char *take_all(const struct hw_p2p_introduction *all)
{
    int own = hw_world.processes[hw_world.rank].local_index;
    hw_p2p_opened.neighbours = calloc((size_t)hw_world_own_user_count(), sizeof(struct hw_p2p_block *));
    for (int i = 0; hw_p2p_opened.neighbours && i < hw_world_own_user_count(); i++) {
        if (i == own)
            continue;
        if (hw_ghost_reach_refuse(hw_world.node_pids[i], all[i].proof))
            return "p2p: within the node, whose processes may not read one another";
        hw_p2p_opened.neighbours[i] = map(hw_world.node_pids[i], &all[i]);
        if (hw_p2p_opened.neighbours[i] == NULL)
            return "p2p: within the node, whose processes share no memory";
    }
    return hw_p2p_opened.neighbours ? NULL : "p2p: no memory";
}

void hw_p2p_neighbours_open(const struct hw_p2p_introduction *all, bool is_served)
{
    bool is_user = !hw_world_is_ghost();
    hw_p2p_opened.near_reason = NULL;
    if (!is_served)
        hw_p2p_opened.near_reason = "p2p: within the node, where a process declines";
    else if (is_user && !hw_p2p_neighbours_are_wanted())
        hw_p2p_opened.near_reason =
            hw_options.p2p_near == HW_OPTION_P2P_NEAR_OFF
                ? "p2p: within the node; HEADWAY_P2P_NEAR=on lets its receiver read it"
                : "p2p: within the node, which has no core to spare";
    else if (is_user)
        hw_p2p_opened.near_reason = take_all(all);
    bool is_open = hw_world_have_all(hw_world.node, hw_p2p_opened.near_reason == NULL);
    if (is_open)
        return;
    if (hw_p2p_opened.near_reason == NULL)
        hw_p2p_opened.near_reason = "p2p: within the node, where a process declines";
    hw_p2p_neighbours_drop();
}

void hw_p2p_neighbours_drop(void)
{
    for (int i = 0; hw_p2p_opened.neighbours && i < hw_world_own_user_count(); i++)
        hw_p2p_memory_drop(hw_p2p_opened.neighbours[i], hw_p2p_block_bytes());
    free(hw_p2p_opened.neighbours);
    hw_p2p_opened.neighbours = NULL;
}
