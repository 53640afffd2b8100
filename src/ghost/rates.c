/* SPDX-License-Identifier: BSD-3-Clause */
#include "ghost/rates.h"

#include "ghost/bell.h"
#include "progress/inside.h"
#include "world/world.h"

size_t hw_ghost_rates_bytes(int count)
{
    return sizeof(struct hw_ghost_rates) + (size_t)count * sizeof(struct hw_ghost_mark) +
           (size_t)hw_world.user_count;
}

static _Atomic uint8_t *bytes_of(struct hw_ghost_rates *rates)
{
    return (_Atomic uint8_t *)(void *)&rates->marks[hw_world_own_user_count()];
}

uint8_t hw_ghost_rates_read(int user_rank)
{
    struct hw_ghost_rates *rates = hw_ghost_rates();
    return rates ? hw_atomic_load_relaxed(&bytes_of(rates)[user_rank]) : HW_RATE_BYTE_UNKNOWN;
}

uint32_t hw_ghost_rates_generation(void)
{
    struct hw_ghost_rates *rates = hw_ghost_rates();
    return rates ? hw_atomic_load_acquire(&rates->generation) : 0;
}

bool hw_ghost_rates_write(int user_rank, uint8_t byte)
{
    struct hw_ghost_rates *rates = hw_ghost_rates();
    if (rates == NULL)
        return false;
    uint8_t before = hw_atomic_load_relaxed(&bytes_of(rates)[user_rank]);
    hw_atomic_store_relaxed(&bytes_of(rates)[user_rank], byte);
    if (hw_rate_byte_says(byte) == hw_rate_byte_says(before))
        return false;
    hw_atomic_add_release(&rates->generation, 1);
    return true;
}

static struct hw_ghost_mark *own_mark(void)
{
    struct hw_ghost_rates *rates = hw_ghost_rates();
    return rates ? &rates->marks[hw_world.processes[hw_world.rank].local_index] : NULL;
}

void hw_ghost_rates_show_mark(void)
{
    struct hw_ghost_mark *mark = own_mark();
    if (mark == NULL)
        return;
    mark->proof = hw_ghost_reach_proof();
    hw_atomic_store_release(&mark->depth, (uintptr_t)&hw_inside.depth);
}

void hw_ghost_rates_hide_mark(void)
{
    struct hw_ghost_mark *mark = own_mark();
    if (mark)
        hw_atomic_store_release(&mark->depth, 0);
}
