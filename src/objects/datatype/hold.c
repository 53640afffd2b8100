/* SPDX-License-Identifier: BSD-3-Clause */
#include "objects/datatype/hold.h"

#include "real/constants.h"

MPI_Datatype hw_datatype_hold(MPI_Datatype datatype)
{
    MPI_Datatype held = HW_DATATYPE_NULL;
    if (hw_bottom.Type_contiguous(1, datatype, &held) != MPI_SUCCESS)
        return HW_DATATYPE_NULL;
    hw_bottom.Type_commit(&held);
    return held;
}
