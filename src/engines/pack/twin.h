/* SPDX-License-Identifier: BSD-3-Clause */
/* The dense twin of a datatype has the same signature and no gaps, so that what is sent with one may be
 * received with the other (MPI-4.1 section 3.3.1): a basic datatype where all elements are of that one, else
 * a struct. Where the MPI is slow with those, MPI_PACKED, which any message may be received as, and which
 * what MPI_Pack would have packed may be sent as (section 5.2). */
#ifndef HW_ENGINES_PACK_TWIN_H
#define HW_ENGINES_PACK_TWIN_H

#include "objects/datatype/plan.h"
#include "real/real.h"

#include <stdint.h>

/* `count` of `type` make up one of the datatype. */
struct hw_pack_dense {
    MPI_Datatype type; /* committed */
    int64_t count;
};

/* What a plan keeps of it. */
struct hw_pack_twin {
    struct hw_pack_dense by[HW_SHAPE_UNPACK + 1]; /* by direction; count 0: none */
    MPI_Datatype owned;                           /* MPI_DATATYPE_NULL: none */
};

/* The twin, as it is sent or as it is received, of a datatype with a usable plan, made at the first use.
 * NULL: it has none, or a receive by the MPI's way would not take what is sent so (hw_real_takes_dense). Any
 * thread; local. Lives as long as the plan. */
const struct hw_pack_dense *hw_pack_dense_of(struct hw_plan *plan, MPI_Datatype datatype,
                                             enum hw_shape_direction direction);

/* Whether a receive with gaps takes what is sent packed in whatever parts it comes (real/parts.h): all
 * elements are of one basic datatype of up to HW_REAL_WHOLE_PART_BYTES. Of a datatype that has a twin. */
bool hw_pack_is_whole_in_parts(struct hw_plan *plan, MPI_Datatype datatype);

/* Whether a matched receive of so many bytes must be without gaps (hw_real_takes_dense_matched): elements of
 * the datatype, a valid one, are not all of one basic datatype, or too large to be received whole. Without a
 * plan (NULL), which keeps its twin, that is found out anew. */
bool hw_pack_must_be_dense(struct hw_plan *plan, MPI_Datatype datatype, uint64_t bytes);

#endif
