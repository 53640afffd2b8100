/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/thread/priority.h"

#include "base/agent.h"
#include "base/atomic.h"
#include "base/clock.h"
#include "base/options.h"
#include "world/world.h"

/* A look that copies 400 KiB takes a tenth of this. */
#define LIMIT_NS (2 * HW_NS_PER_MS)
enum { WAKES_WITHOUT = 16 };

static atomic_bool is_real_time; /* at all */
static bool is_hurrying;         /* now */
static int wakes_without;        /* still to come */
static uint64_t woken_ns;

/* Not of its own accord where ghosts make processes of the node share cores: who waits for another process
 * of its core would lose to the thread. */
static bool is_wanted(void)
{
    const struct hw_world_node *node = hw_world.own_node;
    if (hw_options.priority == HW_OPTION_PRIORITY_AUTO)
        return node == NULL || !hw_world_is_crowded(node->process_count, true);
    return hw_options.priority == HW_OPTION_PRIORITY_RT;
}

static void hurry(bool wants)
{
    if (is_hurrying != wants && hw_agent_hurry(wants))
        is_hurrying = wants;
}

void hw_priority_begin(void)
{
    hw_agent_prompt();
    woken_ns = 0;
    wakes_without = 0;
    is_hurrying = false;
    if (is_wanted())
        hurry(true);
    hw_atomic_store_relaxed(&is_real_time, is_hurrying);
}

void hw_priority_woken(uint64_t now_ns)
{
    woken_ns = now_ns;
    if (wakes_without > 0 && --wakes_without == 0)
        hurry(true);
}

void hw_priority_sleeps(uint64_t now_ns)
{
    if (!is_hurrying || woken_ns == 0 || now_ns - woken_ns < LIMIT_NS)
        return;
    hurry(false);
    wakes_without = WAKES_WITHOUT;
}

bool hw_priority_is_real_time(void) { return hw_atomic_load_relaxed(&is_real_time); }
