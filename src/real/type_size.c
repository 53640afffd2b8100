/* SPDX-License-Identifier: BSD-3-Clause */
#include "real/type_size.h"

_Atomic uint64_t hw_real_type_places[HW_REAL_TYPE_PLACES];

void hw_real_type_forget_all(void)
{
    for (int i = 0; i < HW_REAL_TYPE_PLACES; i++)
        hw_atomic_store_relaxed(&hw_real_type_places[i], 0);
}
