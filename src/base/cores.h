/* SPDX-License-Identifier: BSD-3-Clause */
/* These functions count the cores of a set of processors. Hardware threads of one core share its units, so
 * that a helper on one slows the program on the other: they are one core here. Any thread. */
#ifndef HW_BASE_CORES_H
#define HW_BASE_CORES_H

#include <sched.h>

/* Cores of `processors`, at least 1. One core of them is looked at (Linux' sysfs) and taken for all; where it
 * cannot be read, a core has one hardware thread. */
int hw_cores_count(const cpu_set_t *processors);

/* How many processors of `list`, written as in sysfs ("0-3,8,10-11"), are in the set. A malformed rest of the
 * list is left out. */
int hw_cores_listed(const char *list, const cpu_set_t *processors);

/* Processors that the process may use, as it was when somebody first asked, by a thread that the program
 * began with: taskset and launchers bind whole processes. An OpenMP runtime that was told to bind its threads
 * has bound that thread too, so then all of the machine. */
int hw_cores_allowed(void);

#endif
