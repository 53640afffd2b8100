/* SPDX-License-Identifier: BSD-3-Clause */
#include "world/placement.h"

#include <stdlib.h>

enum nearness { ANYWHERE, SAME_SOCKET, SAME_NUMA };

/* Processes bound to one domain, or those bound to none. */
struct pool {
    int domain;
    int users, ghosts;
};

struct node {
    const struct hw_place *places;
    int process_count;
    int *servers; /* -1: a user process nobody serves yet */
    int *pools_of;
    struct pool *pools;
    int pool_count;
    int *loads; /* of a ghost: whom it serves */
};

int hw_placement_count(struct hw_option_share wanted, int socket_count, int numa_count)
{
    if (wanted.per == HW_OPTION_GHOSTS_PER_NODE || wanted.count == 0)
        return wanted.count;
    int domain_count = wanted.per == HW_OPTION_GHOSTS_PER_SOCKET ? socket_count : numa_count;
    return domain_count > 0 ? wanted.count * domain_count : -1;
}

static void gather_pools(struct node *node, bool has_sockets)
{
    for (int i = 0; i < node->process_count; i++) {
        int domain = has_sockets ? node->places[i].socket : node->places[i].numa;
        int pool = 0;
        while (pool < node->pool_count && node->pools[pool].domain != domain)
            pool++;
        if (pool == node->pool_count)
            node->pools[node->pool_count++] = (struct pool){.domain = domain};
        node->pools[pool].users++;
        node->pools_of[i] = pool;
        node->servers[i] = -1;
    }
}

/* The last user process of a pool becomes a ghost. */
static void set_aside(struct node *node, int pool)
{
    int last = node->process_count - 1;
    while (node->pools_of[last] != pool || node->servers[last] >= 0)
        last--;
    node->servers[last] = last;
    node->pools[pool].users--;
    node->pools[pool].ghosts++;
}

/* Where there are most user processes for each ghost, counting the next one; the last such. */
static int find_neediest(const struct node *node)
{
    const struct pool *best = &node->pools[0];
    for (int i = 1; i < node->pool_count; i++) {
        const struct pool *pool = &node->pools[i];
        if ((long)pool->users * (best->ghosts + 1) >= (long)best->users * (pool->ghosts + 1))
            best = pool;
    }
    return (int)(best - node->pools);
}

static void choose_ghosts(struct node *node, struct hw_option_share wanted, int ghost_count)
{
    int chosen = 0;
    for (int i = 0; wanted.per != HW_OPTION_GHOSTS_PER_NODE && i < node->pool_count; i++) {
        const struct pool *pool = &node->pools[i];
        while (pool->domain >= 0 && pool->users > 1 && pool->ghosts < wanted.count && chosen < ghost_count) {
            set_aside(node, i);
            chosen++;
        }
    }
    for (; chosen < ghost_count; chosen++)
        set_aside(node, find_neediest(node));
}

static enum nearness nearness_of(const struct node *node, int left, int right)
{
    const struct hw_place *a = &node->places[left], *b = &node->places[right];
    if (a->numa >= 0 && a->numa == b->numa)
        return SAME_NUMA;
    return a->socket >= 0 && a->socket == b->socket ? SAME_SOCKET : ANYWHERE;
}

static int find_server(const struct node *node, int user, enum nearness *found)
{
    int best = -1;
    for (int i = 0; i < node->process_count; i++) {
        if (node->servers[i] != i)
            continue;
        enum nearness nearness = nearness_of(node, user, i);
        if (best < 0 || nearness > *found || (nearness == *found && node->loads[i] < node->loads[best])) {
            best = i;
            *found = nearness;
        }
    }
    return best;
}

/* Those that have a near ghost first: the others then even out. */
static bool serve_users(struct node *node)
{
    bool is_near = false;
    for (int wants_near = 1; wants_near >= 0; wants_near--) {
        for (int i = 0; i < node->process_count; i++) {
            enum nearness found = ANYWHERE;
            if (node->servers[i] >= 0)
                continue;
            int server = find_server(node, i, &found);
            if ((found != ANYWHERE) != wants_near)
                continue;
            node->servers[i] = server;
            node->loads[server]++;
            is_near = is_near || wants_near;
        }
    }
    return is_near;
}

enum hw_status hw_placement_assign(const struct hw_place *places, int process_count,
                                   struct hw_option_share wanted, int ghost_count, int *servers,
                                   bool *is_near)
{
    size_t size = (size_t)process_count;
    struct node node = {.places = places,
                        .process_count = process_count,
                        .servers = servers,
                        .pools_of = calloc(size, sizeof *node.pools_of),
                        .pools = calloc(size, sizeof *node.pools),
                        .loads = calloc(size, sizeof *node.loads)};
    enum hw_status status = HW_NOMEM;
    if (node.pools_of && node.pools && node.loads) {
        gather_pools(&node, wanted.per == HW_OPTION_GHOSTS_PER_SOCKET);
        choose_ghosts(&node, wanted, ghost_count);
        *is_near = serve_users(&node);
        status = HW_OK;
    }
    free(node.pools_of);
    free(node.pools);
    free(node.loads);
    return status;
}
