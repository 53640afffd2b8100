/* SPDX-License-Identifier: BSD-3-Clause */
/* What of an operation decides where it may go: its target's side. */
#ifndef HW_ENGINES_RMA_OPERATION_SHAPE_H
#define HW_ENGINES_RMA_OPERATION_SHAPE_H

#include "real/real.h"

#include <limits.h>
#include <stdbool.h>

/* SINGLE: accumulates of one element, Fetch_and_op and Compare_and_swap. */
enum hw_rma_class { HW_RMA_PUT, HW_RMA_GET, HW_RMA_ACCUMULATE, HW_RMA_SINGLE };

struct hw_rma_shape {
    enum hw_rma_class class;
    MPI_Count count;
    MPI_Datatype datatype;
    bool has_request;
};

/* An accumulate that reaches into several ghosts' segments, or a ghost's and others: in place of a rank. */
enum { HW_RMA_SEVERAL = INT_MAX - 1 };

#endif
