/* SPDX-License-Identifier: BSD-3-Clause */
#include "real/type_size.h"

#include <pthread.h>

_Atomic uint64_t hw_real_type_places[HW_REAL_TYPE_PLACES];
atomic_uint hw_real_type_frees;
atomic_bool hw_real_type_is_held;

static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;

/* Either this sees that one is freed, or who frees it that this holds. */
bool hw_real_type_hold(unsigned frees)
{
    pthread_mutex_lock(&held);
    hw_atomic_store_seq_cst(&hw_real_type_is_held, true);
    if (hw_atomic_load_seq_cst(&hw_real_type_frees) == frees)
        return true;
    hw_real_type_let_go();
    return false;
}

void hw_real_type_let_go(void)
{
    hw_atomic_store_seq_cst(&hw_real_type_is_held, false);
    pthread_mutex_unlock(&held);
}

void hw_real_type_await(void)
{
    pthread_mutex_lock(&held);
    pthread_mutex_unlock(&held);
}

void hw_real_type_forget_all(void)
{
    for (int i = 0; i < HW_REAL_TYPE_PLACES; i++)
        hw_atomic_store_relaxed(&hw_real_type_places[i], 0);
}
