/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/rma/window/agree.h"

#include "base/log.h"
#include "base/options.h"
#include "engines/rma/window/adapting.h"
#include "engines/rma/window/wish.h"
#include "profile/record/counters.h"
#include "real/constants.h"

#include <stdlib.h>

/* Sums over the members. Unsigned numbers wrap around, also those that stand for signed ones. */
enum word {
    WORD_WINDOWS, /* of numbers that stand for the window: others than its own show that members are in calls
                   * on different windows, which a program must not rely on; nothing is changed then */
    WORD_FIRST,   /* enum hw_rma_wish of the first member */
    WORD_WISHES,  /* how many members have each wish, WISH_BITS each */
    WORD_STATES,  /* how many have something outstanding, and above STATE_BITS how many are symmetric */
    WORD_GAIN,    /* hw_rma_adapt_propose */
    WORDS
};

enum { WISH_BITS = 21, STATE_BITS = 32 };

static int64_t propose(struct hw_rma_window *window)
{
    enum { DRAWN_MAX = 1000 };
    if (hw_options.adapt_draw == 0)
        return hw_rma_adapting ? hw_rma_adapting->propose(window) : 0;
    return (int64_t)(hw_rma_route_draw(window) % (2 * DRAWN_MAX + 1)) - DRAWN_MAX;
}

static uint64_t number_of(const struct hw_rma_window *window)
{
    return (window->id + 1) * UINT64_C(0x9E3779B97F4A7C15);
}

static uint64_t count_of(uint64_t wishes, uint32_t wish)
{
    return wish == HW_RMA_WISH_NONE ? 0 : wishes >> (wish - 1) * WISH_BITS & ((UINT64_C(1) << WISH_BITS) - 1);
}

static void judge_wishes(const struct hw_rma_window *window, const uint64_t *sums)
{
    uint32_t first = (uint32_t)sums[WORD_FIRST];
    uint64_t alike = first == HW_RMA_WISH_NONE ? 0 : count_of(sums[WORD_WISHES], first);
    if (window->rank == 0 &&
        (first == HW_RMA_WISH_NONE ? sums[WORD_WISHES] != 0 : alike != (uint64_t)window->size))
        hw_rma_wish_tell_differing((enum hw_rma_wish)first);
}

static enum hw_rma_route decide(struct hw_rma_window *window, const uint64_t *sums)
{
    int64_t gain = (int64_t)sums[WORD_GAIN];
    if (window->routes.wish == HW_RMA_WISH_ON)
        return HW_RMA_ROUTE_GHOST;
    if (window->routes.wish == HW_RMA_WISH_OFF)
        return HW_RMA_ROUTE_OWNER;
    if (gain != 0)
        return gain > 0 ? HW_RMA_ROUTE_GHOST : HW_RMA_ROUTE_OWNER;
    bool is_free = window->routes.wish == HW_RMA_WISH_AUTO && window->routes.adapt == HW_OPTION_ADAPT_GUIDED;
    return is_free ? HW_RMA_ROUTE_GHOST
                   : (enum hw_rma_route)hw_atomic_load_relaxed(&window->routes.accumulate);
}

/* Returns whether the route of accumulates has changed. */
static bool apply(struct hw_rma_window *window, const uint64_t *sums, int parts)
{
    judge_wishes(window, sums);
    bool is_new = sums[WORD_FIRST] != HW_RMA_WISH_NONE;
    if (is_new)
        window->routes.wish = (uint32_t)sums[WORD_FIRST];
    enum hw_rma_route route = decide(window, sums);
    enum hw_rma_route before = (enum hw_rma_route)hw_atomic_load_relaxed(&window->routes.accumulate);
    bool is_change = route != before;
    if (is_change)
        HW_COUNT(routes_changed);
    if ((is_new || is_change) && hw_rma_route_is_said(window))
        hw_rma_route_set(window, route);
    else if (is_change)
        hw_rma_route_set_accumulates(window, route);
    if (hw_rma_adapting)
        hw_rma_adapting->agreed(window, before, parts);
    return is_change;
}

/* Operations that no flush has completed, by either route. */
static bool is_outstanding(const struct hw_rma_window *window)
{
    uint32_t generation = hw_atomic_load_relaxed(&window->generation);
    for (int i = 0; hw_atomic_load_relaxed(&window->has_ops) && i < window->size; i++)
        if (hw_atomic_load_relaxed(&window->targets[i].dirty) == generation ||
            hw_atomic_load_relaxed(&window->targets[i].owner.dirty) == generation)
            return true;
    return false;
}

/* What this member says. */
static void fill(struct hw_rma_window *window, bool is_symmetric, uint64_t *words)
{
    uint32_t wish = window->routes.next_wish;
    words[WORD_WINDOWS] = number_of(window);
    words[WORD_FIRST] = window->rank == 0 ? wish : 0;
    words[WORD_WISHES] = wish == HW_RMA_WISH_NONE ? 0 : UINT64_C(1) << (wish - 1) * WISH_BITS;
    words[WORD_STATES] = (uint64_t)is_symmetric << STATE_BITS | is_outstanding(window);
    words[WORD_GAIN] = (uint64_t)propose(window);
}

/* What all have said. Returns whether the route of accumulates has changed. */
static bool take(struct hw_rma_window *window, const uint64_t *sums, int parts)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    uint64_t symmetric = sums[WORD_STATES] >> STATE_BITS, size = (uint64_t)window->size;
    if (sums[WORD_WINDOWS] != number_of(window) * size)
        return false;
    if (symmetric == size && (uint32_t)sums[WORD_STATES] == 0) {
        window->routes.next_wish = HW_RMA_WISH_NONE;
        return apply(window, sums, parts);
    }
    if (symmetric > 0 && symmetric < size && window->rank == 0) {
        hw_log_once(&said, HW_LOG_WARN,
                    "the info key symmetric=true is not taken; all processes of the window must give it, and "
                    "some did not");
    }
    return false;
}

int hw_rma_agree(struct hw_rma_window *window, bool is_symmetric)
{
    uint64_t words[WORDS], sums[WORDS];
    fill(window, is_symmetric, words);
    int rc = hw_bottom.Allreduce(words, sums, WORDS, HW_UINT64_T, HW_SUM, window->users);
    if (rc == MPI_SUCCESS)
        (void)take(window, sums, 1);
    return rc;
}

int hw_rma_agree_several(struct hw_rma_window *const *windows, int count, int parts, bool *is_changed)
{
    uint64_t words[HW_RMA_AGREE_MAX * WORDS] = {0}, sums[HW_RMA_AGREE_MAX * WORDS];
    for (int i = 0; i < count; i++)
        fill(windows[i], true, words + i * WORDS);
    int rc = hw_bottom.Allreduce(words, sums, count * WORDS, HW_UINT64_T, HW_SUM, windows[0]->users);
    *is_changed = false;
    for (int i = 0; i < count && rc == MPI_SUCCESS; i++)
        *is_changed |= take(windows[i], sums + i * WORDS, parts);
    return rc;
}
