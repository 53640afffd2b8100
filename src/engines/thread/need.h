/* SPDX-License-Identifier: BSD-3-Clause */
/* What the progress thread is needed for just now: the open window of overlap, windows of memory that others
 * wait for, what the program asks for in other words. Each function may be called by any thread. */
#ifndef HW_ENGINES_THREAD_NEED_H
#define HW_ENGINES_THREAD_NEED_H

#include "engines/thread/waiter.h"

#include <stdbool.h>
#include <stdint.h>

/* Nothing is exposed, retired, paused or listened to. Before there is a thread. */
void hw_need_open(void);

/* The thread takes no part any more. */
void hw_need_retire(void);
bool hw_need_is_retired(void);

/* The program does not want the thread for now. A turn may still be under way: hw_turns_is_polling, which is
 * in one order with this. */
void hw_need_pause(bool is_paused);
bool hw_need_is_paused(void);

/* The program wants to hear what arrives (cli/headway/awaiting). */
void hw_need_listen(bool is_listened);
bool hw_need_is_listened(void);

/* So many windows of memory more are exposed. Returns how many there are. */
int hw_need_expose(int change);
bool hw_need_is_exposed(void);

/* A door that blocks has taken all that is pending. */
void hw_need_wait(bool is_waited_for);
bool hw_need_is_waited_for(void);

/* What tells the thread of arrivals, as the thread found it last. */
void hw_need_set_told_by(enum hw_told_by by);
enum hw_told_by hw_need_told_by(void);

/* By something else than windows, exposed ones or those of overlap. */
bool hw_need_is_asked_for(void);

/* Beside the open window of overlap. */
bool hw_need_is_any_beside(void);

/* The open window of overlap has something pending. */
bool hw_need_has_overlap(void);

/* Any of these, and nothing forbids it. */
bool hw_need_has_work(void);

/* The least of what sends are waited for, at most (hw_overlap_held_ns); 0: for none. */
uint64_t hw_need_waiting_ns(bool may_end);

#endif
