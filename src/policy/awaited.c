/* SPDX-License-Identifier: BSD-3-Clause */
#include "policy/awaited.h"

#define MS UINT64_C(1000000) /* in nanoseconds */
#define US UINT64_C(1000)

/* The kernel's clock of arrivals has ticks of 4 ms: one alone says little. */
#define ENOUGH_NS (8 * MS)
/* And this part of the time: an agent takes some hundredths of a program that is often inside MPI. */
enum { ENOUGH_PARTS = 8 };
/* A share that was seen long ago says nothing of now. */
#define MEMORY_NS (1000 * MS)

/* What standing back costs is about ENOUGH_NS each time: the longer the evidence has held, the more seldom.
 */
#define FIRST_TERM_NS (1000 * MS)
#define LAST_TERM_NS (8000 * MS)

#define STRIDE_NS (20 * US)
enum { MAX_STRIDE = 64 };

void hw_policy_awaited_begin(struct hw_policy_awaited *awaited, uint64_t now_ns)
{
    *awaited = (struct hw_policy_awaited){.since_ns = now_ns, .term_ns = FIRST_TERM_NS};
}

/* Keeps the share and halves the time that it was seen in. */
static void forget(struct hw_policy_awaited *awaited, uint64_t now_ns)
{
    awaited->term_ns = FIRST_TERM_NS;
    awaited->waited_ns /= 2;
    awaited->since_ns += (now_ns - awaited->since_ns) / 2;
}

bool hw_policy_awaited_seen(struct hw_policy_awaited *awaited, uint64_t age_ns, uint64_t now_ns)
{
    if (awaited->is_awaited)
        return false;
    uint64_t elapsed_ns = now_ns - awaited->since_ns;
    awaited->waited_ns += age_ns < elapsed_ns ? age_ns : elapsed_ns; /* older data waited before this began */
    if (awaited->waited_ns >= ENOUGH_NS && awaited->waited_ns >= elapsed_ns / ENOUGH_PARTS) {
        awaited->is_awaited = true;
        awaited->since_ns = now_ns;
        return true;
    }
    if (elapsed_ns > MEMORY_NS)
        forget(awaited, now_ns);
    return false;
}

bool hw_policy_awaited_is_over(struct hw_policy_awaited *awaited, uint64_t now_ns)
{
    if (!awaited->is_awaited || now_ns - awaited->since_ns < awaited->term_ns)
        return false;
    awaited->is_awaited = false;
    awaited->since_ns = now_ns;
    awaited->waited_ns = 0;
    if (awaited->term_ns < LAST_TERM_NS)
        awaited->term_ns *= 2;
    return true;
}

uint32_t hw_policy_awaited_stride(uint64_t elapsed_ns, uint32_t count)
{
    uint64_t each_ns = elapsed_ns / (count ? count : 1);
    if (each_ns >= STRIDE_NS)
        return 1;
    uint64_t stride = STRIDE_NS / (each_ns ? each_ns : 1);
    return stride > MAX_STRIDE ? MAX_STRIDE : (uint32_t)stride;
}
