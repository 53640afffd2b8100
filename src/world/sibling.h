/* SPDX-License-Identifier: BSD-3-Clause */
/* What another process of this job runs with, as far as this node tells: read from /proc, so that the other
 * process has no part in it. Reads the environment and the mappings of every process of this user: for a job
 * that does not get on. Any thread; no MPI. */
#ifndef HW_WORLD_SIBLING_H
#define HW_WORLD_SIBLING_H

/* A later one is more: of a rank that is several processes the most counts. */
enum hw_world_sibling {
    HW_WORLD_SIBLING_UNKNOWN,    /* on another node, out of sight, or before it loads an MPI */
    HW_WORLD_SIBLING_NO_LIBRARY, /* it has loaded an MPI, and not us */
    HW_WORLD_SIBLING_NO_GHOSTS,  /* HEADWAY_GHOSTS is 0, or not set, there */
    HW_WORLD_SIBLING_ASKS,       /* for ghosts: it comes, if late */
};

/* Processes that the launcher of this one started on this node are looked at, and those they started. */
enum hw_world_sibling hw_world_sibling_find(int rank);

#endif
