/* SPDX-License-Identifier: BSD-3-Clause */
#include "objects/datatype/packed.h"

#include "real/constants.h"
#include "real/type_size.h"

#include <stdbool.h>
#include <stdint.h>

/* Of one call of the MPI, whose counts are ints. */
enum { STEP_BYTES = 1 << 30 };

/* Where the elements are, and where they are packed. */
struct ends {
    uintptr_t memory; /* 0: the datatype has absolute addresses */
    char *packed;
    bool is_packing;
};

/* Absolute addresses are relative to this one. */
static char anchor;

/* `count` of a datatype of absolute addresses, as one whose buffer is `anchor`; the caller frees it. */
static int anchored(int count, MPI_Datatype type, MPI_Datatype *moved)
{
    MPI_Aint displacement = -(MPI_Aint)(uintptr_t)&anchor;
    int rc = hw_bottom.Type_create_hindexed(1, &count, &displacement, type, moved);
    return rc == MPI_SUCCESS ? hw_bottom.Type_commit(moved) : rc;
}

static int move(const struct ends *ends, int count, MPI_Datatype type, int bytes)
{
    int position = 0;
    void *memory = (void *)ends->memory;
    return ends->is_packing
               ? hw_bottom.Pack(memory, count, type, ends->packed, bytes, &position, HW_COMM_SELF)
               : hw_bottom.Unpack(ends->packed, bytes, &position, memory, count, type, HW_COMM_SELF);
}

/* MPICH 4.0 packs and unpacks nothing at MPI_BOTTOM, whatever the datatype. */
static int move_absolute(const struct ends *ends, int count, MPI_Datatype type, int bytes)
{
    const struct ends at_anchor = {(uintptr_t)&anchor, ends->packed, ends->is_packing};
    MPI_Datatype moved;
    int rc = anchored(count, type, &moved);
    if (rc != MPI_SUCCESS)
        return rc;
    rc = move(&at_anchor, 1, moved, bytes);
    hw_bottom.Type_free(&moved);
    return rc;
}

static int step_of(MPI_Count left, uint64_t size)
{
    uint64_t most = size < STEP_BYTES ? STEP_BYTES / size : 1;
    return (int)((uint64_t)left < most ? (uint64_t)left : most);
}

static int move_all(struct ends ends, MPI_Count count, MPI_Datatype type)
{
    MPI_Aint lower, extent = 0;
    uint64_t size = hw_real_type_size(type);
    int rc = size > 0 ? hw_bottom.Type_get_extent(type, &lower, &extent) : MPI_SUCCESS;
    for (MPI_Count left = size > 0 ? count : 0; rc == MPI_SUCCESS && left > 0;) {
        int step = step_of(left, size), bytes = (int)((uint64_t)step * size);
        rc = ends.memory ? move(&ends, step, type, bytes) : move_absolute(&ends, step, type, bytes);
        ends.memory += (uintptr_t)(step * extent);
        ends.packed += bytes;
        left -= step;
    }
    return rc;
}

int hw_datatype_pack(const void *memory, MPI_Count count, MPI_Datatype type, void *packed)
{
    return move_all((struct ends){(uintptr_t)memory, packed, true}, count, type);
}

int hw_datatype_unpack(const void *packed, void *memory, MPI_Count count, MPI_Datatype type)
{
    return move_all((struct ends){(uintptr_t)memory, (char *)(uintptr_t)packed, false}, count, type);
}
