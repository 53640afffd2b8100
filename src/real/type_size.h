/* Size of a datatype in bytes, as fast as the MPI underneath allows. `type` must be valid. */
#ifndef HW_REAL_TYPE_SIZE_H
#define HW_REAL_TYPE_SIZE_H

#include "real/real.h"

#include <stdint.h>

static inline uint64_t hw_real_type_size(MPI_Datatype type)
{
#ifndef OPEN_MPI
    /* MPICH ABI: a handle of kind "builtin" (top bits 01) carries the size of its type in bits 8 to 15. */
    if ((uint32_t)type >> 30 == 1)
        return (uint32_t)type >> 8 & 0xff;
#endif
    MPI_Count size = 0;
    hw_bottom.Type_size_x(type, &size);
    return size > 0 ? (uint64_t)size : 0;
}

#endif
