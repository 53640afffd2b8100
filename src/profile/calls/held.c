/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile/calls/held.h"

#include <stdlib.h>
#include <string.h>

static bool make_room(struct hw_profile_call *call)
{
    if (call->held_count < call->held_capacity)
        return true;
    int capacity = 4 * call->held_capacity;
    bool is_inline = call->held == call->inline_held;
    struct hw_profile_held *held = realloc(is_inline ? NULL : call->held, (size_t)capacity * sizeof *held);
    if (!held)
        return false;
    if (is_inline)
        memcpy(held, call->inline_held, sizeof call->inline_held);
    call->held = held;
    call->held_capacity = capacity;
    return true;
}

void hw_profile_hold(struct hw_profile_call *call, int index, uint64_t handle)
{
    if (make_room(call))
        call->held[call->held_count++] =
            (struct hw_profile_held){.handle = handle, .index = index, .took = -1};
}

static int compare_index(const void *index, const void *held)
{
    int one = *(const int *)index, other = ((const struct hw_profile_held *)held)->index;
    return (one > other) - (one < other);
}

/* What is held is in the order of the door's array. */
struct hw_profile_held *hw_profile_held_at(struct hw_profile_call *call, int index)
{
    return bsearch(&index, call->held, (size_t)call->held_count, sizeof *call->held, compare_index);
}

void hw_held_take(struct hw_profile_call *call)
{
    int kept = 0;
    for (int i = 0; i < call->held_count; i++) {
        struct hw_profile_request *request = hw_requests_take(call->held[i].handle);
        if (request && !request->is_active) {
            hw_requests_put(request);
            request = NULL;
        }
        if (!request)
            continue;
        call->wants_sources |= request->taken_on != 0;
        call->held[kept] = call->held[i];
        call->held[kept++].request = request;
    }
    call->held_count = kept;
}

struct hw_delay_who hw_held_who(const struct hw_profile_held *held)
{
    struct hw_delay_who who = held->request->who;
    int took = held->took >= 0 ? hw_comms_world_rank(held->request->taken_on, held->took) : -1;
    if (took >= 0)
        who.takes = took;
    return who;
}
