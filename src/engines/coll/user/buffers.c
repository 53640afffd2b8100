/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/coll/user/buffers.h"

#include "objects/datatype/dense.h"
#include "objects/datatype/hold.h"
#include "objects/datatype/packed.h"
#include "real/constants.h"
#include "real/type_size.h"
#include "world/world.h"

#include <stdlib.h>

struct hw_coll_block {
    char *memory;
    MPI_Count count;
};

/* A copy of so many bytes, since `type` has gaps. False: no memory. */
static bool take_copy(struct hw_coll_buffer *buffer, uint64_t bytes)
{
    uint64_t size;
    MPI_Datatype type = buffer->type;
    buffer->copy = malloc(bytes + 1); /* a wrong send may have nothing */
    if (buffer->copy && !hw_real_type_is_basic(type, &size)) {
        buffer->type = hw_datatype_hold(type);
        buffer->is_type_ours = buffer->type != HW_DATATYPE_NULL;
    }
    return buffer->copy && buffer->type != HW_DATATYPE_NULL;
}

bool hw_coll_buffer_take(struct hw_coll_buffer *buffer, const void *memory, MPI_Count count,
                         MPI_Datatype type)
{
    uint64_t size;
    *buffer = (struct hw_coll_buffer){.memory = (void *)(uintptr_t)memory, .count = count, .type = type};
    if (hw_datatype_element_of(type, &size) != HW_DATATYPE_NULL)
        return true;
    if (take_copy(buffer, (uint64_t)count * hw_real_type_size(type)))
        return true;
    hw_coll_buffer_drop(buffer);
    return false;
}

/* ---- counts for each process -----------------------------------------------------------------------------
 */

static uint64_t sum_of(const struct hw_coll_each *each)
{
    uint64_t sum = 0;
    for (int rank = 0; rank < hw_world.user_count; rank++)
        sum += (uint64_t)hw_engine_number(each->counts, rank);
    return sum;
}

/* Where the program has each, and how much that is packed. */
static bool take_pieces(struct hw_coll_buffer *buffer, const struct hw_coll_each *each, bool is_counted)
{
    MPI_Aint lower, extent = 0;
    uint64_t size = is_counted ? hw_real_type_size(each->type) : 0;
    buffer->pieces = calloc((size_t)hw_world.user_count, sizeof *buffer->pieces);
    if (buffer->pieces == NULL)
        return false;
    if (is_counted)
        hw_bottom.Type_get_extent(each->type, &lower, &extent);
    for (int rank = 0; is_counted && rank < hw_world.user_count; rank++)
        buffer->pieces[rank] = (struct hw_coll_piece){
            (uint64_t)(uintptr_t)each->memory + (uint64_t)(hw_engine_number(each->displs, rank) * extent),
            (uint64_t)hw_engine_number(each->counts, rank) * size};
    return true;
}

/* Puts the copy's addresses in place of the program's. */
static bool take_copy_of_each(struct hw_coll_buffer *buffer, const struct hw_coll_each *each, uint64_t sum)
{
    buffer->blocks = calloc((size_t)hw_world.user_count, sizeof *buffer->blocks);
    if (buffer->blocks == NULL || !take_copy(buffer, sum * hw_real_type_size(each->type)))
        return false;
    char *next = buffer->copy;
    for (int rank = 0; rank < hw_world.user_count; rank++) {
        struct hw_coll_piece *piece = &buffer->pieces[rank];
        buffer->blocks[rank] =
            (struct hw_coll_block){(char *)(uintptr_t)piece->address, hw_engine_number(each->counts, rank)};
        piece->address = (uint64_t)(uintptr_t)next;
        next += piece->bytes;
    }
    return true;
}

bool hw_coll_buffer_take_each(struct hw_coll_buffer *buffer, const struct hw_coll_each *each)
{
    uint64_t size, sum = sum_of(each);
    *buffer = (struct hw_coll_buffer){.type = each->type};
    if (take_pieces(buffer, each, sum > 0) &&
        (sum == 0 || hw_datatype_element_of(each->type, &size) != HW_DATATYPE_NULL ||
         take_copy_of_each(buffer, each, sum)))
        return true;
    hw_coll_buffer_drop(buffer);
    return false;
}

/* ---- all -------------------------------------------------------------------------------------------------
 */

uint64_t hw_coll_buffer_address(const struct hw_coll_buffer *buffer)
{
    if (buffer->pieces)
        return (uint64_t)(uintptr_t)buffer->pieces;
    return (uint64_t)(uintptr_t)(buffer->copy ? buffer->copy : buffer->memory);
}

void hw_coll_buffer_pack(const struct hw_coll_buffer *buffer)
{
    if (buffer->copy && !buffer->blocks)
        hw_datatype_pack(buffer->memory, buffer->count, buffer->type, buffer->copy);
    for (int rank = 0; buffer->blocks && rank < hw_world.user_count; rank++)
        if (buffer->blocks[rank].count > 0)
            hw_datatype_pack(buffer->blocks[rank].memory, buffer->blocks[rank].count, buffer->type,
                             (char *)(uintptr_t)buffer->pieces[rank].address);
}

void hw_coll_buffer_unpack(const struct hw_coll_buffer *buffer)
{
    if (buffer->copy && !buffer->blocks)
        hw_datatype_unpack(buffer->copy, buffer->memory, buffer->count, buffer->type);
    for (int rank = 0; buffer->blocks && rank < hw_world.user_count; rank++)
        if (buffer->blocks[rank].count > 0)
            hw_datatype_unpack((char *)(uintptr_t)buffer->pieces[rank].address, buffer->blocks[rank].memory,
                               buffer->blocks[rank].count, buffer->type);
}

void hw_coll_buffer_drop(struct hw_coll_buffer *buffer)
{
    free(buffer->copy);
    free(buffer->pieces);
    free(buffer->blocks);
    if (buffer->is_type_ours)
        hw_bottom.Type_free(&buffer->type);
    *buffer = (struct hw_coll_buffer){0};
}
