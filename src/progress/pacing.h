/* SPDX-License-Identifier: BSD-3-Clause */
/* Pacing limits how often an agent that shares its core polls: at once for the first few events after a quiet
 * time (a rendezvous handshake is a chain of short messages, each delay of which delays the data), at most
 * once per gap in the long run (in the bulk of a transfer each wake-up costs the program's thread some 20
 * us). A token bucket, kept as the time at which it would be full (generic cell rate algorithm). */
#ifndef HW_PROGRESS_PACING_H
#define HW_PROGRESS_PACING_H

#include <stdint.h>

struct hw_pacing {
    uint64_t gap_ns;
    uint64_t burst_ns; /* polls that may come at once, times gap_ns */
    uint64_t full_ns;  /* when the bucket is full again */
};

static inline void hw_pacing_set(struct hw_pacing *pacing, uint64_t gap_ns, unsigned burst)
{
    pacing->gap_ns = gap_ns;
    pacing->burst_ns = gap_ns * burst;
}

/* Takes one poll's allowance. Returns how long to sleep before the poll, 0 for not at all. */
static inline uint64_t hw_pacing_take(struct hw_pacing *pacing, uint64_t now_ns)
{
    uint64_t full_ns = pacing->full_ns > now_ns ? pacing->full_ns : now_ns;
    uint64_t wait_ns = full_ns - now_ns > pacing->burst_ns ? full_ns - now_ns - pacing->burst_ns : 0;
    pacing->full_ns = full_ns + pacing->gap_ns;
    return wait_ns;
}

#endif
