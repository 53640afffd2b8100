/* SPDX-License-Identifier: BSD-3-Clause */
/* hw_real_has_device_memory tells whether buffers may lie where a processor cannot read: MPIs that know
 * devices take addresses of theirs. */
#ifndef HW_REAL_DEVICE_MEMORY_H
#define HW_REAL_DEVICE_MEMORY_H

#include <stdbool.h>

/* True if the process has loaded a library through which it may have such memory, on a machine that may have
 * the device. A microsecond; some 50 once it has loaded others. Any thread. */
bool hw_real_has_device_memory(void);

#endif
