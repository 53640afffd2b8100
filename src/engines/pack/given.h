/* SPDX-License-Identifier: BSD-3-Clause */
/* What the program passes to send or receive. */
#ifndef HW_ENGINES_PACK_GIVEN_H
#define HW_ENGINES_PACK_GIVEN_H

#include "objects/datatype/shape.h"
#include "real/real.h"

#include <stdint.h>

struct hw_pack_given {
    enum hw_shape_direction direction; /* PACK: it is sent */
    uintptr_t memory;
    MPI_Count count;
    MPI_Datatype datatype;
};

#endif
