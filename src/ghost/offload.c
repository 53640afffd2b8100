/* SPDX-License-Identifier: BSD-3-Clause */
#include "ghost/offload.h"

#include "base/options.h"
#include "real/eager.h"

enum { LEAST_BYTES = 65536 };

uint64_t hw_ghost_offload_min_bytes(void)
{
    if (hw_options.offload_min_bytes > 0)
        return (uint64_t)hw_options.offload_min_bytes;
    uint64_t eager = hw_real_eager_limit();
    return eager < LEAST_BYTES ? LEAST_BYTES : eager + 1;
}
