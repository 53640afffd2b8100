/* SPDX-License-Identifier: BSD-3-Clause */
/* An operation that waits for its target, with its arguments. What they point to is the program's until the
 * epoch ends, or a flush, so nothing is copied; datatypes may be freed before, and are held. */
#ifndef HW_ENGINES_RMA_DEFERRED_OPERATION_H
#define HW_ENGINES_RMA_DEFERRED_OPERATION_H

#include "engines/rma/window/window.h"

#include <stdbool.h>

enum hw_rma_deferred_kind {
    HW_RMA_DEFERRED_PUT,
    HW_RMA_DEFERRED_GET,
    HW_RMA_DEFERRED_ACCUMULATE,
    HW_RMA_DEFERRED_GET_ACCUMULATE,
    HW_RMA_DEFERRED_FETCH_AND_OP,
    HW_RMA_DEFERRED_COMPARE_AND_SWAP,
};

struct hw_rma_deferred_operation {
    struct hw_rma_deferred_operation *next; /* on the same target */
    enum hw_rma_deferred_kind kind;
    int rank;
    MPI_Aint disp;
    struct hw_rma_part origin, result, target; /* result: its address is written; Get: the origin's is */
    const void *compare;
    MPI_Op op;
    bool holds_origin, holds_result, holds_target; /* the datatype is ours to free */
};

/* A copy that holds its datatypes. NULL: it cannot be kept, and is to be issued at once. */
struct hw_rma_deferred_operation *hw_rma_deferred_copy(const struct hw_rma_deferred_operation *given);

/* Issues it on a target that is open, and frees it. Returns an MPI error code. */
int hw_rma_deferred_issue(struct hw_rma_window *window, struct hw_rma_deferred_operation *operation);

/* Frees one that is not to be issued any more. */
void hw_rma_deferred_drop(struct hw_rma_deferred_operation *operation);

#endif
