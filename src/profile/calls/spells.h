/* SPDX-License-Identifier: BSD-3-Clause */
/* Spells of the calling thread: tests and probes one right after the other, all but the last in vain. They
 * are one wait, and what little is done between them belongs to it. Internal to src/profile. */
#ifndef HW_PROFILE_CALLS_SPELLS_H
#define HW_PROFILE_CALLS_SPELLS_H

#include <stdbool.h>
#include <stdint.h>

/* Programs do a little between tests; between probes, some do what they would do anyway. */
enum hw_spell_of { HW_SPELL_TESTS, HW_SPELL_PROBES };

/* Whether a call that is entered now goes on with what the calls before it began. */
bool hw_spell_goes_on(enum hw_spell_of of, uint64_t entered_ns);

/* Whether the wire was looked at for this spell. */
bool hw_spell_is_sampled(void);
void hw_spell_set_sampled(bool is_sampled);

/* The thread waits otherwise. */
void hw_spell_break(void);

/* After each test or probe, whose time the thread has added. If it ends a spell (`is_over`), how long that
 * was, with the time between its calls, which is time in MPI from now on; else 0. Not under the lock. */
uint64_t hw_spell_pass(enum hw_spell_of of, uint64_t entered_ns, uint64_t ended_ns, uint64_t took_ns,
                       bool is_over);

#endif
