/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/p2p/user/packed.h"

#include "engines/p2p/user/own.h"
#include "real/constants.h"
#include "real/type_size.h"

/* Of one call of the MPI, whose counts are ints. */
enum { STEP_BYTES = 1 << 30 };

static int step_of(MPI_Count left, uint64_t size)
{
    uint64_t most = size < STEP_BYTES ? STEP_BYTES / size : 1;
    return (int)((uint64_t)left < most ? (uint64_t)left : most);
}

void hw_p2p_pack(const struct hw_p2p_part *part, void *packed)
{
    MPI_Aint lower, extent = 0;
    uint64_t size = hw_real_type_size(part->type);
    hw_bottom.Type_get_extent(part->type, &lower, &extent);
    uint64_t done = 0;
    for (MPI_Count i = 0; size > 0 && i < part->count;) {
        int step = step_of(part->count - i, size), position = 0;
        hw_bottom.Pack((const char *)part->memory + i * extent, step, part->type, (char *)packed + done,
                       (int)((uint64_t)step * size), &position, HW_COMM_SELF);
        done += (uint64_t)step * size;
        i += step;
    }
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
    uint64_t size = hw_real_type_size(part->type), done = 0;
    hw_bottom.Type_get_extent(part->type, &lower, &extent);
    char *memory = (char *)(uintptr_t)part->memory;
    MPI_Count whole = size > 0 ? (MPI_Count)(bytes / size) : 0;
    for (MPI_Count i = 0; i < whole;) {
        int step = step_of(whole - i, size), position = 0;
        hw_bottom.Unpack((char *)packed + done, (int)((uint64_t)step * size), &position, memory + i * extent,
                         step, part->type, HW_COMM_SELF);
        done += (uint64_t)step * size;
        i += step;
    }
    if (done < bytes)
        unpack_rest(part, memory + whole * extent, (char *)packed + done, bytes - done);
}
