/* SPDX-License-Identifier: BSD-3-Clause */
#include "objects/datatype/dense.h"

#include "objects/datatype/contents.h"
#include "real/constants.h"
#include "real/type_size.h"

#include <stdbool.h>

enum { LEVELS = 8 };

/* Not pairs with gaps, as MPI_DOUBLE_INT. */
static bool is_solid(MPI_Datatype datatype, uint64_t *size)
{
    MPI_Aint lower = 1, extent = 0;
    if (hw_real_type_is_basic(datatype, size))
        return *size > 0;
    *size = hw_real_type_size(datatype);
    return *size > 0 && hw_bottom.Type_get_extent(datatype, &lower, &extent) == MPI_SUCCESS && lower == 0 &&
           (uint64_t)extent == *size;
}

MPI_Datatype hw_datatype_element_of(MPI_Datatype datatype, uint64_t *size)
{
    MPI_Datatype current = datatype;
    for (int level = 0; level < LEVELS; level++) {
        struct hw_datatype_envelope envelope;
        MPI_Datatype inner = HW_DATATYPE_NULL;
        if (hw_real_type_is_basic(current, size))
            return *size > 0 ? current : HW_DATATYPE_NULL;
        if (!hw_datatype_envelope_of(current, &envelope))
            return HW_DATATYPE_NULL;
        if (envelope.combiner == MPI_COMBINER_NAMED)
            return is_solid(current, size) ? current : HW_DATATYPE_NULL;
        bool has_inner = hw_datatype_repeated(current, &envelope, &inner);
        if (current != datatype)
            hw_bottom.Type_free(&current);
        if (!has_inner)
            return HW_DATATYPE_NULL;
        current = inner;
    }
    return HW_DATATYPE_NULL;
}
