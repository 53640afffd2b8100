/* SPDX-License-Identifier: BSD-3-Clause */
/* hw_rate is the share of its time that a process is inside MPI, and what that says of operations on it
 * (papers/002 section 5.3.1, its CR). Much of it inside: the process makes progress itself, and a ghost would
 * only be a queue. Little: it computes, and a ghost serves what would wait for it. Between the two thresholds
 * what was said last stays. Judged anew after each interval, from looks of which each stands for the time
 * since the last. Pure: the caller has the clock; one thread. */
#ifndef HW_POLICY_RATE_H
#define HW_POLICY_RATE_H

#include <stdbool.h>
#include <stdint.h>

enum hw_rate_says { HW_RATE_NOTHING, HW_RATE_GHOST, HW_RATE_OWNER };

/* Shares in thousandths. */
struct hw_rate_rule {
    uint32_t low_permille, high_permille; /* below: the ghost; above: the owner */
    uint64_t interval_ns;
};

/* Zero at the start. */
struct hw_rate {
    uint64_t began_ns; /* the interval; 0: no look yet */
    uint64_t looked_ns;
    uint64_t inside_ns; /* of the interval */
    uint32_t looks;     /* in it */
    uint32_t permille;  /* of the last interval, once judged */
    enum hw_rate_says says;
    bool is_judged;
};

/* A look at a process: whether it was inside MPI. True: an interval is over, and permille is its share. */
bool hw_rate_look(struct hw_rate *rate, const struct hw_rate_rule *rule, bool is_inside, uint64_t now_ns);

/* As others of the node and other nodes read it, in one byte: what is said, and the share in 63 parts.
 * HW_RATE_BYTE_UNKNOWN: nothing is known, which is what zeroed memory says. */
enum { HW_RATE_BYTE_UNKNOWN = 0, HW_RATE_BYTE_PARTS = 62 };
uint8_t hw_rate_to_byte(const struct hw_rate *rate);
enum hw_rate_says hw_rate_byte_says(uint8_t byte);
/* -1: unknown. */
int hw_rate_byte_percent(uint8_t byte);

#endif
