/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/p2p/user/packed.h"

#include "engines/p2p/user/own.h"
#include "objects/datatype/packed.h"
#include "real/constants.h"
#include "real/type_size.h"

/* What does not fill a last element goes through the MPI, which knows where its basic elements lie. */
static void unpack_rest(const char *packed, uint64_t bytes, char *place, MPI_Datatype type)
{
    int tag = hw_p2p_own_tag();
    hw_bottom.Sendrecv(packed, (int)bytes, HW_BYTE, 0, tag, place, 1, type, 0, tag, hw_p2p_own_comm(),
                       HW_STATUS_IGNORE);
}

void hw_p2p_unpack(const void *packed, uint64_t bytes, void *memory, MPI_Datatype type)
{
    MPI_Aint lower, extent = 0;
    uint64_t size = hw_real_type_size(type);
    MPI_Count whole = size > 0 ? (MPI_Count)(bytes / size) : 0;
    uint64_t done = (uint64_t)whole * size;
    hw_bottom.Type_get_extent(type, &lower, &extent);
    hw_datatype_unpack(packed, memory, whole, type);
    if (done < bytes)
        unpack_rest((const char *)packed + done, bytes - done, (char *)memory + whole * extent, type);
}
