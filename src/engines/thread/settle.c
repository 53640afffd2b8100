/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/thread/settle.h"

#include "base/atomic.h"
#include "base/clock.h"
#include "engines/thread/overlap.h"

enum { MAX_NAPS = 8 };

/* Longer than the time between two posts of one series. */
#define SETTLE_NS (50 * HW_NS_PER_US)

static atomic_uint post_count; /* tells the thread whether the program is still posting */
static atomic_bool is_series_complete;

void hw_settle_posted(bool is_last)
{
    hw_atomic_add_release(&post_count, 1); /* after its time */
    if (is_last)
        hw_atomic_store_seq_cst(&is_series_complete, true);
}

void hw_settle(struct hw_triggers *triggers)
{
    static unsigned seen; /* progress thread only */
    unsigned posted = hw_atomic_load_seq_cst(&post_count);
    if (hw_atomic_exchange_seq_cst(&is_series_complete, false))
        seen = posted;
    for (int naps = 0; posted != seen && naps < MAX_NAPS; naps++) {
        uint64_t since_ns = hw_clock_now_ns() - hw_overlap_last_post_ns();
        if (since_ns >= SETTLE_NS)
            break;
        seen = posted;
        hw_triggers_nap(triggers, SETTLE_NS - since_ns);
        posted = hw_atomic_load_seq_cst(&post_count);
    }
    seen = hw_atomic_load_seq_cst(&post_count);
}
