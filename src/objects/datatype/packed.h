/* SPDX-License-Identifier: BSD-3-Clause */
/* Packing and unpacking of whole buffers by the MPI, of any size. `packed` has as many bytes as the elements
 * of the datatype together. Any thread, inside a hook. */
#ifndef HW_OBJECTS_DATATYPE_PACKED_H
#define HW_OBJECTS_DATATYPE_PACKED_H

#include "real/real.h"

/* MPI_Pack and MPI_Unpack, MPI_BOTTOM too: MPICH 4.0's refuse it, whatever the datatype. */
int hw_datatype_pack_part(const void *memory, int count, MPI_Datatype type, void *packed, int bytes,
                          int *position);
int hw_datatype_unpack_part(const void *packed, int bytes, int *position, void *memory, int count,
                            MPI_Datatype type);

void hw_datatype_pack(const void *memory, MPI_Count count, MPI_Datatype type, void *packed);
void hw_datatype_unpack(const void *packed, void *memory, MPI_Count count, MPI_Datatype type);

#endif
