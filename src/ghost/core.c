/* SPDX-License-Identifier: BSD-3-Clause */
#include "ghost/core.h"

#include "base/clock.h"
#include "base/log.h"
#include "world/world.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

/* A ghost that spins, but must wait for its core for more than this part of the time, does not have it to
 * itself. Not by how often it is preempted: every daemon does that, and a ghost that sleeps answers in 70 us
 * instead of 12. Nor by the processor time that it gets: it sleeps itself where it makes way for accumulates
 * within the node. */
#define JUDGED_NS (20 * HW_NS_PER_MS)
enum { LOST_PERCENT = 20 };

/* More often than it has: while a job starts, its launcher's processes are about, too. */
enum { JUDGEMENTS_TO_SHARE = 5 };

/* After this long it tries again whether it has, later twice as long each time: whoever took the core may be
 * gone, and if not, a try costs them half of JUDGED_NS. */
#define FIRST_TRY_NS HW_NS_PER_S
#define MAX_TRY_NS (64 * HW_NS_PER_S)

bool hw_ghost_core_is_shared;

static bool is_placed_to_share; /* there are more processes than cores: no use trying */
static uint64_t judged_ns, judged_lost_ns;
static uint64_t try_ns = FIRST_TRY_NS, next_try_ns;
static int losses_left = JUDGEMENTS_TO_SHARE; /* until it is taken for shared */

/* For which the ghost was ready to run and did not. 0 where the kernel does not tell. */
static uint64_t lost_ns(void)
{
    static int fd = -1;
    char line[96] = "";
    uint64_t used = 0, lost = 0;
    if (fd < 0)
        fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
    if (fd < 0 || pread(fd, line, sizeof line - 1, 0) <= 0 ||
        sscanf(line, "%" SCNu64 " %" SCNu64, &used, &lost) != 2)
        return 0;
    return lost;
}

static void share(uint64_t now_ns)
{
    hw_ghost_core_is_shared = true;
    hw_log_debug("this ghost shares its core: it sleeps while there is nothing to do");
    next_try_ns = now_ns + try_ns;
    try_ns = try_ns * 2 < MAX_TRY_NS ? try_ns * 2 : MAX_TRY_NS;
}

void hw_ghost_core_begin(uint64_t now_ns)
{
    hw_ghost_core_judge_from(now_ns);
    is_placed_to_share = hw_world_is_crowded(hw_world.own_node->process_count, true);
    if (is_placed_to_share)
        share(now_ns);
    else
        hw_log_debug("this ghost has a core of its own: it spins");
}

void hw_ghost_core_judge_from(uint64_t now_ns)
{
    judged_ns = now_ns;
    judged_lost_ns = lost_ns();
}

bool hw_ghost_core_judge(uint64_t now_ns)
{
    if (now_ns - judged_ns < JUDGED_NS)
        return false;
    bool is_own = (lost_ns() - judged_lost_ns) * 100 < (now_ns - judged_ns) * LOST_PERCENT;
    if (!is_own && --losses_left == 0)
        share(now_ns);
    if (is_own && losses_left < JUDGEMENTS_TO_SHARE && ++losses_left == JUDGEMENTS_TO_SHARE)
        try_ns = FIRST_TRY_NS;
    hw_ghost_core_judge_from(now_ns);
    return true;
}

bool hw_ghost_core_try(uint64_t now_ns)
{
    if (!hw_ghost_core_is_shared || is_placed_to_share || now_ns < next_try_ns)
        return false;
    hw_ghost_core_is_shared = false;
    hw_log_debug("this ghost tries whether it has its core to itself again: it spins");
    losses_left = 1;
    hw_ghost_core_judge_from(now_ns);
    return true;
}
