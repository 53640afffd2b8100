/* SPDX-License-Identifier: BSD-3-Clause */
/* A send to a process of the own node is matched by its sender where the helper sleeps: to wake that for it
 * would take a core from one of the two programs. What the sender does not find, and what it may not see, is
 * left to the helper.
 *
 * Whether the receiver is inside MPI is read from its mark (ghost/mark.h). If it is its thread is not woken:
 * the receiver finds the match when it leaves MPI with something pending (hw_helped_take_held), or the sender
 * looks once more before it waits. In a user process, under the engine's lock. */
#ifndef HW_ENGINES_HELPER_NEAR_H
#define HW_ENGINES_HELPER_NEAR_H

#include "ghost/registry.h"

#include <stdbool.h>

/* After hw_registry_make; own: of the calling process. Where there is no memory all is left to the helper. */
void hw_helper_near_open(struct hw_registry *own);
void hw_helper_near_close(void);

/* A send of this process. True: it was matched, and its receiver told. False: it is the helper's. */
bool hw_helper_near_send(const struct hw_registry_notice *notice);

/* One was left to the helper: later ones of this process must not overtake it. */
void hw_helper_near_left(void);
/* All sends of this process are over. */
void hw_helper_near_settle(void);

/* This process is about to wait: receivers that were inside MPI may have left it. Whether there are any: any
 * thread, without the lock. */
bool hw_helper_near_is_owed(void);
void hw_helper_near_look_again(void);

#endif
