/* SPDX-License-Identifier: BSD-3-Clause */
#include "objects/datatype/packed.h"

#include "real/constants.h"
#include "real/type_size.h"

#include <stdint.h>

/* Of one call of the MPI, whose counts are ints. */
enum { STEP_BYTES = 1 << 30 };

/* Absolute addresses are relative to this one. */
static char anchor;

/* `count` of a datatype of absolute addresses, as one whose buffer is `anchor`; the caller frees it. */
static int anchored(int count, MPI_Datatype type, MPI_Datatype *moved)
{
    MPI_Aint displacement = -(MPI_Aint)(uintptr_t)&anchor;
    int rc = hw_bottom.Type_create_hindexed(1, &count, &displacement, type, moved);
    return rc == MPI_SUCCESS ? hw_bottom.Type_commit(moved) : rc;
}

int hw_datatype_pack_part(const void *memory, int count, MPI_Datatype type, void *packed, int bytes,
                          int *position)
{
    MPI_Datatype moved;
    if (memory)
        return hw_bottom.Pack(memory, count, type, packed, bytes, position, HW_COMM_SELF);
    int rc = anchored(count, type, &moved);
    if (rc != MPI_SUCCESS)
        return rc;
    rc = hw_bottom.Pack(&anchor, 1, moved, packed, bytes, position, HW_COMM_SELF);
    hw_bottom.Type_free(&moved);
    return rc;
}

int hw_datatype_unpack_part(const void *packed, int bytes, int *position, void *memory, int count,
                            MPI_Datatype type)
{
    MPI_Datatype moved;
    if (memory)
        return hw_bottom.Unpack(packed, bytes, position, memory, count, type, HW_COMM_SELF);
    int rc = anchored(count, type, &moved);
    if (rc != MPI_SUCCESS)
        return rc;
    rc = hw_bottom.Unpack(packed, bytes, position, &anchor, 1, moved, HW_COMM_SELF);
    hw_bottom.Type_free(&moved);
    return rc;
}

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
        hw_datatype_pack_part((const char *)memory + i * extent, step, type, place, bytes, &position);
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
        hw_datatype_unpack_part(place, bytes, &position, (char *)memory + i * extent, step, type);
        place += bytes;
        i += step;
    }
}
