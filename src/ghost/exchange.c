/* SPDX-License-Identifier: BSD-3-Clause */
#include "ghost/exchange.h"

#include "base/clock.h"
#include "base/options.h"
#include "ghost/bell.h"
#include "ghost/protocol.h"
#include "ghost/rates.h"
#include "real/constants.h"
#include "world/world.h"

#include <stdbool.h>
#include <stdlib.h>

/* An exchange that one has begun and another has not yet is completed by both at the end: how many there are
 * is agreed upon on a second communicator, since collective calls of one have an order. */
static MPI_Comm comm, ending;
static MPI_Request request;
static bool is_under_way;
static uint64_t due_ns;
static int begun_count;
static int *counts, *places; /* by node */
static int *user_ranks;      /* node by node, in a node by local index */
static unsigned char *own, *all;

static bool is_wanted(void)
{
    return (hw_options.adapt == HW_OPTION_ADAPT_GLOBAL || hw_options.adapt == HW_OPTION_ADAPT_AUTO) &&
           hw_world.node_count > 1 && hw_world.processes[hw_world.rank].local_index == 0 && hw_ghost_rates();
}

static void lay_out(void)
{
    int place = 0;
    for (int node = 0; node < hw_world.node_count; node++) {
        counts[node] = hw_world.nodes[node].process_count - hw_world.nodes[node].ghost_count;
        places[node] = place;
        place += counts[node];
    }
    for (int rank = 0; rank < hw_world.size; rank++) {
        const struct hw_world_process *process = &hw_world.processes[rank];
        if (process->user_rank >= 0)
            user_ranks[places[process->node] + process->local_index] = process->user_rank;
    }
}

static bool take_memory(void)
{
    counts = calloc((size_t)hw_world.node_count, sizeof *counts);
    places = calloc((size_t)hw_world.node_count, sizeof *places);
    user_ranks = calloc((size_t)hw_world.user_count + 1, sizeof *user_ranks);
    own = calloc((size_t)hw_world.user_count + 1, 1);
    all = calloc((size_t)hw_world.user_count + 1, 1);
    return counts && places && user_ranks && own && all;
}

/* Of the first ghost of each node, in the order of nodes. */
static bool make_communicators(void)
{
    MPI_Group everybody = HW_GROUP_NULL, ghosts = HW_GROUP_NULL;
    int *ranks = calloc((size_t)hw_world.node_count, sizeof *ranks);
    for (int node = 0; ranks && node < hw_world.node_count; node++)
        ranks[node] = hw_world_ghosts_of_node(node)[0];
    bool is_made =
        ranks && hw_bottom.Comm_group(hw_world.all, &everybody) == MPI_SUCCESS &&
        hw_bottom.Group_incl(everybody, hw_world.node_count, ranks, &ghosts) == MPI_SUCCESS &&
        hw_bottom.Comm_create_group(hw_world.all, ghosts, HW_GHOST_TAG_EXCHANGE, &comm) == MPI_SUCCESS &&
        hw_bottom.Comm_dup(comm, &ending) == MPI_SUCCESS;
    if (ghosts != HW_GROUP_NULL)
        hw_bottom.Group_free(&ghosts);
    if (everybody != HW_GROUP_NULL)
        hw_bottom.Group_free(&everybody);
    free(ranks);
    return is_made;
}

static void give_back(void)
{
    free(counts);
    free(places);
    free(user_ranks);
    free(own);
    free(all);
    counts = places = user_ranks = NULL;
    own = all = NULL;
}

void hw_ghost_exchange_begin(void)
{
    comm = ending = HW_COMM_NULL;
    if (!is_wanted())
        return;
    bool has_memory = take_memory();
    if (has_memory)
        lay_out();
    /* Who has none takes part in what is collective, and in no exchange. */
    if (!make_communicators() || !hw_world_have_all(comm, has_memory)) {
        hw_ghost_exchange_end();
        give_back();
    }
}

static void begin(void)
{
    int node = hw_world_own_node();
    for (int i = 0; i < counts[node]; i++)
        own[i] = hw_ghost_rates_read(user_ranks[places[node] + i]);
    is_under_way = hw_bottom.Iallgatherv(own, counts[node], HW_BYTE, all, counts, places, HW_BYTE, comm,
                                         &request) == MPI_SUCCESS;
    begun_count++;
}

static void take(void)
{
    int node = hw_world_own_node();
    for (int i = 0; i < hw_world.user_count; i++)
        if (i < places[node] || i >= places[node] + counts[node])
            hw_ghost_rates_write(user_ranks[i], all[i]);
    hw_atomic_add_relaxed(&hw_ghost_rates()->exchanges, 1);
    is_under_way = false;
}

void hw_ghost_exchange_turn(uint64_t now_ns)
{
    int is_complete = 0;
    if (own == NULL)
        return;
    if (is_under_way && hw_bottom.Test(&request, &is_complete, HW_STATUS_IGNORE) == MPI_SUCCESS &&
        is_complete)
        take();
    if (is_under_way || now_ns < due_ns)
        return;
    if (due_ns > 0)
        begin();
    due_ns = now_ns + (uint64_t)hw_options.gsync_int_us * HW_NS_PER_US;
}

void hw_ghost_exchange_end(void)
{
    int most = begun_count;
    if (own && ending != HW_COMM_NULL)
        hw_bottom.Allreduce(&begun_count, &most, 1, HW_INT, HW_MAX, ending);
    while (own && (is_under_way || begun_count < most)) {
        if (!is_under_way)
            begin();
        if (is_under_way)
            hw_bottom.Wait(&request, HW_STATUS_IGNORE);
        is_under_way = false;
    }
    if (ending != HW_COMM_NULL)
        hw_bottom.Comm_free(&ending);
    if (comm != HW_COMM_NULL)
        hw_bottom.Comm_free(&comm);
    give_back();
}
