/* SPDX-License-Identifier: BSD-3-Clause */
/* The requests that a door holds while it runs. Internal to src/profile; hw_profile_hold and
 * hw_profile_held_at are of this file, too. */
#ifndef HW_PROFILE_CALLS_HELD_H
#define HW_PROFILE_CALLS_HELD_H

#include "profile/calls/calls.h"
#include "profile/calls/requests.h"

#include <stdlib.h>

/* Takes those that are followed out of the table, and leaves the others out of call->held. Under the lock, as
 * the next. */
void hw_held_take(struct hw_profile_call *call);

/* Whom a request was with, when it is complete. */
struct hw_delay_who hw_held_who(const struct hw_profile_held *held);

static inline void hw_held_free(struct hw_profile_call *call)
{
    if (call->held != call->inline_held)
        free(call->held);
}

#endif
