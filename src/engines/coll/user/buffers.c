/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/coll/user/buffers.h"

#include "objects/datatype/dense.h"
#include "objects/datatype/hold.h"
#include "objects/datatype/packed.h"
#include "real/constants.h"
#include "real/type_size.h"

#include <stdlib.h>

bool hw_coll_buffer_take(struct hw_coll_buffer *buffer, const void *memory, MPI_Count count,
                         MPI_Datatype type)
{
    uint64_t size;
    *buffer = (struct hw_coll_buffer){.memory = (void *)(uintptr_t)memory, .count = count, .type = type};
    if (hw_datatype_element_of(type, &size) != HW_DATATYPE_NULL)
        return true;
    buffer->copy = malloc((uint64_t)count * hw_real_type_size(type) + 1); /* a wrong send may have nothing */
    if (buffer->copy && !hw_real_type_is_basic(type, &size)) {
        buffer->type = hw_datatype_hold(type);
        buffer->is_type_ours = buffer->type != HW_DATATYPE_NULL;
    }
    if (buffer->copy && buffer->type != HW_DATATYPE_NULL)
        return true;
    hw_coll_buffer_drop(buffer);
    return false;
}

uint64_t hw_coll_buffer_address(const struct hw_coll_buffer *buffer)
{
    return (uint64_t)(uintptr_t)(buffer->copy ? buffer->copy : buffer->memory);
}

void hw_coll_buffer_pack(const struct hw_coll_buffer *buffer)
{
    if (buffer->copy)
        hw_datatype_pack(buffer->memory, buffer->count, buffer->type, buffer->copy);
}

void hw_coll_buffer_unpack(const struct hw_coll_buffer *buffer)
{
    if (buffer->copy)
        hw_datatype_unpack(buffer->copy, buffer->memory, buffer->count, buffer->type);
}

void hw_coll_buffer_drop(struct hw_coll_buffer *buffer)
{
    free(buffer->copy);
    if (buffer->is_type_ours)
        hw_bottom.Type_free(&buffer->type);
    *buffer = (struct hw_coll_buffer){0};
}
