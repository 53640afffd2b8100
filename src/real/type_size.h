/* SPDX-License-Identifier: BSD-3-Clause */
/* hw_real_type_size gives the size of a datatype in bytes, as fast as the MPI underneath allows. `type` must
 * be valid. */
#ifndef HW_REAL_TYPE_SIZE_H
#define HW_REAL_TYPE_SIZE_H

#include "real/constants.h"
#include "real/real.h"

#include <stdint.h>

/* True for a basic type whose *size is known without a call. */
static inline bool hw_real_type_is_basic(MPI_Datatype type, uint64_t *size)
{
#ifdef OPEN_MPI
    if (type == HW_BYTE || type == HW_CHAR)
        *size = 1;
    else if (type == HW_DOUBLE)
        *size = sizeof(double);
    else if (type == HW_INT)
        *size = sizeof(int);
    else
        return false;
    return true;
#else
    /* MPICH ABI: a handle of kind "builtin" (top bits 01) carries the size of its type in bits 8 to 15. */
    *size = (uint32_t)type >> 8 & 0xff;
    return (uint32_t)type >> 30 == 1;
#endif
}

static inline uint64_t hw_real_type_size(MPI_Datatype type)
{
    uint64_t known;
    if (hw_real_type_is_basic(type, &known))
        return known;
    MPI_Count size = 0;
    hw_bottom.Type_size_x(type, &size);
    return size > 0 ? (uint64_t)size : 0;
}

#endif
