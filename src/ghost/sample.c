/* SPDX-License-Identifier: BSD-3-Clause */
#include "ghost/sample.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/options.h"
#include "ghost/bell.h"
#include "ghost/exchange.h"
#include "ghost/mark.h"
#include "ghost/rates.h"
#include "world/world.h"

#include <stdlib.h>

/* A look at a process takes about a microsecond: so many of them take a fiftieth of the ghost's time at most.
 */
#define LOOK_NS HW_NS_PER_MS
#define LOOK_EACH_NS (50 * HW_NS_PER_US)

/* One that sleeps takes the core from somebody, and its caches, for every look: fewer of them do. */
enum { ASLEEP_LOOKS = 32 }; /* in an interval */
#define ASLEEP_MAX_NS (16 * HW_NS_PER_MS)

enum { ROUNDS_PER_CLOCK = 16 };

/* Of a user process. */
struct watched {
    struct hw_rate rate;
    bool is_lost;
};

static struct watched *watched; /* by local index; NULL: it does not look */
static int *user_ranks;         /* likewise */
static int user_count;
static struct hw_rate_rule rule;
static uint64_t looked_ns;
static bool is_told;

static bool is_wanted(void)
{
    return hw_options.adapt == HW_OPTION_ADAPT_LOCAL || hw_options.adapt == HW_OPTION_ADAPT_GLOBAL ||
           hw_options.adapt == HW_OPTION_ADAPT_AUTO;
}

static void find_users(void)
{
    for (int rank = 0; rank < hw_world.size; rank++) {
        const struct hw_world_process *process = &hw_world.processes[rank];
        if (process->user_rank >= 0 && process->node == hw_world_own_node())
            user_ranks[process->local_index] = process->user_rank;
    }
}

void hw_ghost_sample_begin(void)
{
    if (!is_wanted() || hw_world.processes[hw_world.rank].local_index != 0 || hw_ghost_rates() == NULL)
        return;
    rule = (struct hw_rate_rule){.low_permille = (uint32_t)hw_options.low_cr,
                                 .high_permille = (uint32_t)hw_options.high_cr,
                                 .interval_ns = (uint64_t)hw_options.predict_int_us * HW_NS_PER_US};
    user_count = hw_world_own_user_count();
    watched = calloc((size_t)user_count + 1, sizeof *watched);
    user_ranks = calloc((size_t)user_count + 1, sizeof *user_ranks);
    if (watched == NULL || user_ranks == NULL) {
        hw_ghost_sample_end();
        return;
    }
    find_users();
}

void hw_ghost_sample_end(void)
{
    free(watched);
    free(user_ranks);
    watched = NULL;
    user_ranks = NULL;
}

/* One line a node, about the first. */
static void lose(struct watched *one, int index, const char *why)
{
    one->is_lost = true;
    if (!is_told)
        hw_log_warn(
            "the ghost cannot see whether process %d is inside MPI (%s), so that HEADWAY_ADAPT=local and "
            "global keep the routes with which windows begin; allow ptrace between processes of one user",
            user_ranks[index], why);
    is_told = true;
}

static void look_at(int index, uint64_t now_ns)
{
    struct watched *one = &watched[index];
    const char *why;
    enum hw_ghost_mark_says says = hw_ghost_mark_look(index, &why);
    if (why && !one->is_lost)
        lose(one, index, why);
    if (says == HW_GHOST_MARK_UNKNOWN)
        return;
    if (hw_rate_look(&one->rate, &rule, says == HW_GHOST_MARK_INSIDE, now_ns))
        hw_ghost_rates_write(user_ranks[index], hw_rate_to_byte(&one->rate));
}

static uint64_t interval_ns(void)
{
    uint64_t all_ns = (uint64_t)user_count * LOOK_EACH_NS;
    return all_ns > LOOK_NS ? all_ns : LOOK_NS;
}

static bool look(uint64_t now_ns)
{
    if (now_ns - looked_ns < interval_ns())
        return false;
    looked_ns = now_ns;
    for (int i = 0; i < user_count; i++)
        look_at(i, now_ns);
    hw_atomic_add_relaxed(&hw_ghost_rates()->looks, 1);
    return true;
}

void hw_ghost_sample_turn(void)
{
    static unsigned rounds;
    static uint64_t exchanged_ns;
    if (watched == NULL || ++rounds % ROUNDS_PER_CLOCK != 0)
        return;
    uint64_t now_ns = hw_clock_now_ns();
    look(now_ns);
    if (now_ns - exchanged_ns < interval_ns())
        return;
    exchanged_ns = now_ns;
    hw_ghost_exchange_turn(now_ns);
}

void hw_ghost_sample_asleep(void)
{
    if (watched)
        look(hw_clock_now_ns());
}

uint64_t hw_ghost_sample_nap_ns(void)
{
    if (watched == NULL)
        return UINT64_MAX;
    uint64_t ns = rule.interval_ns / ASLEEP_LOOKS;
    ns = ns < ASLEEP_MAX_NS ? ns : ASLEEP_MAX_NS;
    return ns > interval_ns() ? ns : interval_ns();
}
