/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/thread/classes.h"

#include "base/visibility.h"

enum { POWER_COUNT = 48 };

HW_SPARSE static struct hw_policy_class classes[HW_BEGINNING_COUNT][HW_REQUEST_KIND_COUNT][POWER_COUNT];

struct hw_policy_class *hw_classes_find(enum hw_beginning beginning, enum hw_request_kind kind,
                                        uint64_t bytes)
{
    int power = bytes ? 63 - __builtin_clzll(bytes) : 0;
    return &classes[beginning][kind][power < POWER_COUNT ? power : POWER_COUNT - 1];
}
