/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile/waits/rates.h"

#include "base/clock.h"

/* Of the bytes, one part in so many may have moved in stretches that are too fast to be true. */
enum { BEYOND_PARTS = 16, PER_DOUBLING = 16, LEAST_LOG = 10 };

static double rate_of(uint64_t bytes, uint64_t took_ns)
{
    return (double)bytes / (double)took_ns * (double)HW_NS_PER_S;
}

static int bucket_of(double rate)
{
    int log = LEAST_LOG - 1;
    double power = 1 << LEAST_LOG;
    for (; rate >= power && log < LEAST_LOG + HW_RATE_BUCKET_COUNT / PER_DOUBLING; log++)
        power *= 2;
    /* Within a doubling buckets are of equal width: fine enough, and no logarithm. */
    int within = (int)((rate * 2 / power - 1) * PER_DOUBLING);
    int bucket = (log - LEAST_LOG) * PER_DOUBLING + (within < 0 ? 0 : within);
    return bucket < 0 ? 0 : bucket < HW_RATE_BUCKET_COUNT ? bucket : HW_RATE_BUCKET_COUNT - 1;
}

void hw_rates_add(struct hw_rates *rates, uint64_t bytes, uint64_t took_ns)
{
    if (!bytes || !took_ns)
        return;
    int bucket = bucket_of(rate_of(bytes, took_ns));
    rates->bytes[bucket] += bytes;
    rates->ns[bucket] += took_ns;
}

uint64_t hw_rates_high(const struct hw_rates *rates)
{
    uint64_t all = 0, faster = 0;
    for (int i = 0; i < HW_RATE_BUCKET_COUNT; i++)
        all += rates->bytes[i];
    int bucket = HW_RATE_BUCKET_COUNT - 1;
    while (bucket > 0 && faster + rates->bytes[bucket] <= all / BEYOND_PARTS)
        faster += rates->bytes[bucket--];
    return rates->ns[bucket] ? (uint64_t)rate_of(rates->bytes[bucket], rates->ns[bucket]) : 0;
}
