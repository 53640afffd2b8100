/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/helper/near.h"

#include "base/atomic.h"
#include "base/options.h"
#include "ghost/bell.h"
#include "ghost/mark.h"
#include "progress/helped.h"
#include "world/world.h"

#include <stddef.h>
#include <stdlib.h>

static struct receiver {
    struct hw_registry *registry;
    uint64_t first; /* hw_registry_claim */
    bool is_held;   /* it was inside MPI when it was told */
    bool is_blind;  /* the kernel lets nobody but its helper read its mark */
} * receivers;      /* by index on the node */
static struct hw_registry *own;
static bool has_left;
static atomic_bool has_held; /* some receiver is; relaxed */

void hw_helper_near_open(struct hw_registry *registry)
{
    receivers = calloc((size_t)hw_world_own_user_count(), sizeof *receivers);
    own = registry;
    has_left = false;
    hw_atomic_store_relaxed(&has_held, false);
}

void hw_helper_near_close(void)
{
    free(receivers);
    receivers = NULL;
}

void hw_helper_near_left(void) { has_left = true; }

void hw_helper_near_settle(void) { has_left = false; }

/* NULL: of another node, or the helper is there. Tests that draw what becomes of a helper's words mean it. */
static struct receiver *find(int process)
{
    const struct hw_ghost_bell *bell = hw_ghost_bell_own();
    if (receivers == NULL || has_left || hw_options.helper_draw || process < 0 || process >= hw_world.size ||
        hw_world.processes[process].node != hw_world_own_node() ||
        (bell && !hw_atomic_load_relaxed(&((struct hw_ghost_bell *)bell)->is_asleep)))
        return NULL;
    struct receiver *receiver = &receivers[hw_world.processes[process].local_index];
    if (receiver->registry == NULL)
        receiver->registry = hw_registry_of(process);
    return receiver->registry && !receiver->is_blind ? receiver : NULL;
}

/* Wakes it unless it is inside MPI. */
static void look(struct receiver *receiver)
{
    const char *why;
    struct hw_helped_word *word = &receiver->registry->word;
    enum hw_ghost_mark_says says = hw_ghost_mark_look((int)(receiver - receivers), &why);
    receiver->is_held = says == HW_GHOST_MARK_INSIDE;
    receiver->is_blind = why != NULL;
    if (receiver->is_held)
        hw_atomic_store_relaxed(&has_held, true);
    if (!receiver->is_held && hw_helped_take_held(word))
        hw_helped_wake(word);
}

bool hw_helper_near_send(const struct hw_registry_notice *notice)
{
    uint64_t receive;
    struct receiver *receiver = find(notice->to);
    if (receiver == NULL || !hw_registry_claim(receiver->registry, &receiver->first, notice, &receive))
        return false;
    hw_helped_hold(&receiver->registry->word);
    hw_helped_match(&receiver->registry->word);
    hw_helped_match(&own->word); /* the answer; this process's thread is about to look */
    look(receiver);
    return true;
}

bool hw_helper_near_is_owed(void) { return hw_atomic_load_relaxed(&has_held); }

void hw_helper_near_look_again(void)
{
    hw_atomic_store_relaxed(&has_held, false);
    for (int i = 0; receivers && i < hw_world_own_user_count(); i++)
        if (receivers[i].is_held && receivers[i].registry)
            look(&receivers[i]);
}
