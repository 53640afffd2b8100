/* SPDX-License-Identifier: BSD-3-Clause */
/* What the engine answers to point-to-point messages. */
#ifndef HW_ENGINES_PACK_MESSAGE_CALLS_H
#define HW_ENGINES_PACK_MESSAGE_CALLS_H

#include "engines/engine.h"

extern const struct hw_engine_p2p hw_pack_message_calls;

#endif
