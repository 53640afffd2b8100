/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/p2p/user/turns.h"

#include <pthread.h>

atomic_bool hw_p2p_turns_taken;
static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

void hw_p2p_turn_lock(void) { pthread_mutex_lock(&lock); }

void hw_p2p_turn_unlock(void) { pthread_mutex_unlock(&lock); }
