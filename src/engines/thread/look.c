/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/thread/look.h"

#include "base/clock.h"
#include "engines/thread/overlap.h"
#include "progress/wire.h"

static struct hw_wire wire; /* the thread's own */

static struct hw_overlap_wire read_wire(bool is_first)
{
    struct hw_profile_wire sums = {0};
    bool has_wire = hw_wire_look(&wire, &sums, is_first);
    return (struct hw_overlap_wire){.has_wire = has_wire,
                                    .moved_bytes = sums.sent_bytes + sums.received_bytes};
}

void hw_look_first(void)
{
    if (!hw_overlap_is_first_look())
        return;
    struct hw_overlap_wire seen = read_wire(true);
    seen.queued_bytes = hw_wire_queued(&wire);
    seen.unread_bytes = hw_wire_unread(&wire);
    hw_overlap_looked_first(&seen, hw_clock_now_ns());
}

void hw_look_again(void)
{
    if (!hw_overlap_wants_wire())
        return;
    struct hw_overlap_wire seen = read_wire(false);
    hw_overlap_looked(&seen, hw_clock_now_ns());
}

bool hw_look_goes_by_itself(void)
{
    struct hw_overlap_wire seen = read_wire(false);
    seen.queued_bytes = hw_wire_queued(&wire);
    uint64_t unsent_bytes = hw_wire_unsent(&wire); /* some may have been carried since */
    seen.unsent_bytes = unsent_bytes < seen.queued_bytes ? unsent_bytes : seen.queued_bytes;
    return hw_overlap_goes_by_itself(&seen, hw_clock_now_ns());
}

bool hw_look_is_in_vain(void) { return hw_overlap_is_continued() && hw_wire_is_busy(&wire); }
