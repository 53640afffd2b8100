/* SPDX-License-Identifier: BSD-3-Clause */
/* Half an exchange that comes late: a program posts receives, computes, then sends as much while they are
 * still under way, and waits; or it sends, computes, then receives.
 *
 * Its own transfer ends as late as the half that begins late, so what moves early gains nothing. It costs a
 * transfer where the partner computes likewise: what one of the two processes announces or answers travels
 * behind the other's early data, and the two directions, which would have shared the time, go one after the
 * other. Of what it sends hardly anything may have moved: else the partner had received before, and early
 * data are its gain. A class of such windows stands down with the first one. With the first that are none it
 * is again what it was before. A class that is now the one and now the other is judged by its costs alone.
 * What early answers bring on other processes' links trials tell. Pure; the caller serialises. */
#ifndef HW_POLICY_LATE_H
#define HW_POLICY_LATE_H

#include <stdbool.h>
#include <stdint.h>

struct hw_policy_window;

/* Of a class. */
struct hw_policy_late {
    bool is_so;
    bool stood_down; /* before it was so */
    int score;       /* by how many late windows outnumber others lately */
    uint32_t times;  /* it became so */
};

/* What a window means for the thread. */
enum hw_policy_lateness {
    HW_POLICY_LATE_SAME,  /* no change, or nothing is known */
    HW_POLICY_LATE_STOPS, /* the class stands down from here on */
    HW_POLICY_LATE_ENDS,  /* it does as it did before */
};

/* Less than all but a part is not as much. */
static inline bool hw_policy_is_as_much(uint64_t bytes, uint64_t other_bytes)
{
    enum { LESS_PARTS = 4 };
    return bytes >= other_bytes - other_bytes / LESS_PARTS;
}

/* What is sent early may have moved to this part before the program receives. */
enum { HW_POLICY_LATE_MOVED_PARTS = 4 };

/* Where the half that is late is less, the early one may gain. */
static inline bool hw_policy_late_is_as_much(uint64_t early_bytes, uint64_t late_bytes)
{
    return early_bytes && hw_policy_is_as_much(late_bytes, early_bytes);
}

/* Of a window with something to gain, as it ends. */
enum hw_policy_lateness hw_policy_late_heed(struct hw_policy_late *late,
                                            const struct hw_policy_window *window);

#endif
