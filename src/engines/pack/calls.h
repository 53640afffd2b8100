/* SPDX-License-Identifier: BSD-3-Clause */
/* What the engine answers to MPI_Pack and MPI_Unpack. */
#ifndef HW_ENGINES_PACK_CALLS_H
#define HW_ENGINES_PACK_CALLS_H

#include "engines/engine.h"

extern const struct hw_engine_pack hw_pack_calls;

#endif
