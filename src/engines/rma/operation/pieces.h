/* SPDX-License-Identifier: BSD-3-Clause */
/* Accumulates whose target lies in the segments of several ghosts (spread.h), or partly in memory that a
 * ghost serves (dynamic.h), made as one accumulate for each.
 *
 * The elements of a buffer are numbered in the order in which MPI packs them; an element belongs to the one
 * in whose part it begins. Each piece is described by datatypes made of the one basic type that an
 * accumulate has on all sides, so nothing is copied and nothing is left to do when it completes. */
#ifndef HW_ENGINES_RMA_OPERATION_PIECES_H
#define HW_ENGINES_RMA_OPERATION_PIECES_H

#include "engines/rma/window/window.h"

struct hw_rma_accumulate {
    struct hw_rma_part origin;
    struct hw_rma_part result; /* with has_result */
    struct hw_rma_part target;
    MPI_Op op;
    bool has_result;      /* Get_accumulate */
    MPI_Request *request; /* NULL: not request-based */
};

/* `target_disp`: in the memory of the target's node, on a dynamic window the address, after hw_rma_redirect
 * said HW_RMA_SEVERAL. With a request all pieces but the last are waited for here, which are those that
 * ghosts complete without the target. Any thread. Returns an MPI error code, already raised. */
int hw_rma_pieces_make(struct hw_rma_window *window, int target_rank, MPI_Aint target_disp,
                       const struct hw_rma_accumulate *call);

#endif
