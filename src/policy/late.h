/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends that come late: a program posts receives, computes, then sends as much, and waits.
 *
 * Its own transfer begins with that send, and all that it receives may come meanwhile. So an early answer to
 * its partner gains nothing. It costs a transfer where the partner computes likewise: the answer to this
 * process's own message travels behind the partner's data, and the two directions, which would have shared
 * the time, go one after the other. A class of such windows stands down with the first one, and starts again
 * when others were as many lately; the next time it takes more. What early answers bring on other processes'
 * links trials tell, which are few. Pure; the caller serialises. */
#ifndef HW_POLICY_LATE_H
#define HW_POLICY_LATE_H

#include <stdbool.h>
#include <stdint.h>

struct hw_policy_window;

/* Of a class. */
struct hw_policy_late {
    bool is_so;
    int score;      /* by how many late windows outnumber others lately */
    uint32_t times; /* it was so, and then no longer */
};

/* What a window means for the thread. */
enum hw_policy_lateness {
    HW_POLICY_LATE_SAME,  /* no change, or nothing is known */
    HW_POLICY_LATE_STOPS, /* the class stands down from here on */
    HW_POLICY_LATE_ENDS,  /* it no longer does */
};

/* Of a window with something to gain, as it ends. */
enum hw_policy_lateness hw_policy_late_heed(struct hw_policy_late *late,
                                            const struct hw_policy_window *window);

#endif
