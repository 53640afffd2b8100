/* SPDX-License-Identifier: BSD-3-Clause */
/* How a ghost ends the job: it lacks what it needs, and its user processes would wait for it for ever. */
#ifndef HW_GHOST_GIVE_UP_H
#define HW_GHOST_GIVE_UP_H

/* `what` goes on from "a ghost". Ghost's only thread. */
_Noreturn void hw_ghost_give_up(const char *what);

/* The same where it has said why in a line of its own. */
_Noreturn void hw_ghost_end_job(void);

#endif
