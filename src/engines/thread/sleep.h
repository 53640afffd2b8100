/* SPDX-License-Identifier: BSD-3-Clause */
/* How the progress thread sleeps when it does not wait for the transport, and who ends it: one thread sleeps,
 * any thread wakes it. Orders are seq_cst with the tracker's counters, so that either the thread sees new
 * work or the one who made it sees the thread asleep. */
#ifndef HW_ENGINES_THREAD_SLEEP_H
#define HW_ENGINES_THREAD_SLEEP_H

#include <stdbool.h>
#include <stdint.h>

/* The deeper the higher, ARMED apart. */
enum hw_sleep {
    HW_SLEEP_AWAKE,
    HW_SLEEP_ARMED,   /* on the alarm, which is set */
    HW_SLEEP_NAPPING, /* for a moment */
    HW_SLEEP_PARKED,  /* until there is work */
    HW_SLEEP_PARKED_ON_ALARM,
};

void hw_sleep_open(void);
void hw_sleep_close(void);

/* The thread's own: sleeps until somebody ends it, at most timeout_ns; NAPPING or PARKED. Not at all where
 * is_to_go_on(depth) says, once others can see the sleep, that there is no reason to. */
void hw_sleep_rest(enum hw_sleep depth, uint64_t timeout_ns, bool (*is_to_go_on)(enum hw_sleep depth));

bool hw_sleep_is_awake(void);

/* Takes the sleep away if it is at least as deep as `depth`. True if the caller is to end it now, by
 * hw_sleep_end(*found). */
bool hw_sleep_take(enum hw_sleep depth, enum hw_sleep *found);
void hw_sleep_end(enum hw_sleep found);

/* Ends it whatever it is. */
void hw_sleep_end_all(void);

enum hw_sleep_arming { HW_SLEEP_IS_ARMED, HW_SLEEP_WAS_ARMED, HW_SLEEP_CANNOT_ARM };

/* Ends it delay_ns from now, where the thread is parked and can be told so. */
enum hw_sleep_arming hw_sleep_arm(uint64_t delay_ns);

/* Undoes that, if it is not over yet: the thread is parked as before. True if it did. */
bool hw_sleep_disarm(void);

#endif
