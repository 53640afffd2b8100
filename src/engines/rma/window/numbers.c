/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/rma/window/numbers.h"

#include "engines/rma/window/window.h"

static uint64_t taken[HW_RMA_NUMBER_COUNT / 64];

int hw_rma_number_take(void)
{
    for (int i = 0; i < HW_RMA_NUMBER_COUNT / 64; i++) {
        if (~taken[i] == 0)
            continue;
        int bit = __builtin_ctzll(~taken[i]);
        taken[i] |= UINT64_C(1) << bit;
        return i * 64 + bit;
    }
    return -1;
}

void hw_rma_number_give(int number) { taken[number / 64] &= ~(UINT64_C(1) << number % 64); }
