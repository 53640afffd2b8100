/* SPDX-License-Identifier: BSD-3-Clause */
#include "ghost/bell.h"

#include "base/atomic.h"
#include "real/constants.h"
#include "world/world.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
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
static int socket_fd = -1;

/* The kernel chooses an address nobody has. */
static void hang(struct hw_ghost_bell *bell)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    socklen_t length = sizeof address;
    if (bind(socket_fd, (struct sockaddr *)&address, sizeof address.sun_family) != 0 ||
        getsockname(socket_fd, (struct sockaddr *)&address, &length) != 0)
        return;
    size_t name_length = length - offsetof(struct sockaddr_un, sun_path);
    if (name_length > sizeof bell->address)
        return;
    memcpy(bell->address, address.sun_path, name_length);
    bell->address_length = (uint32_t)name_length;
}

void hw_ghost_bells_make(bool is_lock_offered)
{
    bool is_ghost = hw_world_is_ghost();
    MPI_Aint size = is_ghost ? (MPI_Aint)sizeof *places : 0;
    int unit, first = hw_world.own_node->process_count - hw_world.own_node->ghost_count;
    struct place *base;
    if (hw_bottom.Win_allocate_shared(size, 1, HW_INFO_NULL, hw_world.node, &base, &memory) != MPI_SUCCESS) {
        memory = HW_WIN_NULL;
        return;
    }
    if (hw_bottom.Win_shared_query(memory, first, &size, &unit, &places) != MPI_SUCCESS)
        places = NULL;
    socket_fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (is_ghost) {
        own = base;
        memset(own, 0, sizeof *own);
        own->lock.is_offered = is_lock_offered;
        if (socket_fd >= 0)
            hang(&own->bell);
    }
    hw_bottom.Barrier(hw_world.node);
}

void hw_ghost_bells_free(void)
{
    if (memory != HW_WIN_NULL)
        hw_bottom.Win_free(&memory);
    if (socket_fd >= 0)
        close(socket_fd);
    places = own = NULL;
    socket_fd = -1;
}

struct hw_ghost_bell *hw_ghost_bell_of(int ghost_index)
{
    if (places == NULL || socket_fd < 0 || places[ghost_index].bell.address_length == 0)
        return NULL;
    return &places[ghost_index].bell;
}

struct hw_ghost_apply_lock *hw_ghost_apply_lock_of(int ghost_index)
{
    return places && places[ghost_index].lock.is_offered ? &places[ghost_index].lock : NULL;
}

void hw_ghost_bell_pull(const struct hw_ghost_bell *bell)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    memcpy(address.sun_path, bell->address, bell->address_length);
    socklen_t length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + bell->address_length);
    ssize_t sent = sendto(socket_fd, "", 1, 0, (struct sockaddr *)&address, length);
    (void)sent; /* full: the ghost is being woken already */
}

int hw_ghost_bell_socket(void) { return own && own->bell.address_length ? socket_fd : -1; }

bool hw_ghost_bell_is_awaited(void) { return own && hw_atomic_load_relaxed(&own->bell.waiting) > 0; }

void hw_ghost_bell_tell(bool is_asleep)
{
    if (own == NULL)
        return;
    char rings[16];
    if (!is_asleep)
        while (socket_fd >= 0 && recv(socket_fd, rings, sizeof rings, 0) > 0)
            continue;
    hw_atomic_store_seq_cst(&own->bell.is_asleep, is_asleep);
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
