/* SPDX-License-Identifier: BSD-3-Clause */
/* What the progress thread does once it runs: it sleeps until there is need of it, takes turns with the
 * program inside MPI as long as there is, and sleeps again. */
#ifndef HW_ENGINES_THREAD_TURNS_H
#define HW_ENGINES_THREAD_TURNS_H

#include <stdbool.h>

/* Before the thread is made, and after it has ended. */
void hw_turns_open(void);
void hw_turns_close(void);

/* The thread's own function. Returns NULL, after hw_turns_end. */
void *hw_turns_run(void *unused);

/* Wakes the thread so that it returns. Any thread. */
void hw_turns_end(void);

/* A turn is under way. Any thread; in one order with hw_need_pause. */
bool hw_turns_is_polling(void);

/* A new window of overlap begins while the thread still waits on the last one's transport: what it believes
 * of a transfer under way is out of date. The program's thread, inside a hook. */
void hw_turns_begin_anew(void);

/* How the program's threads compute (base/arithmetic.h): taken over by turns from here on. Inside a hook. */
void hw_turns_take_arithmetic(void);

/* Gives the calling thread of the program the floating-point exceptions that turns have raised since. */
void hw_turns_give_exceptions(void);

/* Why the thread waits as it does (struct hw_waiter), or NULL. Any thread. */
const char *hw_turns_why(void);

#endif
