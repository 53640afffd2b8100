/* SPDX-License-Identifier: BSD-3-Clause */
/* The dense twin of a datatype has the same signature and no gaps, so that what is sent with one may be
 * received with the other (MPI-4.1 section 3.3.1): a basic datatype where all elements are of that one, else
 * a struct; bytes, where messages do not say what they hold and the MPI would pack that struct
 * (HW_REAL_PACKS_DENSE_STRUCTS). */
#ifndef HW_ENGINES_PACK_TWIN_H
#define HW_ENGINES_PACK_TWIN_H

#include "objects/datatype/plan.h"
#include "real/real.h"

#include <stdint.h>

struct hw_pack_twin {
    MPI_Datatype type; /* committed */
    bool is_owned;
    int64_t count; /* of it make up one of the datatype */
};

/* Of a datatype with a usable plan, made at the first use; NULL: it has none. Any thread; local. Lives as
 * long as the plan. */
const struct hw_pack_twin *hw_pack_twin_of(struct hw_plan *plan, MPI_Datatype datatype);

#endif
