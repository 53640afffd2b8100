/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/p2p/ghost/service.h"

#include "base/log.h"
#include "engines/p2p/ghost/incoming.h"
#include "engines/p2p/ghost/memory.h"
#include "engines/p2p/ghost/outgoing.h"
#include "engines/p2p/ghost/users.h"
#include "engines/p2p/ghost/wire.h"
#include "engines/p2p/shared/opened.h"
#include "ghost/node_memory.h"
#include "ghost/service.h"
#include "real/constants.h"
#include "shm/arena.h"
#include "world/world.h"

#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <unistd.h>

struct hw_p2p_opened hw_p2p_opened;

static struct hw_p2p_introduction *introductions; /* of the node's processes, in the order of hw_world.node */
static uint64_t proof;
static int block_fd = -1; /* of a user process, while it opens */
static bool is_ending;    /* of a ghost: nothing more is told */

/* ---- opening: collective over hw_world.all ---------------------------------------------------------------
 */

/* In a user process: takes its block. NULL, or why not. */
static const char *make_block(void)
{
    size_t bytes = hw_p2p_block_bytes(hw_world.rank);
    if (hw_options.p2p == HW_OPTION_P2P_AUTO && hw_world_is_crowded(hw_world.own_node->process_count, true))
        return "ghosts share cores with the program";
    if (hw_world.node_count < 2)
        return "all processes are on one node";
    if (hw_p2p_lane_bytes(hw_world.rank) == 0)
        return "HEADWAY_STAGING is too small for so many processes";
    hw_p2p_opened.block = hw_p2p_memory_make(bytes, &block_fd);
    if (hw_p2p_opened.block == NULL)
        return "no memory that a process can share with its ghost";
    hw_queue_make(hw_p2p_queue_of(hw_p2p_opened.block), HW_P2P_CELLS);
    return NULL;
}

static void introduce(struct hw_p2p_introduction *own)
{
    struct hw_arena_range range = hw_arena_range();
    if (getrandom(&proof, sizeof proof, 0) != sizeof proof)
        proof = (uint64_t)(uintptr_t)&proof;
    own->block = hw_file_identify(block_fd);
    own->descriptor = block_fd;
    own->bytes = (int64_t)hw_p2p_block_bytes(hw_world.rank);
    own->arena_base = (uint64_t)(uintptr_t)range.base;
    own->arena_bytes = range.bytes;
    own->proof = (uint64_t)(uintptr_t)&proof;
    own->proof_value = proof;
}

/* Where the ghost that serves this process is in hw_world.node. */
static int place_of_ghost(void)
{
    int ghost = hw_world.processes[hw_world.rank].ghost;
    return hw_world.own_node->process_count - hw_world.own_node->ghost_count +
           hw_world.processes[ghost].local_index;
}

/* Afterwards all know of all, and the ghosts' sockets have the files of blocks. */
static bool exchange_introductions(int *socket_fd)
{
    struct hw_p2p_introduction own = {0};
    introductions = calloc((size_t)hw_world.own_node->process_count, sizeof *introductions);
    *socket_fd = hw_ghost_pass_open(&own.address);
    if (hw_p2p_opened.block)
        introduce(&own);
    bool is_told = hw_world_have_all(hw_world.node, introductions != NULL) && introductions != NULL &&
                   hw_bottom.Allgather(&own, sizeof own, HW_BYTE, introductions, sizeof own, HW_BYTE,
                                       hw_world.node) == MPI_SUCCESS;
    if (is_told && block_fd >= 0)
        hw_ghost_pass_send(*socket_fd, &introductions[place_of_ghost()].address, block_fd);
    return hw_world_have_all(hw_world.node, is_told);
}

/* Yama lets a process be read by its parent and by whom it names alone. It names one: asked for only where
 * it is needed, since the program may have named its debugger. */
static bool are_users_readable(void)
{
    bool is_ghost = hw_world_is_ghost();
    if (hw_world_have_all(hw_world.node, !is_ghost || hw_p2p_users_are_readable(introductions)))
        return true;
    if (!is_ghost)
        prctl(PR_SET_PTRACER, (unsigned long)hw_world.node_pids[place_of_ghost()], 0, 0, 0);
    hw_bottom.Barrier(hw_world.node);
    return hw_world_have_all(hw_world.node, !is_ghost || hw_p2p_users_are_readable(introductions));
}

static void agree_on_magic(void)
{
    if (hw_world.rank == 0 && getrandom(hw_p2p_opened.magic, HW_P2P_MAGIC_BYTES, 0) != HW_P2P_MAGIC_BYTES)
        hw_p2p_opened.is_open = false;
    hw_p2p_opened.is_open =
        hw_world_have_all(hw_world.all, hw_p2p_opened.is_open) &&
        hw_world_have_all(hw_world.all, hw_bottom.Bcast(hw_p2p_opened.magic, HW_P2P_MAGIC_BYTES, HW_BYTE, 0,
                                                        hw_world.all) == MPI_SUCCESS);
}

