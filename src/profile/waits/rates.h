/* SPDX-License-Identifier: BSD-3-Clause */
/* How fast a wire is, by many stretches of time in which something moved over it.
 *
 * None shows more than the wire carries, but for what the kernel hands over late where cores are scarce: then
 * a few stretches have bytes that came before them. Where the wire waits for partners or for progress many
 * show less. So the rate is that of the fastest stretches, without the few beyond them; stretches count by
 * their bytes.
 *
 * Internal to src/profile; the caller holds the lock (lock.h). */
#ifndef HW_PROFILE_WAITS_RATES_H
#define HW_PROFILE_WAITS_RATES_H

#include <stdint.h>

/* Sixteen to a doubling, from 1 KiB/s on. */
enum { HW_RATE_BUCKET_COUNT = 512 };

struct hw_rates {
    uint64_t bytes[HW_RATE_BUCKET_COUNT], ns[HW_RATE_BUCKET_COUNT];
};

/* One more stretch; nothing if it is empty. */
void hw_rates_add(struct hw_rates *rates, uint64_t bytes, uint64_t took_ns);

/* In bytes a second; 0: none was added. */
uint64_t hw_rates_high(const struct hw_rates *rates);

#endif
