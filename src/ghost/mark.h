/* SPDX-License-Identifier: BSD-3-Clause */
/* A ghost reads in the memory of a user process of its node whether that process is inside MPI
 * (progress/inside.h), so that no call of MPI pays for it: 1.6 us with process_vm_readv(2). It is the mark of
 * the thread that called MPI_Init*. Ghost's only thread. */
#ifndef HW_GHOST_MARK_H
#define HW_GHOST_MARK_H

enum hw_ghost_mark_says {
    HW_GHOST_MARK_UNKNOWN, /* the process shows no mark, or no longer; or the ghost cannot read it */
    HW_GHOST_MARK_OUTSIDE,
    HW_GHOST_MARK_INSIDE,
};

/* Of a user process, by its index on the node. *why: why it never can be read, where that is known; else
 * NULL. */
enum hw_ghost_mark_says hw_ghost_mark_look(int index, const char **why);

#endif
