/* SPDX-License-Identifier: BSD-3-Clause */
/* Packing and unpacking by the MPI, of any number of elements and of MPI_BOTTOM. `packed` has as many bytes
 * as the elements have together. Returns what the MPI does. Any thread, inside a hook. */
#ifndef HW_OBJECTS_DATATYPE_PACKED_H
#define HW_OBJECTS_DATATYPE_PACKED_H

#include "real/real.h"

#include <stdint.h>

int hw_datatype_pack(const void *memory, MPI_Count count, MPI_Datatype type, void *packed);
int hw_datatype_unpack(const void *packed, void *memory, MPI_Count count, MPI_Datatype type);

/* The first `bytes`, at most WHOLE_BYTES, of what elements pack: all of one element is touched only where
 * that is small, or has no shape (shape.h). The size of `type` is not 0, and there are enough elements. */
int hw_datatype_pack_head(const void *memory, MPI_Datatype type, uint64_t bytes, void *packed);
int hw_datatype_unpack_head(const void *packed, uint64_t bytes, void *memory, MPI_Datatype type);

#endif
