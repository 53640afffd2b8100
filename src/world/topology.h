/* SPDX-License-Identifier: BSD-3-Clause */
/* The topology tells in which sockets and NUMA domains the calling process is bound, as hwloc knows it. The
 * library is looked for when it is needed: without libhwloc.so.15 (any hwloc 2), or without hwloc.h when this
 * was built, nothing is known. Takes some tens of milliseconds. One thread. */
#ifndef HW_WORLD_TOPOLOGY_H
#define HW_WORLD_TOPOLOGY_H

#include "world/placement.h"

struct hw_topology {
    struct hw_place place;        /* -1: bound to more than one, or not bound */
    int socket_count, numa_count; /* those with processors that may be used; 0: not known */
};

void hw_topology_find(struct hw_topology *found);

#endif
