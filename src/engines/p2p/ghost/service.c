/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/p2p/ghost/service.h"

#include "base/log.h"
#include "engines/p2p/ghost/credits.h"
#include "engines/p2p/ghost/incoming.h"
#include "engines/p2p/ghost/memory.h"
#include "engines/p2p/ghost/neighbours.h"
#include "engines/p2p/ghost/outgoing.h"
#include "engines/p2p/ghost/sealed.h"
#include "engines/p2p/ghost/users.h"
#include "engines/p2p/ghost/wire.h"
#include "engines/p2p/shared/opened.h"
#include "engines/p2p/shared/room.h"
#include "ghost/node_memory.h"
#include "ghost/reach.h"
#include "ghost/service.h"
#include "real/constants.h"
#include "real/device_memory.h"
#include "shm/arena.h"
#include "world/world.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

struct hw_p2p_opened hw_p2p_opened;

static struct hw_p2p_introduction *introductions; /* of the node's processes, in the order of hw_world.node */
static int own_fd = -1; /* of a user process's block, or a ghost's room, while it opens */
static bool is_ending;  /* of a ghost: nothing more is told */

/* ---- opening: collective over hw_world.all ---------------------------------------------------------------
 */

/* Of this ghost, or of the one that serves this process. */
static int own_place(void) { return hw_world_ghost_place(hw_world.rank); }

/* In a user process: takes its block. NULL, or why not. */
static const char *make_block(void)
{
    size_t bytes = hw_p2p_block_bytes();
    if (hw_options.p2p == HW_OPTION_P2P_AUTO && hw_world_is_crowded(hw_world.own_node->process_count, true))
        return "ghosts share cores with the program";
    if (hw_world.node_count < 2 && !hw_p2p_neighbours_are_wanted())
        return "all processes are on one node";
    if (hw_real_has_device_memory()) /* tickets are read where the program receives them */
        return "it may have memory of a device";
    if (hw_p2p_room_units(own_place()) == 0)
        return "HEADWAY_STAGING is too small for so many ghosts";
    hw_p2p_opened.block = hw_p2p_memory_make(bytes, &own_fd);
    if (hw_p2p_opened.block == NULL)
        return "no memory that a process can share with its ghost";
    hw_queue_make(hw_p2p_queue_of(hw_p2p_opened.block), HW_P2P_CELLS);
    return NULL;
}

/* In a ghost. False: there is none. */
static bool make_room(void)
{
    if (hw_p2p_room_units(own_place()) > 0)
        hw_p2p_opened.room = hw_p2p_memory_make(hw_p2p_room_bytes(own_place()), &own_fd);
    return hw_p2p_opened.room != NULL;
}

static void introduce(struct hw_p2p_introduction *own)
{
    struct hw_arena_range range = hw_arena_range();
    own->file = hw_file_identify(own_fd);
    own->descriptor = own_fd;
    own->bytes = (int64_t)hw_p2p_block_bytes();
    own->arena_base = (uint64_t)(uintptr_t)range.base;
    own->arena_bytes = range.bytes;
    own->proof = hw_ghost_reach_proof();
}

/* A user process's block goes to its ghost, a ghost's room to all that it serves. */
static void pass_file(int socket_fd)
{
    if (!hw_world_is_ghost()) {
        hw_ghost_pass_send(socket_fd, &introductions[hw_world_ghost_in_node()].address, own_fd);
        return;
    }
    for (int i = 0; i < hw_world.size; i++)
        if (hw_world.processes[i].user_rank >= 0 && hw_world.processes[i].ghost == hw_world.rank)
            hw_ghost_pass_send(socket_fd, &introductions[hw_world.processes[i].local_index].address, own_fd);
}

/* In a user process: maps its ghost's room. A child of fork has no part in it. */
static bool take_room(int socket_fd)
{
    int ghost = hw_world_ghost_in_node(), fd = -1;
    size_t bytes = hw_p2p_room_bytes(own_place());
    struct hw_file_identity file = introductions[ghost].file;
    if (file.inode == 0)
        return false;
    hw_ghost_pass_receive(socket_fd, &file, 1, &fd);
    if (fd < 0)
        fd = hw_ghost_pass_open_of(hw_world.node_pids[ghost], (int)introductions[ghost].descriptor, file);
    if (fd < 0)
        return false;
    hw_p2p_opened.room = hw_p2p_memory_map(fd, bytes);
    close(fd);
    if (hw_p2p_opened.room)
        madvise(hw_p2p_opened.room, bytes, MADV_DONTFORK);
    return hw_p2p_opened.room != NULL;
}

