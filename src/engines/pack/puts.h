/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Put from an origin with gaps, and the calls that complete it. */
#ifndef HW_ENGINES_PACK_PUTS_H
#define HW_ENGINES_PACK_PUTS_H

#include "base/visibility.h"
#include "engines/engine.h"

extern HW_HIDDEN const struct hw_engine_rma hw_pack_put_operations;
extern HW_HIDDEN const struct hw_engine_epoch hw_pack_put_epochs;

#endif
