/* SPDX-License-Identifier: BSD-3-Clause */
/* Placement decides which processes of a node become its ghosts, and whom each serves (papers/004 section
 * III): a ghost shares the NUMA domain, else the socket, of the user processes it serves, where those are
 * bound.
 *
 * Pure functions of where the processes of one node are bound; every process computes the same for all nodes.
 * Domains are any numbers from 0, each kind with its own; -1: bound to more than one, or not known. */
#ifndef HW_WORLD_PLACEMENT_H
#define HW_WORLD_PLACEMENT_H

#include "base/options.h"
#include "base/status.h"

#include <stdbool.h>

struct hw_place {
    int socket, numa;
};

/* Ghosts of a node with so many sockets and NUMA domains (0: not known). -1: their number is needed, and not
 * known. */
int hw_placement_count(struct hw_option_share wanted, int socket_count, int numa_count);

/* For each of the `process_count` processes of a node, in the order of their ranks, writes into servers[] the
 * index of the ghost that serves it; its own for a ghost. `ghost_count` is less than `process_count`.
 *
 * With PER_SOCKET or PER_NUMA each domain gives up to wanted.count of its processes and keeps one; what is
 * then missing, and all of it with PER_NODE, comes one by one from where there are most user processes for
 * each ghost. In each domain the last become ghosts. A user process is served by the ghost nearest to it: of
 * its NUMA domain, else of its socket, else any; among equals by the one that serves fewest.
 *
 * *is_near: somebody is served by a ghost of its own domain because it is. HW_NOMEM. */
enum hw_status hw_placement_assign(const struct hw_place *places, int process_count,
                                   struct hw_option_share wanted, int ghost_count, int *servers,
                                   bool *is_near);

#endif
