/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/p2p/user/replaced.h"

#include "engines/p2p/user/own.h"
#include "real/constants.h"

#include <stdlib.h>

static int raised(MPI_Comm comm, int error)
{
    hw_bottom.Comm_call_errhandler(comm, error);
    return error;
}

int hw_p2p_replaced_copy(const void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Comm comm,
                         void **memory, const void **copy)
{
    MPI_Aint lower = 0, extent = 0, first = 0, length = 0;
    *memory = NULL;
    hw_bottom.Type_get_extent(datatype, &lower, &extent);
    int rc = hw_bottom.Type_get_true_extent(datatype, &first, &length);
    if (rc != MPI_SUCCESS)
        return raised(comm, rc);
    MPI_Aint steps = count > 0 ? (MPI_Aint)(count - 1) * extent : 0; /* an extent may be negative */
    *memory = malloc((size_t)(length + labs(steps)) + 1);
    if (*memory == NULL)
        return raised(comm, MPI_ERR_NO_MEM);
    uintptr_t lowest = (uintptr_t)first + (uintptr_t)(steps < 0 ? steps : 0);
    void *place = (void *)((uintptr_t)*memory - lowest);
    *copy = place;
    int tag = hw_p2p_own_tag();
    rc = count == (int)count ? hw_bottom.Sendrecv(buf, (int)count, datatype, 0, tag, place, (int)count,
                                                  datatype, 0, tag, hw_p2p_own_comm(), HW_STATUS_IGNORE)
                             : hw_real_sendrecv(buf, count, datatype, 0, tag, place, count, datatype, 0, tag,
                                                hw_p2p_own_comm(), HW_STATUS_IGNORE);
    return rc == MPI_SUCCESS ? rc : raised(comm, rc);
}
