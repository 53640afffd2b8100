/* SPDX-License-Identifier: BSD-3-Clause */
/* A burst is polls that follow one another although no socket has data: within a node nothing tells that
 * there is more.
 *
 * MPICH 5.0 moves a message within the node, one of a process to itself included, some kilobytes a poll, and
 * a poll that does so leaves the network alone. A few polls now and then would keep the network waiting until
 * the program's own wait: a self part of 1 MiB in MPI_Ialltoallv takes over a hundred. A poll that moves
 * something takes longer than one that finds nothing, so bursts go on while polls are long, compared with the
 * shortest. Where they never become short, long is what polls are on that machine, and there are no more
 * bursts. Progress thread only.
 */
#ifndef HW_ENGINES_THREAD_BURST_H
#define HW_ENGINES_THREAD_BURST_H

#include <stdbool.h>
#include <stdint.h>

/* Whether this MPI needs bursts. */
bool hw_burst_is_wanted(void);

/* Where it does: after a poll that began with empty sockets and took so long, the `polls`th of this look: is
 * one more worth while? */
bool hw_burst_goes_on(int polls, uint64_t took_ns);

#endif
