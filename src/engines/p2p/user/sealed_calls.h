/* SPDX-License-Identifier: BSD-3-Clause */
/* What the engine is asked: on sealed communicators (seal.h) it answers here; elsewhere calls.h does. */
#ifndef HW_ENGINES_P2P_USER_SEALED_CALLS_H
#define HW_ENGINES_P2P_USER_SEALED_CALLS_H

#include "engines/engine.h"

extern const struct hw_engine_p2p hw_p2p_sealed_calls;
extern const struct hw_engine_communicator hw_p2p_communicator_calls;

#endif
