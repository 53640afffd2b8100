/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/p2p/user/peers.h"

#include "objects/comm_state.h"
#include "real/constants.h"
#include "world/world.h"

#include <stdlib.h>

struct peers {
    uint64_t id;
    int size; /* 0: nobody here can be sent to by ghosts */
    int processes[];
};

static uint64_t last_id;
static struct hw_comm_state state = HW_COMM_STATE_CLOSED;

void hw_p2p_peers_close(void) { hw_comm_state_close(&state); }

static bool translate(MPI_Comm comm, struct peers *peers, const int *ranks, int size)
{
    MPI_Group members = HW_GROUP_NULL, world = HW_GROUP_NULL;
    bool is_done =
        hw_bottom.Comm_group(comm, &members) == MPI_SUCCESS &&
        hw_bottom.Comm_group(hw_world.all, &world) == MPI_SUCCESS &&
        hw_bottom.Group_translate_ranks(members, size, ranks, world, peers->processes) == MPI_SUCCESS;
    if (members != HW_GROUP_NULL)
        hw_bottom.Group_free(&members);
    if (world != HW_GROUP_NULL)
        hw_bottom.Group_free(&world);
    for (int i = 0; i < size && is_done; i++)
        is_done = peers->processes[i] != HW_UNDEFINED;
    return is_done;
}

static void *make(MPI_Comm comm)
{
    int is_inter = 1, size = 0;
    hw_bottom.Comm_test_inter(comm, &is_inter);
    hw_bottom.Comm_size(comm, &size);
    struct peers *peers = calloc(1, sizeof *peers + (size_t)size * sizeof peers->processes[0]);
    int *ranks = calloc((size_t)size + 1, sizeof *ranks);
    for (int i = 0; ranks && i < size; i++)
        ranks[i] = i;
    if (peers && ranks && !is_inter && translate(comm, peers, ranks, size))
        peers->size = size;
    if (peers)
        peers->id = ++last_id;
    free(ranks);
    return peers;
}

int hw_p2p_peer(MPI_Comm comm, int rank)
{
    const struct peers *peers = hw_comm_state_of(&state, comm, make);
    return peers && rank >= 0 && rank < peers->size ? peers->processes[rank] : -1;
}

uint64_t hw_p2p_comm_id(MPI_Comm comm)
{
    const struct peers *peers = hw_comm_state_of(&state, comm, make);
    return peers && peers->size > 0 ? peers->id : 0;
}
