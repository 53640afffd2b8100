/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/p2p/user/packed.h"

#include "engines/p2p/user/own.h"
#include "objects/datatype/packed.h"
#include "real/constants.h"
#include "real/type_size.h"

void hw_p2p_pack(const struct hw_p2p_part *part, void *packed)
{
    hw_datatype_pack(part->memory, part->count, part->type, packed);
}

/* What does not fill a last element goes through the MPI, which knows where its basic elements lie. */
static void unpack_rest(const struct hw_p2p_part *part, char *place, char *packed, uint64_t bytes)
{
    int tag = hw_p2p_own_tag();
    hw_bottom.Sendrecv(packed, (int)bytes, HW_BYTE, 0, tag, place, 1, part->type, 0, tag, hw_p2p_own_comm(),
                       HW_STATUS_IGNORE);
}

void hw_p2p_unpack(const struct hw_p2p_part *part, void *packed, uint64_t bytes)
{
    MPI_Aint lower, extent = 0;
    uint64_t size = hw_real_type_size(part->type);
    char *memory = (char *)(uintptr_t)part->memory;
    MPI_Count whole = size > 0 ? (MPI_Count)(bytes / size) : 0;
    uint64_t done = (uint64_t)whole * size;
    hw_bottom.Type_get_extent(part->type, &lower, &extent);
    hw_datatype_unpack(packed, memory, whole, part->type);
    if (done < bytes)
        unpack_rest(part, memory + whole * extent, (char *)packed + done, bytes - done);
}
