/* SPDX-License-Identifier: BSD-3-Clause */
/* What the program passes as a buffer, as a ghost can have it: itself where its datatype has no gaps, else
 * packed in memory of ours, since all members take part or nobody does. Threads of the program, inside a
 * hook. */
#ifndef HW_ENGINES_COLL_USER_BUFFERS_H
#define HW_ENGINES_COLL_USER_BUFFERS_H

#include "engines/coll/shared/command.h"
#include "engines/engine.h"
#include "real/real.h"

#include <stdbool.h>
#include <stdint.h>

struct hw_coll_buffer {
    void *memory; /* the program's */
    MPI_Count count;
    MPI_Datatype type;
    char *copy;                   /* NULL: there are no gaps */
    bool is_type_ours;            /* `type` is to be freed */
    struct hw_coll_piece *pieces; /* with counts for each process; NULL: there is one block */
    struct hw_coll_block *blocks; /* the same as the program has them, if there is a copy of them */
};

/* The argument that has counts for each process. */
struct hw_coll_each {
    const void *memory;
    struct hw_engine_numbers counts, displs;
    MPI_Datatype type;
};

/* Takes what the program passed. False: no memory, and nothing was taken. */
bool hw_coll_buffer_take(struct hw_coll_buffer *buffer, const void *memory, MPI_Count count,
                         MPI_Datatype type);
/* Likewise; all is valid: the datatype, too, if anything is counted. */
bool hw_coll_buffer_take_each(struct hw_coll_buffer *buffer, const struct hw_coll_each *each);
/* Where the ghost finds it, or its pieces. */
uint64_t hw_coll_buffer_address(const struct hw_coll_buffer *buffer);
/* Fills the copy, if there is one. */
void hw_coll_buffer_pack(const struct hw_coll_buffer *buffer);
/* Makes of the copy what the program gets. */
void hw_coll_buffer_unpack(const struct hw_coll_buffer *buffer);
void hw_coll_buffer_drop(struct hw_coll_buffer *buffer);

#endif
