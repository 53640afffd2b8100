/* SPDX-License-Identifier: BSD-3-Clause */
#include "objects/datatype/packed.h"

#include "objects/datatype/decode.h"
#include "real/constants.h"
#include "real/type_size.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    STEP_BYTES = 1 << 30,           /* of one call of the MPI, whose counts are ints */
    SHAPE_BYTES = 16 * 1024 * 1024, /* of memory for a shape that serves once */
    WHOLE_BYTES = 4096,             /* up to here one element is packed whole for the sake of its head */
};

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

/* The first `bytes` of one element. False: its datatype has no shape. */
static bool move_by_shape(const struct ends *ends, MPI_Datatype type, uint64_t bytes)
{
    struct hw_shape_arena arena;
    struct hw_shape shape;
    hw_shape_arena_begin(&arena, SHAPE_BYTES);
    bool has_shape =
        hw_datatype_decode(type, &arena, &shape) == HW_OK && (uint64_t)shape.size == hw_real_type_size(type);
    if (has_shape)
        hw_shape_copy(&shape, 1, 0, ends->is_packing ? HW_SHAPE_PACK : HW_SHAPE_UNPACK, ends->memory,
                      (struct hw_shape_range){0, (int64_t)bytes}, ends->packed);
    hw_shape_arena_free(&arena);
    return has_shape;
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
        if (size <= INT_MAX || !move_by_shape(&ends, type, size))
            rc = ends.memory ? move(&ends, step, type, bytes) : move_absolute(&ends, step, type, bytes);
        ends.memory += (uintptr_t)(step * extent);
        ends.packed += (uint64_t)step * size;
        left -= step;
    }
    return rc;
}

/* The head of elements that are small, through a copy of all of them. */
static int move_head(const struct ends *ends, MPI_Datatype type, uint64_t bytes)
{
    uint64_t size = hw_real_type_size(type), count = size > 0 ? (bytes + size - 1) / size : 0;
    char *whole = count > 0 ? malloc(count * size) : NULL;
    struct ends all = {ends->memory, whole, true};
    int rc = whole ? move_all(all, (MPI_Count)count, type) : MPI_ERR_NO_MEM;
    if (rc == MPI_SUCCESS && ends->is_packing) {
        memcpy(ends->packed, whole, bytes);
    } else if (rc == MPI_SUCCESS) {
        memcpy(whole, ends->packed, bytes);
        all.is_packing = false;
        rc = move_all(all, (MPI_Count)count, type);
    }
    free(whole);
    return rc;
}

static int head(const struct ends *ends, MPI_Datatype type, uint64_t bytes)
{
    if (hw_real_type_size(type) > WHOLE_BYTES && move_by_shape(ends, type, bytes))
        return MPI_SUCCESS;
    return move_head(ends, type, bytes);
}

int hw_datatype_pack_head(const void *memory, MPI_Datatype type, uint64_t bytes, void *packed)
{
    return head(&(struct ends){(uintptr_t)memory, packed, true}, type, bytes);
}

int hw_datatype_unpack_head(const void *packed, uint64_t bytes, void *memory, MPI_Datatype type)
{
    return head(&(struct ends){(uintptr_t)memory, (char *)(uintptr_t)packed, false}, type, bytes);
}

int hw_datatype_pack(const void *memory, MPI_Count count, MPI_Datatype type, void *packed)
{
    return move_all((struct ends){(uintptr_t)memory, packed, true}, count, type);
}

int hw_datatype_unpack(const void *packed, void *memory, MPI_Count count, MPI_Datatype type)
{
    return move_all((struct ends){(uintptr_t)memory, (char *)(uintptr_t)packed, false}, count, type);
}
