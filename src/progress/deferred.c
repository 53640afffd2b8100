/* SPDX-License-Identifier: BSD-3-Clause */
#include "progress/deferred.h"

#include <stddef.h>

_Atomic unsigned hw_deferred_count;

static void (*look_now)(void);

void hw_deferred_open(void (*look)(void)) { look_now = look; }

void hw_deferred_add(unsigned count) { hw_atomic_add_seq_cst(&hw_deferred_count, count); }

void hw_deferred_take(unsigned count) { hw_atomic_sub_seq_cst(&hw_deferred_count, count); }

bool hw_deferred_look(void)
{
    if (look_now != NULL)
        look_now();
    return look_now != NULL;
}
