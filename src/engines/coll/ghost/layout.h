/* SPDX-License-Identifier: BSD-3-Clause */
/* What goes from the user processes of one ghost to those of another in a collective, or stays among them: a
 * row of bytes that both ghosts know by what all members know. Here is where each byte of it lies in the
 * memory of user processes. Pure. */
#ifndef HW_ENGINES_COLL_GHOST_LAYOUT_H
#define HW_ENGINES_COLL_GHOST_LAYOUT_H

#include "engines/coll/ghost/places.h"
#include "engines/coll/shared/command.h"

#include <stdbool.h>
#include <stdint.h>

/* Of a user process of this ghost, once it has posted. */
struct hw_coll_post {
    uint64_t send, recv;
    struct hw_coll_piece *sends, *receives; /* with counts for each process: by rank; NULL: one block each */
    int grant_tag;
    bool is_there;
};

struct hw_coll_row {
    enum hw_coll_kind kind;
    uint64_t block;                   /* from one process to one other, if `ends` is NULL */
    uint64_t *ends;                   /* else where each block ends in the row */
    int from, to;                     /* places; the same: what stays */
    int root;                         /* of Bcast */
    uint64_t begin;                   /* of Allreduce: where the row's part of the vector begins */
    const struct hw_coll_post *posts; /* of this ghost's members */
};

/* Memory of a member of this ghost. */
struct hw_coll_span {
    int member;
    uint64_t address, bytes;
};

/* Blocks, empty ones too; 0: all have equally many bytes. */
int hw_coll_row_blocks(const struct hw_coll_row *row);
/* Of block `number`; before `ends` is there. */
uint64_t hw_coll_row_block_bytes(const struct hw_coll_row *row, int number);
/* False: of what stays here a sender and its receiver do not say the same size. */
bool hw_coll_row_agrees(const struct hw_coll_row *row);

uint64_t hw_coll_row_bytes(const struct hw_coll_row *row);

/* Not of Allreduce: where the bytes from `offset` on, below its end, come from, `from` being this ghost's
 * place. */
struct hw_coll_span hw_coll_row_source(const struct hw_coll_row *row, uint64_t offset);

/* The place number `index`, from 0, to which the bytes from `offset` on are to go, `to` being this ghost's
 * place: all such places take equally many. False: there are no more. Of Allreduce: of what all make
 * together. */
bool hw_coll_row_target(const struct hw_coll_row *row, uint64_t offset, int index, struct hw_coll_span *span);

#endif
