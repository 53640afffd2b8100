/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the elements of a buffer lie, for any datatype: found by packing a buffer whose bytes say where they
 * are, after a datatype that spans much was taken apart. Any thread; local. */
#ifndef HW_ENGINES_RMA_OPERATION_LAYOUT_H
#define HW_ENGINES_RMA_OPERATION_LAYOUT_H

#include "base/status.h"
#include "real/real.h"

struct hw_rma_layout {
    MPI_Count count;       /* of elements */
    MPI_Count group_count; /* of elements in one of the program's datatype */
    MPI_Aint extent;       /* of the program's datatype */
    MPI_Aint *places;      /* of the elements of the first; NULL: one at 0 */
};

/* The basic datatype in `datatype`, which has one. MPI_DATATYPE_NULL if MPI does not tell. */
MPI_Datatype hw_rma_layout_element(MPI_Datatype datatype);

/* `count` of `datatype`, whose elements have `element_size` bytes each. HW_NOMEM, HW_MPI: not known. */
enum hw_status hw_rma_layout_make(MPI_Count count, MPI_Datatype datatype, MPI_Count element_size,
                                  struct hw_rma_layout *layout);
void hw_rma_layout_free(struct hw_rma_layout *layout);

/* Where an element begins, in bytes from the buffer's address. */
static inline MPI_Aint hw_rma_layout_place(const struct hw_rma_layout *layout, MPI_Count index)
{
    if (layout->places == NULL)
        return (MPI_Aint)index * layout->extent;
    return (MPI_Aint)(index / layout->group_count) * layout->extent +
           layout->places[index % layout->group_count];
}

#endif
