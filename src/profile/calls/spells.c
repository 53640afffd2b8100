/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile/calls/spells.h"

#include "base/clock.h"
#include "profile/calls/threads.h"

/* Calls less apart than this belong together. */
static const uint64_t gap_ns[] = {[HW_SPELL_TESTS] = 10 * HW_NS_PER_US, [HW_SPELL_PROBES] = 2 * HW_NS_PER_US};
/* An interrupt, or another process on the core, may now and then come between two of them: after some in a
 * row a gap is forgiven that is no longer than the spell so far. What looks at many requests in turn, and
 * computes before it looks again, does not wait. */
#define BREAK_NS (20 * HW_NS_PER_MS)
enum { ROW_COUNT = 16 };

static _Thread_local struct {
    uint64_t began_ns, ended_ns; /* ended_ns is 0: there is none */
    uint64_t mpi_ns;             /* the thread's time in MPI before it */
    unsigned row_count;          /* since the last long gap */
    bool is_sampled;
} spell __attribute__((tls_model("initial-exec")));

bool hw_spell_goes_on(enum hw_spell_of of, uint64_t entered_ns)
{
    if (!spell.ended_ns)
        return false;
    uint64_t apart_ns = hw_thread_between_ns(spell.ended_ns, entered_ns);
    return apart_ns < gap_ns[of] || (apart_ns < BREAK_NS && spell.row_count >= ROW_COUNT &&
                                     apart_ns <= spell.ended_ns - spell.began_ns);
}

bool hw_spell_is_sampled(void) { return spell.is_sampled; }
void hw_spell_set_sampled(bool is_sampled) { spell.is_sampled = is_sampled; }
void hw_spell_break(void) { spell.ended_ns = 0; }

/* How long it was. What was done between its calls was waiting as well. */
static uint64_t end(uint64_t ended_ns)
{
    uint64_t whole_ns = hw_thread_between_ns(spell.began_ns, ended_ns);
    uint64_t inside_ns = hw_thread_mpi_ns(hw_profile_mine) - spell.mpi_ns;
    if (whole_ns > inside_ns)
        hw_thread_add_between(hw_profile_mine, spell.began_ns, ended_ns, whole_ns - inside_ns);
    return whole_ns;
}

uint64_t hw_spell_pass(enum hw_spell_of of, uint64_t entered_ns, uint64_t ended_ns, uint64_t took_ns,
                       bool is_over)
{
    bool is_first = !hw_spell_goes_on(of, entered_ns);
    if (is_first) {
        spell.began_ns = entered_ns;
        spell.mpi_ns = hw_thread_mpi_ns(hw_profile_mine) - took_ns;
        spell.is_sampled = false;
    }
    bool is_near = !is_first && hw_thread_between_ns(spell.ended_ns, entered_ns) < gap_ns[of];
    spell.row_count = is_near ? spell.row_count + 1 : 0;
    spell.ended_ns = is_over ? 0 : ended_ns;
    return is_over && !is_first ? end(ended_ns) : 0;
}
