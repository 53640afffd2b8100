/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether the job has collectives made by ghosts: alike in all its processes. Written by the service
 * (ghost/service.c) in MPI_Init* and MPI_Finalize, read by any thread in between. */
#ifndef HW_ENGINES_COLL_SHARED_OPENED_H
#define HW_ENGINES_COLL_SHARED_OPENED_H

#include "base/visibility.h"
#include "real/real.h"

#include <stdbool.h>
#include <stdint.h>

struct hw_coll_opened {
    bool is_open;
    MPI_Comm comm;       /* of all processes, in the order of hw_world.all: data of ghosts, and grants */
    uint64_t min_bytes;  /* from one process to one other: less is the MPI's */
    uint32_t comm_count; /* numbers of communicators are below */
    int tag_count;       /* of grants */
    const char *reason;  /* why it is not open; NULL: nobody asked */
};

extern HW_HIDDEN struct hw_coll_opened hw_coll_opened;

#endif
