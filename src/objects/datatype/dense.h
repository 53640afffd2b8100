/* SPDX-License-Identifier: BSD-3-Clause */
/* Datatypes without gaps: elements of one predefined datatype, one behind the other in memory. */
#ifndef HW_OBJECTS_DATATYPE_DENSE_H
#define HW_OBJECTS_DATATYPE_DENSE_H

#include "real/real.h"

#include <stdint.h>

/* The predefined datatype of whose elements `datatype` consists, and its size; HW_DATATYPE_NULL: it is not
 * dense, or not known to be. `datatype` must be valid. */
MPI_Datatype hw_datatype_element_of(MPI_Datatype datatype, uint64_t *size);

#endif
