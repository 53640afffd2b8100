#include "engines/rma/flush_wait.h"

#include "base/clock.h"
#include "engines/rma/rma.h"
#include "profile/counters.h"
#include "progress/events.h"
#include "progress/inside.h"
#include "real/quirks.h"

/* As long as a sleep and a wake-up take: an answer that comes within it is better awaited awake. Tasks of
 * bench/get_compute_update took the same with 10 to 60 us, 3 % more with 120. */
#define AWAKE_NS (30 * HW_NS_PER_US)

/* What comes through the node's memory wakes nobody: a message of a neighbour waits that long at most. */
#define NAP_NS (500 * HW_NS_PER_US)

/* More operations than this between two flushes are made without a request: then there is so much to wait
 * for that the rest hides behind it. */
enum { REQUESTS_MAX = 32 };

struct awaited {
    const struct hw_rma_window *window;
    int ghost;
    MPI_Request request;
};

bool hw_rma_flush_wait_is_on;

static struct awaited awaited[REQUESTS_MAX];
static int awaited_count;
static struct hw_events events;
static const struct hw_inside *owner; /* the thread */

void hw_rma_flush_wait_open(void)
{
    int user_count = hw_world.own_node->process_count - hw_world.own_node->ghost_count;
    if (!hw_real_gains_by_sleep() || hw_rma_may_have_threads() || !hw_world_is_crowded(user_count))
        return;
    owner = &hw_inside;
    hw_rma_flush_wait_is_on = hw_events_open(&events) == HW_OK;
}

void hw_rma_flush_wait_close(void)
{
    /* Of windows that other threads flushed last. */
    for (int is_complete; awaited_count > 0; awaited_count--)
        hw_bottom.Test(&awaited[awaited_count - 1].request, &is_complete, HW_STATUS_IGNORE);
    if (hw_rma_flush_wait_is_on && hw_events_are_there(&events))
        hw_events_close(&events);
    hw_rma_flush_wait_is_on = false;
}

static bool is_far(const struct hw_rma_window *window, int ghost)
{
    return (unsigned)ghost < (unsigned)window->ghost_count &&
           hw_world.processes[window->ghosts[ghost]].node != hw_world_own_node();
}

MPI_Request *hw_rma_flush_wait_find(const struct hw_rma_window *window, int ghost)
{
    if (&hw_inside != owner || awaited_count == REQUESTS_MAX || window->spread || window->dynamic ||
        !is_far(window, ghost))
        return NULL;
    struct awaited *next = &awaited[awaited_count++];
    *next = (struct awaited){.window = window, .ghost = ghost, .request = HW_REQUEST_NULL};
    return &next->request;
}

/* False: it did not sleep. */
static bool doze(uint64_t began_ns)
{
    if (hw_clock_now_ns() - began_ns < AWAKE_NS || !hw_events_are_there(&events) ||
        hw_events_is_data_waiting(&events) || hw_events_refresh(&events) == 0)
        return false;
    hw_events_wait(&events, NAP_NS);
    return true;
}

static int finish(MPI_Request *request, uint64_t began_ns)
{
    bool has_slept = false;
    for (;;) {
        int is_complete = 0;
        int rc = hw_bottom.Test(request, &is_complete, HW_STATUS_IGNORE);
        if (rc != MPI_SUCCESS || is_complete) {
            if (has_slept)
                HW_COUNT(flushes_asleep);
            return rc;
        }
        has_slept = doze(began_ns) || has_slept;
    }
}

int hw_rma_flush_wait(const struct hw_rma_window *window, int ghost)
{
    if (__builtin_expect(!hw_rma_flush_wait_is_on, 1) || &hw_inside != owner || awaited_count == 0)
        return MPI_SUCCESS;
    uint64_t began_ns = hw_clock_now_ns();
    int kept_count = 0, found_rc = MPI_SUCCESS;
    for (int i = 0; i < awaited_count; i++) {
        struct awaited *one = &awaited[i];
        if (one->window != window || (ghost != HW_RMA_EVERY_GHOST && one->ghost != ghost)) {
            awaited[kept_count++] = *one;
            continue;
        }
        int rc = finish(&one->request, began_ns);
        if (rc != MPI_SUCCESS)
            found_rc = rc;
    }
    awaited_count = kept_count;
    return found_rc;
}
