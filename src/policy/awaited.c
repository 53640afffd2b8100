/* SPDX-License-Identifier: BSD-3-Clause */
#include "policy/awaited.h"

#define MS UINT64_C(1000000) /* in nanoseconds */
#define US UINT64_C(1000)

/* Fewer sightings may be chance, unless what was waited is long. */
enum { ENOUGH_SIGHTINGS = 3 };
#define ENOUGH_NS (1 * MS)
#define LONG_NS (8 * MS)
/* A shorter wait is not worth a wake-up. */
#define SHORT_NS (100 * US)
/* And this part of the time: an agent takes some hundredths of a program that is often inside MPI. */
enum { ENOUGH_PARTS = 8 };
/* A share that was seen long ago says nothing of now. */
#define MEMORY_NS (200 * MS)

/* What standing back costs is some milliseconds each time: the longer the evidence has held, the more seldom.
 */
#define FIRST_TERM_NS (1000 * MS)
#define LAST_TERM_NS (8000 * MS)

/* Cold connections make a first gain that does not come again: it fades before costs do. */
enum { ENOUGH_VERDICTS = 4, GAIN_FADES = 4 };
/* A turn costs a wake-up and cold caches besides. */
#define WAKE_NS (20 * US)
#define FIRST_PAUSE_NS (1000 * MS)
#define LAST_PAUSE_NS (4000 * MS)

#define STRIDE_NS (20 * US)
enum { MAX_STRIDE = 64 };

void hw_policy_awaited_begin(struct hw_policy_awaited *awaited, uint64_t now_ns)
{
    *awaited = (struct hw_policy_awaited){
        .since_ns = now_ns, .looked_ns = now_ns, .term_ns = FIRST_TERM_NS, .pause_ns = FIRST_PAUSE_NS};
}

/* Keeps the share and halves the time that it was seen in. */
static void forget(struct hw_policy_awaited *awaited, uint64_t now_ns)
{
    awaited->term_ns = FIRST_TERM_NS;
    awaited->sightings /= 2;
    awaited->seen_ns /= 2;
    awaited->waited_ns /= 2;
    awaited->since_ns += (now_ns - awaited->since_ns) / 2;
}

static bool is_enough(const struct hw_policy_awaited *awaited, uint64_t elapsed_ns)
{
    bool is_chance = awaited->sightings < ENOUGH_SIGHTINGS && awaited->seen_ns < LONG_NS;
    return !is_chance && awaited->seen_ns >= ENOUGH_NS && awaited->waited_ns >= elapsed_ns / ENOUGH_PARTS;
}

bool hw_policy_awaited_seen(struct hw_policy_awaited *awaited, bool has_unread, uint64_t gap_ns,
                            uint64_t now_ns)
{
    if (awaited->is_awaited || now_ns < awaited->until_ns)
        return false;
    uint64_t elapsed_ns = now_ns - awaited->since_ns, since_ns = now_ns - awaited->looked_ns;
    gap_ns = gap_ns < elapsed_ns ? gap_ns : elapsed_ns; /* what was before says nothing */
    awaited->looked_ns = now_ns;
    if (has_unread && gap_ns >= SHORT_NS) {
        awaited->sightings++;
        awaited->seen_ns += gap_ns / 2;
        awaited->waited_ns += (since_ns > gap_ns ? since_ns : gap_ns) / 2;
    }
    if (is_enough(awaited, elapsed_ns)) {
        awaited->is_awaited = true;
        awaited->is_settled = false;
        awaited->cost_ns = awaited->gain_ns = awaited->good_verdicts = 0;
        awaited->since_ns = now_ns;
        return true;
    }
    if (elapsed_ns > MEMORY_NS)
        forget(awaited, now_ns);
    return false;
}

bool hw_policy_awaited_is_judged(const struct hw_policy_awaited *awaited)
{
    return awaited->is_awaited && !awaited->is_settled;
}

void hw_policy_awaited_turn(struct hw_policy_awaited *awaited, uint64_t took_ns)
{
    awaited->cost_ns += took_ns + WAKE_NS;
}

void hw_policy_awaited_gain(struct hw_policy_awaited *awaited, uint64_t gain_ns)
{
    awaited->gain_ns += gain_ns;
}

static void stand_back(struct hw_policy_awaited *awaited, uint64_t begin_ns)
{
    awaited->is_awaited = false;
    awaited->since_ns = awaited->looked_ns = begin_ns;
    awaited->seen_ns = awaited->waited_ns = 0;
    awaited->sightings = 0;
}

void hw_policy_awaited_settle(struct hw_policy_awaited *awaited) { awaited->is_settled = true; }

static bool is_in_vain(struct hw_policy_awaited *awaited, bool has_returned)
{
    if (awaited->is_settled || awaited->cost_ns < HW_POLICY_AWAITED_VERDICT_NS || !has_returned)
        return false;
    if (awaited->gain_ns < awaited->cost_ns)
        return true;
    awaited->gain_ns /= GAIN_FADES;
    awaited->cost_ns /= 2;
    awaited->is_settled = ++awaited->good_verdicts == ENOUGH_VERDICTS;
    if (awaited->is_settled)
        awaited->pause_ns = FIRST_PAUSE_NS;
    return false;
}

bool hw_policy_awaited_is_over(struct hw_policy_awaited *awaited, bool has_returned, uint64_t now_ns)
{
    if (!awaited->is_awaited)
        return false;
    if (is_in_vain(awaited, has_returned)) {
        awaited->until_ns = now_ns + awaited->pause_ns;
        if (awaited->pause_ns < LAST_PAUSE_NS)
            awaited->pause_ns *= 2;
        stand_back(awaited, awaited->until_ns);
        return true;
    }
    if (now_ns - awaited->since_ns < awaited->term_ns)
        return false;
    stand_back(awaited, now_ns);
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
