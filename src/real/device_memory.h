/* SPDX-License-Identifier: BSD-3-Clause */
/* MPIs that know devices take addresses of theirs: buffers that no processor can read, and that a thread may
 * have no access to. */
#ifndef HW_REAL_DEVICE_MEMORY_H
#define HW_REAL_DEVICE_MEMORY_H

#include <stdbool.h>

/* True if the process has loaded a library through which it may have such memory, on a machine that may have
 * the device. A microsecond; some 50 once it has loaded others. Any thread. */
bool hw_real_has_device_memory(void);

/* True if the calling thread may use a device in a way that another thread of the process could not: a
 * context of CUDA is current in it, or HIP is there. As cheap. Any thread. */
bool hw_real_has_device_context(void);

#endif
