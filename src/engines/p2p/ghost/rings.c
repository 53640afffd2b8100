/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/p2p/ghost/rings.h"

#include "ghost/give_up.h"

#include <stdlib.h>

struct late {
    struct late *next;
    struct hw_p2p_end end;
};

/* In the order of users.h. */
static struct rings {
    struct hw_p2p_sealed *shared;
    uint64_t obeyed, ended;
    struct late *first, **last;
} * all;
static int late_count;
static int64_t unclaimed_count; /* of all */

bool hw_p2p_rings_open(void)
{
    all = calloc((size_t)hw_p2p_user_count() + 1, sizeof *all);
    for (int i = 0; all && i < hw_p2p_user_count(); i++) {
        all[i].shared = hw_p2p_sealed_of(hw_p2p_user_at(i)->block);
        all[i].last = &all[i].first;
    }
    return all != NULL;
}

void hw_p2p_rings_close(void)
{
    for (int i = 0; all && i < hw_p2p_user_count(); i++)
        for (struct late *late; (late = all[i].first) != NULL;) {
            all[i].first = late->next;
            free(late);
        }
    free(all);
    all = NULL;
    late_count = 0;
    unclaimed_count = 0;
}

static struct rings *rings_of(const struct hw_p2p_user *user) { return &all[user - hw_p2p_user_at(0)]; }

bool hw_p2p_rings_next(struct hw_p2p_user *user, struct hw_p2p_command *command)
{
    struct rings *rings = rings_of(user);
    if (hw_atomic_load_seq_cst(&rings->shared->commanded) == rings->obeyed)
        return false;
    *command = rings->shared->commands[rings->obeyed % HW_P2P_COMMANDS];
    hw_atomic_store_release(&rings->shared->obeyed, ++rings->obeyed);
    return true;
}

static bool put(struct rings *rings, const struct hw_p2p_end *end)
{
    if (rings->ended - hw_atomic_load_acquire(&rings->shared->heard) == HW_P2P_ENDS)
        return false;
    rings->shared->ends[rings->ended % HW_P2P_ENDS] = *end;
    hw_atomic_store_release(&rings->shared->ended, ++rings->ended);
    return true;
}

void hw_p2p_rings_end(struct hw_p2p_user *user, const struct hw_p2p_end *end)
{
    struct rings *rings = rings_of(user);
    if (rings->first || !put(rings, end)) {
        struct late *late = malloc(sizeof *late);
        if (late == NULL)
            hw_ghost_give_up("has no memory for messages");
        *late = (struct late){.end = *end};
        *rings->last = late;
        rings->last = &late->next;
        late_count++;
    }
    hw_queue_tell(user->jobs.queue);
}

void hw_p2p_rings_unclaimed(struct hw_p2p_user *user, int change)
{
    unclaimed_count += change;
    hw_atomic_add_relaxed(&rings_of(user)->shared->unclaimed, (uint64_t)(int64_t)change);
}

bool hw_p2p_rings_have_unclaimed(void) { return unclaimed_count > 0; }

static bool advance(struct rings *rings)
{
    bool has_done = false;
    for (struct late *late; (late = rings->first) != NULL && put(rings, &late->end);) {
        rings->first = late->next;
        if (rings->first == NULL)
            rings->last = &rings->first;
        free(late);
        late_count--;
        has_done = true;
    }
    return has_done;
}

bool hw_p2p_rings_advance(void)
{
    bool has_done = false;
    for (int i = 0; late_count > 0 && i < hw_p2p_user_count(); i++)
        if (all[i].first && advance(&all[i])) {
            hw_queue_tell(hw_p2p_user_at(i)->jobs.queue);
            has_done = true;
        }
    return has_done;
}
