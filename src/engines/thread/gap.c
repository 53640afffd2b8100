/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/thread/gap.h"

#include "base/clock.h"
#include "base/options.h"

/* In the bulk of a transfer a look should find about this much (sends and receives together): less and the
 * wake-ups cost more than they bring, more and small socket buffers run full or empty in between. But a
 * third of the transfer at most, or its end is not seen in time. */
#define GAP_BYTES (400 * 1024)
#define GAP_PARTS 3
#define UNKNOWN_GAP_NS (600 * HW_NS_PER_US)
#define MIN_GAP_NS (100 * HW_NS_PER_US)
#define MAX_GAP_NS (1000 * HW_NS_PER_US)

enum { MIN_GAP_PERCENT = 40, MAX_GAP_PERCENT = 170, GOOD_WINDOWS_PER_PERCENT = 32 };

uint64_t hw_gap_for(const struct hw_policy_class *class)
{
    if (hw_options.gap_us >= 0)
        return (uint64_t)hw_options.gap_us * HW_NS_PER_US;
    uint64_t transfer_ns = hw_policy_transfer_ns(class);
    if (transfer_ns == 0 || class->bytes == 0)
        return UNKNOWN_GAP_NS;
    uint64_t gap = transfer_ns / GAP_PARTS;
    uint64_t fill_ns = transfer_ns * GAP_BYTES / class->bytes;
    gap = fill_ns < gap ? fill_ns : gap;
    gap = gap > MAX_GAP_NS ? MAX_GAP_NS : gap;
    gap = gap * (class->gap_percent ? class->gap_percent : 100) / 100;
    return gap < MIN_GAP_NS ? MIN_GAP_NS : gap;
}

void hw_gap_adapt(struct hw_policy_class *class, const struct hw_policy_window *closed)
{
    uint64_t transfer_ns = hw_policy_transfer_ns(class);
    if (!closed->was_on || transfer_ns == 0 || class->idle_run > 0)
        return;
    if (class->gap_percent == 0) {
        class->gap_percent = 100;
        class->gap_cap_percent = MAX_GAP_PERCENT;
    }
    if (closed->blocked_ns > transfer_ns / 6) {
        class->gap_cap_percent =
            class->gap_percent > MIN_GAP_PERCENT + 5 ? class->gap_percent - 5 : MIN_GAP_PERCENT;
        class->gap_percent =
            class->gap_cap_percent > MIN_GAP_PERCENT + 10 ? class->gap_cap_percent - 10 : MIN_GAP_PERCENT;
    } else if (closed->blocked_ns + closed->elsewhere_ns < transfer_ns / 32) {
        if (++class->good_count % GOOD_WINDOWS_PER_PERCENT == 0 && class->gap_cap_percent < MAX_GAP_PERCENT)
            class->gap_cap_percent++;
        if (class->gap_percent + 3 <= class->gap_cap_percent)
            class->gap_percent += 3;
    }
}
