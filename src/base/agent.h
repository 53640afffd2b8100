/* SPDX-License-Identifier: BSD-3-Clause */
/* An agent that shares a core (a progress thread, a ghost, a watch) asks this of the kernel. */
#ifndef HW_BASE_AGENT_H
#define HW_BASE_AGENT_H

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>

/* Starts a thread of ours, which gets none of the program's signals; `cores`, unless NULL, is where it may
 * run, else where the caller may. Returns 0 or an error number; *thread is then not set. */
int hw_agent_create(pthread_t *thread, void *(*run)(void *), size_t stack_bytes, const cpu_set_t *cores);

/* How many of them this process has. Any thread. */
unsigned hw_agent_count(void);

/* For the calling thread: exact timers, and to run at once when woken instead of after the other's slice of
 * some milliseconds. It needs no privilege; an old kernel that refuses leaves things as they are. */
void hw_agent_prompt(void);

/* For the calling thread: before all others of its core when woken (SCHED_RR at the lowest priority), or no
 * longer. False: the kernel forbids it (RLIMIT_RTPRIO, CAP_SYS_NICE), and things are as they were. */
bool hw_agent_hurry(bool is_wanted);

/* Whether the kernel lets the calling thread do so. */
bool hw_agent_may_hurry(void);

/* For the calling thread: it may use all memory of the process that can be used at all. Which protection keys
 * (pkeys(7)) a thread may use is its own; one that the program allocates later would be closed to it. */
void hw_agent_open_memory(void);

#endif
