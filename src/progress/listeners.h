/* SPDX-License-Identifier: BSD-3-Clause */
/* Listeners are told when an agent has made progress: descriptors of event loops (include/headway.h).
 *
 * Any thread may call anything. Telling costs one relaxed load while nobody listens. */
#ifndef HW_PROGRESS_LISTENERS_H
#define HW_PROGRESS_LISTENERS_H

#include "base/status.h"

#include <stdbool.h>

enum { HW_LISTENER_COUNT = 16 };

/* HW_NOMEM if as many as are kept listen already. One descriptor may listen several times. */
enum hw_status hw_listeners_add(int descriptor);

/* The descriptor is not written to when this returns. False if it did not listen. */
bool hw_listeners_remove(int descriptor);

bool hw_listeners_is_any(void);

/* Adds 1 to the eventfd of everybody who listens. */
void hw_listeners_tell(void);

#endif