/* Afterwards all know of all, and their sockets have the files of the others. */
static bool exchange_introductions(int *socket_fd)
{
    struct hw_p2p_introduction own = {0};
    introductions = calloc((size_t)hw_world.own_node->process_count, sizeof *introductions);
    *socket_fd = hw_ghost_pass_open(&own.address);
    if (own_fd >= 0)
        introduce(&own);
    bool is_told = hw_world_have_all(hw_world.node, introductions != NULL) && introductions != NULL &&
                   hw_bottom.Allgather(&own, sizeof own, HW_BYTE, introductions, sizeof own, HW_BYTE,
                                       hw_world.node) == MPI_SUCCESS;
    if (is_told && own_fd >= 0)
        pass_file(*socket_fd);
    return hw_world_have_all(hw_world.node, is_told);
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
    if (own_fd >= 0)
        close(own_fd);
    own_fd = -1;
}

static bool open_ghost(int socket_fd)
{
    return hw_p2p_users_take(introductions, socket_fd) && hw_p2p_outgoing_open() && hw_p2p_incoming_open() &&
           hw_p2p_credits_open() && hw_p2p_sealed_ghost_open();
}

/* All processes of the job, or nobody. */
static void open_all(void)
{
    bool is_ghost = hw_world_is_ghost();
    hw_p2p_opened.reason = is_ghost ? NULL : make_block();
    bool has_room = !is_ghost || make_room();
    int socket_fd;
    bool is_told = exchange_introductions(&socket_fd) && has_room;
    bool is_served =
        is_told && (is_ghost ? open_ghost(socket_fd) : hw_p2p_opened.reason == NULL && take_room(socket_fd));
    is_served = hw_world_have_all(hw_world.node, is_served);
    hw_p2p_opened.is_arena_only = !is_served || !hw_ghost_reach_users();
    hw_p2p_neighbours_open(introductions, is_served);
    close_both(socket_fd);
    bool has_messages = hw_world.node_count > 1 || hw_p2p_opened.near_reason == NULL;
    bool is_possible =
        is_served && has_messages && (!hw_p2p_opened.is_arena_only || hw_ghost_node_memory_has_ranges());
    if (!is_possible && hw_p2p_opened.reason == NULL)
        hw_p2p_opened.reason = !is_served      ? "a process of the node declines"
                               : !has_messages ? "all processes are on one node, and may not read one another"
                                               : "its ghost cannot read its memory";
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
        hw_p2p_credits_close();
        hw_p2p_sealed_ghost_close();
        hw_p2p_users_drop();
    }
    hw_p2p_wire_free();
    hw_p2p_neighbours_drop();
    hw_p2p_memory_drop(hw_p2p_opened.block, hw_p2p_block_bytes());
    hw_p2p_memory_drop(hw_p2p_opened.room, hw_p2p_room_bytes(own_place()));
    hw_p2p_opened.block = NULL;
    hw_p2p_opened.room = NULL;
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
        else if (note.kind == HW_P2P_NOTE_FREED)
            hw_p2p_incoming_freed(&note);
        else if (note.kind == HW_P2P_NOTE_WITHDRAWN)
            hw_p2p_incoming_withdrawn(place, &note);
        else if (note.kind >= HW_P2P_NOTE_SEALED)
            hw_p2p_sealed_heard(place, &note);
        else if (note.kind != HW_P2P_NOTE_END)
            hw_p2p_credits_heard(&note);
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
    has_done = hw_p2p_sealed_advance() || has_done;
    if (is_ending)
        return has_done;
    has_done = hw_p2p_incoming_give_back() || has_done;
    return hw_p2p_credits_advance() || has_done;
}

/* Every user process is in MPI_Finalize, so no job comes any more. Others' messages are received to their
 * end, since what is left of a communicator when it is freed some MPIs take for an error. */
static void end(void)
{
    if (!hw_p2p_opened.is_open)
        return;
    while (!hw_p2p_outgoing_is_idle() || !hw_p2p_sealed_is_idle())
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
