/* What every agent that shares a core asks of the kernel: a progress thread, a ghost, a watch. */
#ifndef HW_BASE_AGENT_H
#define HW_BASE_AGENT_H

/* For the calling thread: exact timers, and to run at once when woken instead of after the other's slice of
 * some milliseconds. It needs no privilege; an old kernel that refuses leaves things as they are. */
void hw_agent_prompt(void);

#endif
