#include "engines/thread/burst.h"

#include "base/clock.h"
#include "real/quirks.h"

enum { MAX_BURST_POLLS = 2048, MAX_VAIN_BURSTS = 4 };

/* Finding nothing takes 0.2 to 0.7 us on every MPI measured, a piece of a message 1.9 and more. */
#define MOVED_NS HW_NS_PER_US

static int vain_bursts;

bool hw_burst_is_wanted(void) { return vain_bursts < MAX_VAIN_BURSTS && hw_real_polls_node_first(); }

bool hw_burst_goes_on(int polls, uint64_t took_ns)
{
    bool has_moved = took_ns >= MOVED_NS;
    if (polls >= MAX_BURST_POLLS) {
        vain_bursts++;
        return false;
    }
    if (!has_moved)
        vain_bursts = 0;
    return has_moved;
}
