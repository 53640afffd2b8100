/* SPDX-License-Identifier: BSD-3-Clause */
/* The shape of a datatype (MPI-4.1 sections 5.1.2 to 5.1.8), found by taking it apart. */
#ifndef HW_OBJECTS_DATATYPE_DECODE_H
#define HW_OBJECTS_DATATYPE_DECODE_H

#include "base/status.h"
#include "objects/datatype/shape.h"
#include "real/real.h"

/* HW_DECLINED: it is of a kind that has no shape here, or the shape would not fit in the arena. HW_MPI: an
 * MPI call failed. `datatype` must be valid. Any thread; local. */
enum hw_status hw_datatype_decode(MPI_Datatype datatype, struct hw_shape_arena *arena,
                                  struct hw_shape *shape);

#endif
