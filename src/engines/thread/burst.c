/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/thread/burst.h"

#include "base/clock.h"
#include "real/quirks.h"

enum { MAX_BURST_POLLS = 2048, MAX_VAIN_BURSTS = 4 };

/* Finding nothing takes 0.05 to 0.7 us on the MPIs and machines measured, a piece of a message 2 us where
 * nothing takes 0.3, and less than 1 on a machine that copies faster. So how long is long is learned from the
 * shortest poll, within what such a poll can be. */
enum { LONGER_THAN_SHORTEST = 2 };
#define MAX_SHORTEST_NS (HW_NS_PER_US / LONGER_THAN_SHORTEST)
#define MIN_SHORTEST_NS (HW_NS_PER_US / 8)

static int vain_bursts;
static uint64_t shortest_ns = MAX_SHORTEST_NS;

bool hw_burst_is_wanted(void) { return vain_bursts < MAX_VAIN_BURSTS && hw_real_polls_node_first(); }

static bool has_moved(uint64_t took_ns)
{
    if (took_ns < shortest_ns)
        shortest_ns = took_ns < MIN_SHORTEST_NS ? MIN_SHORTEST_NS : took_ns;
    return took_ns >= LONGER_THAN_SHORTEST * shortest_ns;
}

bool hw_burst_goes_on(int polls, uint64_t took_ns)
{
    if (polls >= MAX_BURST_POLLS) {
        vain_bursts++;
        shortest_ns = MAX_SHORTEST_NS; /* one that was short by chance made all others long */
        return false;
    }
    if (has_moved(took_ns))
        return true;
    vain_bursts = 0;
    return false;
}
