/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile/record/counters.h"

struct hw_counters hw_counters;
