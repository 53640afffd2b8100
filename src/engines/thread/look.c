/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/thread/look.h"

#include "base/clock.h"
#include "engines/thread/overlap.h"
#include "engines/thread/pace.h"
#include "progress/wire.h"

enum { MOST_VAIN_NAPS = 40, VAIN_NAPS_PER_GAP = 4 };
#define LEAST_VAIN_NAP_NS (50 * HW_NS_PER_US)

static struct hw_wire wire;       /* this and what follows: the thread's own */
static uint64_t seen_moved_bytes; /* by the last look: what a connection has moved is lost when it closes */

static struct hw_probe_wire read_wire(bool is_first)
{
    struct hw_profile_wire sums = {0};
    bool has_wire = hw_wire_look(&wire, &sums, is_first);
    uint64_t moved_bytes = sums.sent_bytes + sums.received_bytes;
    if (is_first || moved_bytes > seen_moved_bytes)
        seen_moved_bytes = moved_bytes;
    return (struct hw_probe_wire){.has_wire = has_wire, .moved_bytes = seen_moved_bytes};
}

void hw_look_first(void)
{
    if (!hw_overlap_is_first_look())
        return;
    struct hw_probe_wire seen = read_wire(true);
    seen.queued_bytes = hw_wire_queued(&wire);
    seen.unread_bytes = hw_wire_unread(&wire);
    hw_overlap_looked_first(&seen, hw_clock_now_ns());
}

void hw_look_again(void)
{
    if (!hw_overlap_wants_wire())
        return;
    struct hw_probe_wire seen = read_wire(false);
    hw_overlap_looked(&seen, hw_clock_now_ns());
}

bool hw_look_goes_by_itself(bool is_needed)
{
    struct hw_probe_wire seen = read_wire(false);
    seen.has_wire &= !is_needed;
    seen.queued_bytes = hw_wire_queued(&wire);
    uint64_t unsent_bytes = hw_wire_unsent(&wire); /* some may have been carried since */
    seen.unsent_bytes = unsent_bytes < seen.queued_bytes ? unsent_bytes : seen.queued_bytes;
    return hw_overlap_goes_by_itself(&seen, hw_clock_now_ns());
}

/* Where nothing has moved since the last time the other end may be waiting for this one to read. */
static bool is_in_vain(uint64_t *moved_bytes)
{
    uint64_t now_bytes = read_wire(false).moved_bytes;
    bool has_moved = *moved_bytes == 0 || now_bytes >= *moved_bytes + HW_PACE_MOVED_BYTES;
    *moved_bytes = now_bytes;
    return has_moved && hw_wire_is_busy(&wire);
}

void hw_look_wait_for_sense(struct hw_triggers *triggers, bool (*may_wait)(void))
{
    if (!hw_overlap_is_continued())
        return;
    uint64_t nap_ns = hw_overlap_gap_ns() / VAIN_NAPS_PER_GAP, moved_bytes = 0;
    nap_ns = nap_ns < LEAST_VAIN_NAP_NS ? LEAST_VAIN_NAP_NS : nap_ns;
    for (int naps = 0; naps < MOST_VAIN_NAPS && may_wait() && is_in_vain(&moved_bytes); naps++)
        hw_triggers_nap(triggers, nap_ns);
}
