/* SPDX-License-Identifier: BSD-3-Clause */
#include "ghost/bell.h"

#include "base/atomic.h"
#include "ghost/pass.h"
#include "ghost/rates.h"
#include "ghost/service.h"
#include "real/constants.h"
#include "shm/again.h"
#include "shm/file_identity.h"
#include "world/world.h"

#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static_assert(sizeof(struct hw_ghost_bell) == 64, "one cache line for each ghost");

/* What a ghost shares with its node. */
struct place {
    struct hw_ghost_bell bell;
    struct hw_ghost_apply_lock lock;
};

static MPI_Win memory;
static struct place *places; /* of the node's first ghost; the others follow */
static struct place *own;    /* in a ghost */
static bool is_again;        /* they are mapped once more, and the window is gone */
static int pipe_fd = -1;     /* in a ghost */

/* In a user process, by ghost. A program may close all descriptors, as daemons do, and open its own. */
static struct rope {
    int fd;
    struct hw_file_identity pipe; /* 0: the ghost cannot be rung */
} * ropes;

/* With both ends in one descriptor: the pipe is never at its end, and who writes into it after the ghost has
 * gone gets no signal for it. */
static void hang(struct hw_ghost_bell *bell)
{
    char path[32];
    int ends[2];
    if (pipe2(ends, O_NONBLOCK | O_CLOEXEC) != 0)
        return;
    snprintf(path, sizeof path, "/proc/self/fd/%d", ends[0]);
    pipe_fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    close(ends[0]);
    close(ends[1]);
    bell->descriptor = pipe_fd;
    bell->pipe = hw_file_identify(pipe_fd);
}

/* In a user process: has every ghost's pipe, or some. */
static void take_ropes(int socket_fd, int first, struct hw_file_identity *pipes, int *found)
{
    int ghost_count = hw_world.own_node->ghost_count;
    for (int i = 0; i < ghost_count; i++) {
        pipes[i] = places[i].bell.pipe;
        found[i] = -1;
    }
    hw_ghost_pass_receive(socket_fd, pipes, ghost_count, found);
    for (int i = 0; i < ghost_count; i++) {
        if (found[i] < 0 && pipes[i].inode != 0)
            found[i] =
                hw_ghost_pass_open_of(hw_world.node_pids[first + i], places[i].bell.descriptor, pipes[i]);
        ropes[i].fd = found[i];
        if (found[i] >= 0)
            ropes[i].pipe = pipes[i];
    }
}

/* Collective over the node, after its ghosts have hung their bells. */
static void hand_round(int first)
{
    int count = hw_world.own_node->process_count, ghost_count = hw_world.own_node->ghost_count;
    struct hw_ghost_peer own = {0}, *peers = calloc((size_t)count, sizeof *peers);
    struct hw_file_identity *pipes = calloc((size_t)ghost_count, sizeof *pipes);
    int *found = calloc((size_t)ghost_count, sizeof *found);
    ropes = calloc((size_t)ghost_count, sizeof *ropes);
    int socket_fd = hw_ghost_pass_open(&own);
    if (hw_world_have_all(hw_world.node, peers && pipes && found && ropes && places) && peers && pipes &&
        found &&
        hw_bottom.Allgather(&own, sizeof own, HW_BYTE, peers, sizeof own, HW_BYTE, hw_world.node) ==
            MPI_SUCCESS) {
        for (int i = 0; pipe_fd >= 0 && i < first; i++)
            hw_ghost_pass_send(socket_fd, &peers[i], pipe_fd);
        hw_bottom.Barrier(hw_world.node);
        if (!hw_world_is_ghost())
            take_ropes(socket_fd, first, pipes, found);
    }
    if (socket_fd >= 0)
        close(socket_fd);
    free(found);
    free(pipes);
    free(peers);
}

/* Whole cache lines. */
static size_t leavers_bytes(int user_count)
{
    size_t bytes = sizeof(struct hw_ghost_leavers) + (size_t)user_count * sizeof(uint32_t);
    return (bytes + sizeof(struct hw_ghost_bell) - 1) & ~(sizeof(struct hw_ghost_bell) - 1);
}

/* After the place of the node's last ghost. */
static size_t extra_bytes(int user_count)
{
    bool is_last = hw_world.processes[hw_world.rank].local_index == hw_world.own_node->ghost_count - 1;
    return is_last ? leavers_bytes(user_count) + hw_ghost_rates_bytes(user_count) : 0;
}

static size_t all_bytes(void)
{
    int user_count = hw_world_own_user_count();
    return (size_t)hw_world.own_node->ghost_count * sizeof(struct place) + leavers_bytes(user_count) +
           hw_ghost_rates_bytes(user_count);
}

/* As that of the registry (registry.c). */
static void keep_without_window(void)
{
    struct place *found = places ? hw_shm_map_again(places, all_bytes()) : NULL;
    if (!hw_world_have_all(hw_world.node, found) || hw_bottom.Win_free(&memory) != MPI_SUCCESS) {
        if (found)
            hw_shm_unmap_again(found, all_bytes());
        return;
    }
    if (own)
        own = found + (own - places);
    places = found;
    is_again = true;
}

