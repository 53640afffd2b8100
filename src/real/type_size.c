/* SPDX-License-Identifier: BSD-3-Clause */
#include "real/type_size.h"

_Atomic uint64_t hw_real_type_places[HW_REAL_TYPE_PLACES];
