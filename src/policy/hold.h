/* SPDX-License-Identifier: BSD-3-Clause */
/* Holding back: in a class of windows that send as much as they receive the thread does not come before the
 * sends are posted.
 *
 * A program that posts receives, computes and sends by turns, and then waits (a transposition, a halo whose
 * boundary is computed first) announces its messages one after the other. Who answers the partner's
 * announcements meanwhile has the own ones behind the partner's data: the two directions go one after the
 * other, and keep to it. Answered when all is announced, they share the time.
 *
 * Sends that are spread over a good part of the transfer's time are another matter: the first ones could be
 * done before the last ones are posted. There the thread comes with the first, unless the MPI's transport has
 * the directions take turns by itself. Pure; the caller serialises. */
#ifndef HW_POLICY_HOLD_H
#define HW_POLICY_HOLD_H

#include <stdbool.h>
#include <stdint.h>

/* The least time for which the thread holds back at most: a program may receive alone, or send nothing this
 * time. In the first window of a class it is longer where much is received, about a quarter of what it takes
 * at 1 Gbit/s: a program computes for longer then, and one that is answered too early takes as long as both
 * directions. */
#define HW_POLICY_HOLD_NS UINT64_C(5000000)

/* Of a class. Zeroed at first. */
struct hw_policy_hold {
    uint64_t sends_bytes; /* that its windows send, as far as they receive as much; 0: others */
    uint64_t usual_ns;    /* from a window's opening until so much is sent */
    uint64_t spread_ns;   /* of that, what comes after the first send, about */
    bool is_spread;       /* so long that the first send is enough */
    bool is_brief;        /* what could come before the sends is hardly worth a look */
    uint32_t windows;     /* that have ended */
    uint32_t next_trial;  /* the number of the window that is not held next, to see; 0: the first */
    uint32_t rest;        /* windows that are not held, since one was held in vain */
    uint32_t
        early_score; /* windows whose receives were complete before the first send: that is to be gained */
};

/* One window as it went. */
struct hw_policy_held {
    uint64_t received_bytes, sends_bytes;
    uint64_t sent_ns;     /* from its opening until as much was sent as usual; 0: it never was */
    uint64_t first_ns;    /* from its opening until the first send, where sent_ns is known */
    uint64_t transfer_ns; /* that its class takes with nothing to overlap it; 0: not known */
    bool is_in_turns; /* the transport has the directions take turns by itself: no matter how sends are spread
                       */
    bool was_held;    /* for a while */
    bool was_in_vain; /* until it ended, or for too long */
    bool came_early;  /* it was not held, and the receives were complete before the first send */
};

/* Whether what was sent is what a window of the class waits for; of a new class, whether it is anything. */
bool hw_policy_hold_is_sent(const struct hw_policy_hold *hold, uint64_t sends_bytes);

/* Whether the thread is still to hold back: so much was received and sent in the window, as far as posted. */
bool hw_policy_is_held(const struct hw_policy_hold *hold, uint64_t received_bytes, uint64_t sends_bytes);

/* For how long after the opening of a window that receives so much, at most. */
uint64_t hw_policy_hold_most_ns(const struct hw_policy_hold *hold, uint64_t received_bytes);

/* A send was posted so long after the window's opening; so much was sent with it. */
void hw_policy_hold_note_send(const struct hw_policy_hold *hold, struct hw_policy_held *window,
                              uint64_t sends_bytes, uint64_t since_ns);

/* The window has ended. */
void hw_policy_hold_learn(struct hw_policy_hold *hold, const struct hw_policy_held *window);

#endif
