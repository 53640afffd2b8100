/* SPDX-License-Identifier: BSD-3-Clause */
#include "policy/rate.h"

enum {
    LOOKS_MIN = 8, /* in an interval: fewer say too little, and it goes on */
    WHOLE = 1000,
    SAYS_SHIFT = 6,
    SHARE_MASK = (1 << SAYS_SHIFT) - 1, /* 0: unknown; else the part and one */
};

static void judge(struct hw_rate *rate, const struct hw_rate_rule *rule, uint64_t now_ns)
{
    rate->permille = (uint32_t)(rate->inside_ns * WHOLE / (now_ns - rate->began_ns));
    rate->is_judged = true;
    if (rate->permille > rule->high_permille)
        rate->says = HW_RATE_OWNER;
    else if (rate->permille < rule->low_permille)
        rate->says = HW_RATE_GHOST;
}

bool hw_rate_look(struct hw_rate *rate, const struct hw_rate_rule *rule, bool is_inside, uint64_t now_ns)
{
    if (rate->began_ns == 0) {
        rate->began_ns = rate->looked_ns = now_ns;
        return false;
    }
    if (is_inside)
        rate->inside_ns += now_ns - rate->looked_ns;
    rate->looked_ns = now_ns;
    rate->looks++;
    if (now_ns - rate->began_ns < rule->interval_ns || rate->looks < LOOKS_MIN)
        return false;
    judge(rate, rule, now_ns);
    rate->began_ns = now_ns;
    rate->inside_ns = 0;
    rate->looks = 0;
    return true;
}

uint8_t hw_rate_to_byte(const struct hw_rate *rate)
{
    if (!rate->is_judged)
        return HW_RATE_BYTE_UNKNOWN;
    uint32_t part = rate->permille * HW_RATE_BYTE_PARTS / WHOLE;
    return (uint8_t)((unsigned)rate->says << SAYS_SHIFT | (part + 1));
}

enum hw_rate_says hw_rate_byte_says(uint8_t byte)
{
    unsigned says = byte >> SAYS_SHIFT;
    return says > HW_RATE_OWNER ? HW_RATE_NOTHING : (enum hw_rate_says)says;
}

int hw_rate_byte_percent(uint8_t byte)
{
    int part = byte & SHARE_MASK;
    return part == 0 ? -1 : ((part - 1) * 100 + HW_RATE_BYTE_PARTS / 2) / HW_RATE_BYTE_PARTS;
}
