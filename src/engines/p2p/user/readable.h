/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether a ghost can read memory of this process: not that of devices. Each range is tried once, at both
 * ends. Threads of the program, in a turn. */
#ifndef HW_ENGINES_P2P_USER_READABLE_H
#define HW_ENGINES_P2P_USER_READABLE_H

#include <stdbool.h>
#include <stdint.h>

bool hw_p2p_is_readable(const void *memory, uint64_t bytes);

#endif
