/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/p2p/ghost/users.h"

#include "base/peek.h"
#include "engines/p2p/ghost/memory.h"
#include "engines/p2p/shared/room.h"
#include "ghost/node_memory.h"
#include "world/world.h"

#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

static struct hw_p2p_user *users;
static int user_count;

/* What the node's ghosts have mapped from their start (node_memory.h), of one process. */
static void find_arena(struct hw_p2p_user *user, int local_index, const struct hw_p2p_introduction *told)
{
    if (!hw_ghost_node_memory_has_ranges() || told->arena_bytes == 0)
        return;
    user->arena_base = told->arena_base;
    user->arena_bytes = told->arena_bytes;
    user->arena =
        hw_ghost_node_memory_ranges().memory + hw_ghost_range_offset(local_index, (int64_t)told->arena_bytes);
}

bool hw_p2p_users_make(void)
{
    users = calloc((size_t)hw_world.own_node->process_count, sizeof *users);
    return users != NULL;
}

struct hw_p2p_user *hw_p2p_users_add(int process, pid_t pid, struct hw_p2p_block *block)
{
    struct hw_p2p_user *user = &users[user_count++];
    *user = (struct hw_p2p_user){.process = process, .pid = pid, .block = block};
    user->lanes = calloc((size_t)hw_world.user_count, sizeof *user->lanes);
    user->purses = calloc((size_t)hw_world.ghost_count, sizeof *user->purses);
    user->debts = calloc((size_t)hw_world.ghost_count, sizeof *user->debts);
    for (int place = 0; place < hw_world.ghost_count; place++)
        hw_p2p_credit_give(hw_p2p_credit_of(block, place), hw_p2p_first_credit(process, place));
    return user->lanes && user->purses && user->debts && hw_queue_consume(&user->jobs, hw_p2p_queue_of(block))
               ? user
               : NULL;
}

/* Closes the descriptor. */
static bool take(int process, const struct hw_p2p_introduction *told, int fd)
{
    int local_index = hw_world.processes[process].local_index;
    pid_t pid = hw_world.node_pids[local_index];
    struct hw_p2p_block *block = NULL;
    if (told->file.inode == 0 || pid <= 0)
        return false;
    if (fd < 0)
        fd = hw_ghost_pass_open_of(pid, (int)told->descriptor, told->file);
    if (fd >= 0)
        block = hw_p2p_memory_map(fd, (size_t)told->bytes);
    if (fd >= 0)
        close(fd);
    struct hw_p2p_user *user = block ? hw_p2p_users_add(process, pid, block) : NULL;
    if (user)
        find_arena(user, local_index, told);
    return user != NULL;
}

bool hw_p2p_users_take(const struct hw_p2p_introduction *all, int socket_fd)
{
    int count = hw_world.own_node->process_count;
    struct hw_file_identity *files = calloc((size_t)count, sizeof *files);
    int *found = calloc((size_t)count, sizeof *found);
    bool has_all = hw_p2p_users_make() && files && found;
    for (int i = 0; has_all && i < count; i++) {
        files[i] = all[i].file;
        found[i] = -1;
    }
    if (has_all)
        hw_ghost_pass_receive(socket_fd, files, count, found);
    for (int i = 0; has_all && i < hw_world.size; i++) {
        const struct hw_world_process *process = &hw_world.processes[i];
        if (process->user_rank >= 0 && process->ghost == hw_world.rank)
            has_all = take(i, &all[process->local_index], found[process->local_index]);
    }
    free(files);
    free(found);
    return has_all;
}

void hw_p2p_users_drop(void)
{
    for (int i = 0; i < user_count; i++) {
        hw_p2p_memory_drop(users[i].block, hw_p2p_block_bytes());
        free(users[i].lanes);
        free(users[i].purses);
        free(users[i].debts);
    }
    free(users);
    users = NULL;
    user_count = 0;
}

int hw_p2p_user_count(void) { return user_count; }

struct hw_p2p_user *hw_p2p_user_at(int index) { return &users[index]; }

struct hw_p2p_user *hw_p2p_user_of(int process)
{
    for (int i = 0; i < user_count; i++)
        if (users[i].process == process)
            return &users[i];
    return NULL;
}

const char *hw_p2p_user_memory(const struct hw_p2p_user *user, uint64_t address, uint64_t bytes)
{
    uint64_t offset = address - user->arena_base;
    if (address < user->arena_base || offset > user->arena_bytes || bytes > user->arena_bytes - offset)
        return NULL;
    return user->arena + offset;
}

int hw_p2p_user_read(const struct hw_p2p_user *user, uint64_t address, void *to, uint64_t bytes)
{
    return hw_peek(user->pid, (uintptr_t)address, to, (size_t)bytes);
}

int hw_p2p_user_write(const struct hw_p2p_user *user, uint64_t address, const void *from, uint64_t bytes)
{
    return hw_poke(user->pid, (uintptr_t)address, from, (size_t)bytes);
}
