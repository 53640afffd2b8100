/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/rma/epoch/flush_wait.h"

#include "base/clock.h"
#include "engines/rma/window/facts.h"
#include "profile/record/counters.h"
#include "progress/inside.h"
#include "progress/trigger.h"
#include "real/quirks.h"
#include "world/world.h"

/* As long as a sleep and a wake-up take: an answer that comes within it is better awaited awake. Tasks of
 * bench/get_compute_update took the same with 10 to 60 us, 3 % more with 120. */
#define AWAKE_NS (30 * HW_NS_PER_US)

/* What comes through the node's memory wakes nobody: a message of a neighbour waits that long at most. */
#define NAP_NS (500 * HW_NS_PER_US)

/* Polls on end with data waiting that none of them reads: somebody else's (progress/trigger.h). */
enum { POLLS_TO_IGNORE = 64 };

/* Naps on end that no socket ended: what is awaited comes another way. */
enum { NAPS_TO_STOP = 64 };

/* Operations beyond, between two flushes, are made without a request. */
enum { REQUESTS_MAX = 256 };

struct awaited {
    MPI_Win win; /* the shadow window: its flush waits for operations of all windows on it (common.h) */
    int ghost;
    MPI_Request request; /* null: the operation failed */
};

bool hw_rma_flush_wait_is_on;

static struct awaited awaited[REQUESTS_MAX];
static int awaited_count;
static bool is_waiting; /* a callback that MPI runs meanwhile operates and flushes without these */
static struct hw_triggers triggers;
static int unread_polls, silent_naps;
static const struct hw_inside *owner; /* the thread */

void hw_rma_flush_wait_open(void)
{
    int user_count = hw_world_own_user_count();
    if (!hw_real_gains_by_sleep() || hw_rma_may_have_threads() || !hw_world_is_crowded(user_count, false))
        return;
    owner = &hw_inside;
    hw_triggers_open(&triggers, false);
    hw_rma_flush_wait_is_on = hw_triggers_are_told(&triggers);
}

void hw_rma_flush_wait_close(void)
{
    if (!hw_rma_flush_wait_is_on)
        return;
    hw_rma_flush_wait_is_on = false;
    /* Of operations that another thread flushed: they are complete. */
    for (int is_complete; awaited_count > 0; awaited_count--)
        hw_bottom.Test(&awaited[awaited_count - 1].request, &is_complete, HW_STATUS_IGNORE);
    hw_triggers_close(&triggers);
}

static bool is_far(const struct hw_rma_window *window, int ghost)
{
    return (unsigned)ghost < (unsigned)window->ghost_count &&
           hw_world.processes[window->ghosts[ghost]].node != hw_world_own_node();
}

MPI_Request *hw_rma_flush_wait_take(const struct hw_rma_window *window, int ghost)
{
    if (&hw_inside != owner || is_waiting || awaited_count == REQUESTS_MAX || silent_naps >= NAPS_TO_STOP ||
        window->spread || window->dynamic || !is_far(window, ghost))
        return NULL;
    struct awaited *next = &awaited[awaited_count++];
    *next = (struct awaited){.win = window->win, .ghost = ghost, .request = HW_REQUEST_NULL};
    return &next->request;
}

/* False: it did not sleep. */
static bool nap(uint64_t began_ns)
{
    if (hw_clock_now_ns() - began_ns < AWAKE_NS || !hw_triggers_check(&triggers))
        return false;
    if (hw_triggers_is_data_waiting(&triggers)) {
        if (++unread_polls % POLLS_TO_IGNORE == 0) {
            hw_triggers_ignore_unread(&triggers);
            hw_triggers_refresh(&triggers); /* what is none of this process any more is lost there */
        }
        return false;
    }
    if (hw_triggers_refresh(&triggers) == 0 || !hw_triggers_hear_all(&triggers))
        return false;
    unread_polls = 0;
    silent_naps = hw_triggers_wait(&triggers, NAP_NS) == HW_EVENT_NONE ? silent_naps + 1 : 0;
    return true;
}

static void finish(MPI_Request *request, uint64_t began_ns)
{
    bool has_slept = false;
    for (;;) {
        int is_complete = 0;
        if (hw_bottom.Test(request, &is_complete, HW_STATUS_IGNORE) != MPI_SUCCESS || is_complete)
            break;
        has_slept = nap(began_ns) || has_slept;
    }
    if (has_slept)
        HW_COUNT(operations_slept_for);
}

void hw_rma_flush_wait_asleep(const struct hw_rma_window *window, int ghost)
{
    if (&hw_inside != owner || is_waiting || awaited_count == 0)
        return;
    is_waiting = true;
    uint64_t began_ns = hw_clock_now_ns();
    int kept_count = 0;
    for (int i = 0; i < awaited_count; i++) {
        struct awaited *one = &awaited[i];
        if (one->win == window->win && (ghost == HW_RMA_EVERY_GHOST || one->ghost == ghost))
            finish(&one->request, began_ns);
        else
            awaited[kept_count++] = *one;
    }
    awaited_count = kept_count;
    is_waiting = false;
}
