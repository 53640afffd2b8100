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

/* Whether the search ends at this datatype, with or without an element. */
static bool is_last(MPI_Datatype datatype, uint64_t *size, MPI_Datatype *element, MPI_Datatype *inner)
{
    struct hw_datatype_envelope envelope;
    *element = HW_DATATYPE_NULL;
    if (hw_real_type_is_basic(datatype, size)) {
        *element = *size > 0 ? datatype : HW_DATATYPE_NULL;
        return true;
    }
    if (!hw_datatype_envelope_of(datatype, &envelope))
        return true;
    if (envelope.combiner == MPI_COMBINER_NAMED) {
        *element = is_solid(datatype, size) ? datatype : HW_DATATYPE_NULL;
        return true;
    }
    return !hw_datatype_repeated(datatype, &envelope, inner);
}

MPI_Datatype hw_datatype_element_of(MPI_Datatype datatype, uint64_t *size)
{
    MPI_Datatype current = datatype, element = HW_DATATYPE_NULL;
    for (int level = 0; level < LEVELS; level++) {
        MPI_Datatype inner = HW_DATATYPE_NULL;
        bool ends = is_last(current, size, &element, &inner);
        if (current != datatype && element == HW_DATATYPE_NULL)
            hw_datatype_release(current);
        if (ends)
            return element;
        current = inner;
    }
    if (current != datatype)
        hw_datatype_release(current);
    return HW_DATATYPE_NULL;
}
