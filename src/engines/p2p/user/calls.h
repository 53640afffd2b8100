/* SPDX-License-Identifier: BSD-3-Clause */
/* What the engine is asked: every send that ghosts may move, and every call that receives or probes. */
#ifndef HW_ENGINES_P2P_USER_CALLS_H
#define HW_ENGINES_P2P_USER_CALLS_H

#include "engines/engine.h"

extern const struct hw_engine_p2p hw_p2p_calls;

#endif
