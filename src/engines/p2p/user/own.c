/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/p2p/user/own.h"

#include "base/clock.h"
#include "ghost/bell.h"
#include "ghost/channel.h"
#include "profile/record/counters.h"
#include "real/constants.h"
#include "world/world.h"

#include <limits.h>

/* A wake-up takes some 50 us: who has a core to spare looks for so long first. */
#define SPIN_NS (50 * HW_NS_PER_US)
#define NAP_NS HW_NS_PER_MS
enum { LAST_TAG = 32767 };

static MPI_Comm comm;
static atomic_uint last_tag;
static bool is_crowded;

bool hw_p2p_own_open(void)
{
    is_crowded = hw_world_is_crowded(hw_world.own_node->process_count, true);
    if (hw_bottom.Comm_dup(HW_COMM_SELF, &comm) != MPI_SUCCESS)
        return false;
    return hw_bottom.Comm_set_errhandler(comm, HW_ERRORS_RETURN) == MPI_SUCCESS;
}

void hw_p2p_own_close(void) { hw_bottom.Comm_free(&comm); }

MPI_Comm hw_p2p_own_comm(void) { return comm; }

int hw_p2p_own_tag(void) { return (int)(hw_atomic_add_relaxed(&last_tag, 1) % LAST_TAG) + 1; }

/* Of a message to nobody it looks at the arguments, and does nothing. */
bool hw_p2p_own_accepts(const void *buf, MPI_Count count, MPI_Datatype datatype, int tag)
{
    int some = count < INT_MAX ? (int)count : INT_MAX;
    return hw_bottom.Send(buf, some, datatype, HW_PROC_NULL, tag, comm) == MPI_SUCCESS;
}

void hw_p2p_own_wait(bool (*is_over)(const void *of), const void *of)
{
    if (is_over(of))
        return;
    struct hw_queue *queue = hw_p2p_queue_of(hw_p2p_opened.block);
    uint64_t began_ns = hw_clock_now_ns(), now_ns = began_ns;
    while (!is_crowded && !is_over(of) && now_ns - began_ns < SPIN_NS)
        now_ns = hw_clock_now_ns();
    hw_ghost_bell_hurry(hw_ghost_bell_own());
    for (;;) {
        uint32_t seen = hw_queue_ended(queue);
        if (is_over(of))
            break;
        hw_queue_sleep(queue, seen, NAP_NS);
        hw_ghost_channel_progress();
    }
    HW_COUNT_ADD(p2p_waited_ns, hw_clock_now_ns() - began_ns);
}

/* What ends between two calls ends the sleep of the second at once. */
void hw_p2p_own_pause(void)
{
    static _Thread_local uint32_t seen;
    struct hw_queue *queue = hw_p2p_queue_of(hw_p2p_opened.block);
    uint32_t ended = hw_queue_ended(queue);
    if (is_crowded && ended == seen) {
        hw_ghost_bell_hurry(hw_ghost_bell_own());
        hw_queue_sleep(queue, seen, NAP_NS);
    }
    seen = ended;
}