static void close_both(int socket_fd)
{
    if (socket_fd >= 0)
        close(socket_fd);
    if (block_fd >= 0)
        close(block_fd);
    block_fd = -1;
}

/* All processes of the job, or nobody. */
static void open_all(void)
{
    bool is_ghost = hw_world_is_ghost();
    hw_p2p_opened.reason = is_ghost ? NULL : make_block();
    int socket_fd;
    bool is_told = exchange_introductions(&socket_fd);
    bool is_served = is_told && (is_ghost ? hw_p2p_users_take(introductions, socket_fd) &&
                                                hw_p2p_outgoing_open() && hw_p2p_incoming_open()
                                          : hw_p2p_opened.reason == NULL);
    is_served = hw_world_have_all(hw_world.node, is_served);
    hw_p2p_opened.is_arena_only = !is_served || !are_users_readable();
    close_both(socket_fd);
    bool is_possible = is_served && (!hw_p2p_opened.is_arena_only || hw_ghost_node_memory_has_ranges());
    if (!is_possible && hw_p2p_opened.reason == NULL)
        hw_p2p_opened.reason =
            is_served ? "its ghost cannot read its memory" : "a process of the node declines";
    bool is_wired = hw_p2p_wire_open();
    hw_p2p_opened.is_open = hw_world_have_all(hw_world.all, is_possible && is_wired);
    agree_on_magic();
    if (!hw_p2p_opened.is_open && hw_p2p_opened.reason == NULL)
        hw_p2p_opened.reason = "another process declines";
}

static void drop_all(void)
{
    if (hw_world_is_ghost()) {
        hw_p2p_incoming_close();
        hw_p2p_outgoing_close();
        hw_p2p_users_drop();
    }
    hw_p2p_wire_free();
    hw_p2p_memory_drop(hw_p2p_opened.block, hw_p2p_block_bytes(hw_world.rank));
    hw_p2p_opened.block = NULL;
    hw_p2p_opened.is_open = false;
    free(introductions);
    introductions = NULL;
}

/* ---- a ghost
 * ----------------------------------------------------------------------------------------------- */

static void begin(void)
{
    open_all();
    if (hw_p2p_opened.is_open)
        hw_p2p_wire_listen();
    else
        drop_all();
}

static bool hear(void)
{
    struct hw_p2p_note note;
    int place;
    bool has_heard = false;
    while (hw_p2p_wire_hear(&place, &note)) {
        if (note.kind == HW_P2P_NOTE_OFFER)
            hw_p2p_incoming_offered(place, &note);
        else if (note.kind == HW_P2P_NOTE_CREDIT)
            hw_p2p_incoming_credited(&note);
        has_heard = true;
    }
    return has_heard;
}

static bool poll(void)
{
    if (!hw_p2p_opened.is_open)
        return false;
    bool has_done = hw_p2p_outgoing_advance();
    has_done = hear() || has_done;
    has_done = hw_p2p_incoming_advance() || has_done;
    return (!is_ending && hw_p2p_incoming_give_credit()) || has_done;
}

/* Every user process is in MPI_Finalize, so no job comes any more. Others' messages are received to their
 * end, since what is left of a communicator when it is freed some MPIs take for an error. */
static void end(void)
{
    if (!hw_p2p_opened.is_open)
        return;
    while (!hw_p2p_outgoing_is_idle())
        poll();
    is_ending = true;
    hw_p2p_wire_say_end();
    while (!hw_p2p_wire_has_ended() || !hw_p2p_incoming_is_idle())
        poll();
    drop_all();
}

/* ---- a user process
 * ------------------------------------------------------------------------------------------ */

static enum hw_status open_user(void)
{
    open_all();
    if (hw_p2p_opened.is_open && hw_p2p_opened.is_arena_only &&
        hw_world.processes[hw_world.rank].local_index == 0)
        hw_log_warn(
            "ghosts of this node may not read memory of the processes that they serve, so they move "
            "messages from memory of MPI_Alloc_mem alone; allow ptrace between processes of one user");
    if (!hw_p2p_opened.is_open)
        drop_all();
    return HW_OK;
}

static void close_user(void)
{
    if (hw_p2p_opened.is_open)
        drop_all();
}

static const struct hw_ghost_service service = {
    .name = "p2p",
    .begin = begin,
    .end = end,
    .poll = poll,
    .open = open_user,
    .close = close_user,
};

void hw_p2p_service_add(void)
{
    if (hw_ghost_service_add(&service) != HW_OK)
        hw_log_error("there are too many services of ghosts");
}
