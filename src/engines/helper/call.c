/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/helper/call.h"

#include "base/clock.h"
#include "base/log.h"
#include "ghost/mark.h"

/* The first: longer than a call that posts a message, which may be what the mark shows. The last: as a
 * thread that finds the program inside (engines/thread/turns.c). */
#define FIRST_PAUSE_NS (60 * HW_NS_PER_US)
#define MAX_PAUSE_NS (4 * HW_NS_PER_MS)
enum { PAUSE_GROWTH = 4 }; /* each look takes the core from somebody */

void hw_helper_call_begin(struct hw_helper_call *call, struct hw_helped_word *word, int index)
{
    *call = (struct hw_helper_call){.word = word, .index = index};
}

static bool is_inside(int index)
{
    static bool is_told;
    const char *why;
    enum hw_ghost_mark_says says = hw_ghost_mark_look(index, &why);
    if (why && !is_told)
        hw_log_info("the helper cannot see which processes are inside MPI (%s), and wakes them all", why);
    is_told = is_told || why;
    return says == HW_GHOST_MARK_INSIDE;
}

static void try_now(struct hw_helper_call *call, uint64_t now_ns)
{
    call->is_owed = is_inside(call->index);
    call->due_ns = now_ns + call->pause_ns;
    if (call->pause_ns < MAX_PAUSE_NS)
        call->pause_ns *= PAUSE_GROWTH;
    if (!call->is_owed)
        hw_helped_wake(call->word);
}

static bool is_over(struct hw_helper_call *call)
{
    if (!call->is_owed || hw_helped_is_moving(call->word) || hw_helped_is_asked(call->word))
        return false;
    call->is_owed = false;
    hw_helped_spare(call->word);
    return true;
}

void hw_helper_call_match(struct hw_helper_call *call)
{
    is_over(call);
    hw_helped_match(call->word);
    call->pause_ns = FIRST_PAUSE_NS;
    try_now(call, hw_clock_now_ns());
}

void hw_helper_call_ask(struct hw_helper_call *call)
{
    is_over(call);
    call->pause_ns = FIRST_PAUSE_NS;
    try_now(call, hw_clock_now_ns());
}

uint64_t hw_helper_call_again(struct hw_helper_call *call, uint64_t now_ns)
{
    if (call->is_owed && !is_over(call) && now_ns >= call->due_ns)
        try_now(call, now_ns);
    return call->is_owed ? call->due_ns : UINT64_MAX;
}
