/* SPDX-License-Identifier: BSD-3-Clause */
/* The marks, and what follows from them. */
#include "engines/thread/need.h"
#include "base/atomic.h"
#include "engines/thread/awaited.h"
#include "engines/thread/overlap.h"
#include "objects/request.h"
#include "progress/deferred.h"
#include "progress/helped.h"
#include "progress/inside.h"
#include "progress/postponed.h"

static atomic_bool is_retired, is_paused, is_listened, is_waited_for;
static atomic_int exposure_count;
static atomic_int told_by; /* enum hw_told_by */

void hw_need_open(void)
{
    hw_atomic_store_seq_cst(&is_retired, false);
    hw_atomic_store_seq_cst(&is_paused, false);
    hw_atomic_store_seq_cst(&is_listened, false);
}

void hw_need_retire(void) { hw_atomic_store_seq_cst(&is_retired, true); }

bool hw_need_is_retired(void) { return hw_atomic_load_seq_cst(&is_retired); }

void hw_need_pause(bool wants_pause) { hw_atomic_store_seq_cst(&is_paused, wants_pause); }

bool hw_need_is_paused(void) { return hw_atomic_load_seq_cst(&is_paused); }

void hw_need_listen(bool wants_listening) { hw_atomic_store_seq_cst(&is_listened, wants_listening); }

bool hw_need_is_listened(void) { return hw_atomic_load_seq_cst(&is_listened); }

int hw_need_expose(int change) { return hw_atomic_add_seq_cst(&exposure_count, change) + change; }

bool hw_need_is_exposed(void) { return hw_atomic_load_seq_cst(&exposure_count) > 0; }

void hw_need_wait(bool waits) { hw_atomic_store_relaxed(&is_waited_for, waits); }

bool hw_need_is_waited_for(void) { return hw_atomic_load_relaxed(&is_waited_for); }

void hw_need_set_told_by(enum hw_told_by by) { hw_atomic_store_relaxed(&told_by, by); }

enum hw_told_by hw_need_told_by(void) { return (enum hw_told_by)hw_atomic_load_relaxed(&told_by); }

/* An exposed window needs the thread where others wait, and when their message arrives, or a helper says so:
 * never a timer. */
static bool has_exposure(void)
{
    enum hw_told_by by = hw_need_told_by();
    return hw_need_is_exposed() && ((by == HW_TOLD_BY_HELPER && hw_helped_is_listened()) ||
                                    (by == HW_TOLD_BY_SOCKETS && hw_awaited_is()));
}

bool hw_need_is_asked_for(void)
{
    return hw_need_is_listened() || hw_postponed_is_overdue() || hw_deferred_is_any();
}

bool hw_need_is_any_beside(void) { return hw_need_is_asked_for() || has_exposure(); }

/* By a thread that is still there: one may end that has left its door by a jump. */
static bool is_looked_at(void) { return hw_atomic_load_seq_cst(&hw_request_lookers) > 0 && hw_inside_any(); }

bool hw_need_has_overlap(void)
{
    return hw_atomic_load_seq_cst(&hw_request_pending) != 0 && !is_looked_at() && hw_overlap_is_on();
}

bool hw_need_has_work(void)
{
    if (hw_need_is_retired() || hw_need_is_paused() || hw_atomic_load_seq_cst(&hw_request_callbacks) != 0)
        return false;
    return hw_need_has_overlap() || hw_need_is_any_beside();
}

uint64_t hw_need_waiting_ns(bool may_end)
{
    if (hw_need_is_paused() || hw_need_is_retired())
        return 0;
    uint64_t held_ns = hw_overlap_held_ns(may_end), left_ns = hw_postponed_left_ns();
    return held_ns == 0 || (left_ns > 0 && left_ns < held_ns) ? left_ns : held_ns;
}
