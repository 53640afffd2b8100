/* SPDX-License-Identifier: BSD-3-Clause */
/* Packing and unpacking of whole buffers by the MPI, of any size. `packed` has as many bytes as the elements
 * of the datatype together. Any thread, inside a hook. */
#ifndef HW_OBJECTS_DATATYPE_PACKED_H
#define HW_OBJECTS_DATATYPE_PACKED_H

#include "real/real.h"

void hw_datatype_pack(const void *memory, MPI_Count count, MPI_Datatype type, void *packed);
void hw_datatype_unpack(const void *packed, void *memory, MPI_Count count, MPI_Datatype type);

#endif
