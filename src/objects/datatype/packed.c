/* SPDX-License-Identifier: BSD-3-Clause */
#include "objects/datatype/packed.h"

#include "real/constants.h"
#include "real/type_size.h"

#include <stdint.h>

/* Of one call of the MPI, whose counts are ints. */
enum { STEP_BYTES = 1 << 30 };

static int step_of(MPI_Count left, uint64_t size)
{
    uint64_t most = size < STEP_BYTES ? STEP_BYTES / size : 1;
    return (int)((uint64_t)left < most ? (uint64_t)left : most);
}

void hw_datatype_pack(const void *memory, MPI_Count count, MPI_Datatype type, void *packed)
{
    MPI_Aint lower, extent = 0;
    uint64_t size = hw_real_type_size(type);
    hw_bottom.Type_get_extent(type, &lower, &extent);
    char *place = packed;
    for (MPI_Count i = 0; size > 0 && i < count;) {
        int step = step_of(count - i, size), position = 0, bytes = (int)((uint64_t)step * size);
        hw_bottom.Pack((const char *)memory + i * extent, step, type, place, bytes, &position, HW_COMM_SELF);
        place += bytes;
        i += step;
    }
}

void hw_datatype_unpack(const void *packed, void *memory, MPI_Count count, MPI_Datatype type)
{
    MPI_Aint lower, extent = 0;
    uint64_t size = hw_real_type_size(type);
    hw_bottom.Type_get_extent(type, &lower, &extent);
    const char *place = packed;
    for (MPI_Count i = 0; size > 0 && i < count;) {
        int step = step_of(count - i, size), position = 0, bytes = (int)((uint64_t)step * size);
        hw_bottom.Unpack(place, bytes, &position, (char *)memory + i * extent, step, type, HW_COMM_SELF);
        place += bytes;
        i += step;
    }
}