void hw_ghost_bells_make(bool is_lock_offered)
{
    bool is_ghost = hw_world_is_ghost();
    int unit, first = hw_world_own_user_count();
    MPI_Aint of_first, size = is_ghost ? (MPI_Aint)(sizeof *places + extra_bytes(first)) : 0;
    struct place *base;
    if (hw_bottom.Win_allocate_shared(size, 1, HW_INFO_NULL, hw_world.node, &base, &memory) != MPI_SUCCESS) {
        memory = HW_WIN_NULL;
        return;
    }
    if (hw_bottom.Win_shared_query(memory, first, &of_first, &unit, &places) != MPI_SUCCESS)
        places = NULL;
    if (is_ghost) {
        own = base;
        memset(own, 0, (size_t)size);
        own->lock.is_offered = is_lock_offered;
        hang(&own->bell);
    }
    hand_round(first);
    if (hw_ghost_services_are_dispensable())
        keep_without_window();
}

void hw_ghost_bells_free(void)
{
    if (is_again)
        hw_shm_unmap_again(places, all_bytes());
    else if (memory != HW_WIN_NULL)
        hw_bottom.Win_free(&memory);
    is_again = false;
    if (pipe_fd >= 0)
        close(pipe_fd);
    pipe_fd = -1;
    for (int i = 0; ropes && i < hw_world.own_node->ghost_count; i++)
        if (hw_file_is(ropes[i].fd, ropes[i].pipe))
            close(ropes[i].fd);
    free(ropes);
    ropes = NULL;
    places = own = NULL;
}

struct hw_ghost_bell *hw_ghost_bell_of(int ghost_index)
{
    return ropes && ropes[ghost_index].pipe.inode != 0 ? &places[ghost_index].bell : NULL;
}

struct hw_ghost_bell *hw_ghost_bell_own(void)
{
    int ghost = hw_world.processes[hw_world.rank].ghost;
    return hw_ghost_bell_of(hw_world.processes[ghost].local_index);
}

void hw_ghost_bells_wait_begin(void)
{
    for (int i = 0; i < hw_world.own_node->ghost_count; i++)
        hw_ghost_bell_wait_begin(hw_ghost_bell_of(i));
}

void hw_ghost_bells_wait_end(void)
{
    for (int i = 0; i < hw_world.own_node->ghost_count; i++)
        hw_ghost_bell_wait_end(hw_ghost_bell_of(i));
}

void hw_ghost_bells_ring(void)
{
    for (int i = 0; i < hw_world.own_node->ghost_count; i++)
        hw_ghost_bell_ring(hw_ghost_bell_of(i));
}

struct hw_ghost_leavers *hw_ghost_leavers(void)
{
    return places ? (struct hw_ghost_leavers *)(void *)(places + hw_world.own_node->ghost_count) : NULL;
}

struct hw_ghost_rates *hw_ghost_rates(void)
{
    if (places == NULL)
        return NULL;
    int user_count = hw_world_own_user_count();
    return (struct hw_ghost_rates *)(void *)((char *)hw_ghost_leavers() + leavers_bytes(user_count));
}

struct hw_ghost_apply_lock *hw_ghost_apply_lock_of(int ghost_index)
{
    return places && places[ghost_index].lock.is_offered ? &places[ghost_index].lock : NULL;
}

void hw_ghost_bell_pull(const struct hw_ghost_bell *bell, enum hw_ghost_ring ring)
{
    const struct rope *rope = &ropes[(const struct place *)bell - places];
    const char byte = (char)ring;
    if (!hw_file_is(rope->fd, rope->pipe))
        return;
    ssize_t written = write(rope->fd, &byte, 1);
    (void)written; /* full: the ghost is being woken already */
}

int hw_ghost_bell_descriptor(void) { return pipe_fd; }

bool hw_ghost_bell_is_awaited(void) { return own && hw_atomic_load_relaxed(&own->bell.waiting) > 0; }

/* Takes all rings out of the pipe. Their number; -1: one was of another kind. */
static int hear(enum hw_ghost_ring kind)
{
    char rings[16];
    int count = 0;
    bool has_other = false;
    for (ssize_t came; pipe_fd >= 0 && (came = read(pipe_fd, rings, sizeof rings)) > 0; count += (int)came)
        for (ssize_t i = 0; i < came; i++)
            has_other = has_other || rings[i] != (char)kind;
    return has_other ? -1 : count;
}

void hw_ghost_bell_tell(bool is_asleep)
{
    if (own == NULL)
        return;
    if (is_asleep) /* from now on a ring for later wakes it again */
        hw_atomic_store_seq_cst(&own->bell.is_rung_later, 0);
    else
        hear(HW_GHOST_RING_NOW);
    hw_atomic_store_seq_cst(&own->bell.is_asleep, is_asleep);
}

bool hw_ghost_bell_is_posted_to(void) { return own && hw_atomic_load_relaxed(&own->bell.posting) > 0; }

bool hw_ghost_bell_has_time(void)
{
    int later = hear(HW_GHOST_RING_LATER);
    return later > 0 && !hw_ghost_bell_is_awaited();
}

void hw_ghost_bell_tell_cpu(uint64_t cpu_ns)
{
    if (own)
        hw_atomic_store_relaxed(&own->bell.cpu_ns, cpu_ns);
}

uint64_t hw_ghost_bell_cpu_ns(int ghost_index)
{
    return places ? hw_atomic_load_relaxed(&places[ghost_index].bell.cpu_ns) : 0;
}
