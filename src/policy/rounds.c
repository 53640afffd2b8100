/* SPDX-License-Identifier: BSD-3-Clause */
#include "policy/rounds.h"

/* Of a class whose first round is long, one. */
enum { ROUNDS = 4 };
#define LONG_ROUND_NS UINT64_C(25000000)

bool hw_policy_rounds_end(struct hw_policy_class *class, uint32_t round_count, uint64_t since_ns)
{
    if (class->rounds == 0)
        class->rounds = since_ns > LONG_ROUND_NS ? 1 : ROUNDS;
    return round_count >= class->rounds && since_ns > HW_POLICY_LEAST_ROUNDS_NS;
}
