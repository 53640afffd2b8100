/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether somebody waits for this process while it computes: what makes it worth an agent that serves the
 * windows that it exposes (papers/001 section 5: a thread that nobody needs costs the program).
 *
 * Evidence is data that lie unread when the program comes back to MPI: they came while it computed, so
 * whoever sent them has waited for half of that time in the mean. With an agent there is no evidence, since
 * it reads them; so after a term the agent stands back and evidence is gathered anew.
 *
 * Unread data are no proof: where they are large and their sender computes as well, the kernel takes them and
 * nobody waits. So the begin of a term is judged: the agent's turns are worth their price where something was
 * sent in them that would not have left before the program came back. Pure: the caller has the clock, and
 * serialises. */
#ifndef HW_POLICY_AWAITED_H
#define HW_POLICY_AWAITED_H

#include <stdbool.h>
#include <stdint.h>

/* A term is judged each time that its turns have cost as much. */
#define HW_POLICY_AWAITED_VERDICT_NS UINT64_C(2000000)

struct hw_policy_awaited {
    bool is_awaited;    /* an agent is worth its price */
    uint32_t sightings; /* of unread data, since then */
    uint64_t since_ns;  /* when the present state began */
    uint64_t looked_ns; /* the last look */
    uint64_t seen_ns;   /* waited as seen */
    uint64_t waited_ns; /* and what that stands for */
    uint64_t term_ns;   /* how long to serve before evidence is gathered anew */
    bool is_settled;    /* this term was worth it so far: no more judging */
    uint32_t good_verdicts;
    uint64_t cost_ns;  /* of the agent's turns, in this term */
    uint64_t gain_ns;  /* by how much their answers left earlier */
    uint64_t pause_ns; /* after a term in vain */
    uint64_t until_ns; /* when that pause is over */
};

/* Evidence is gathered from now on. */
void hw_policy_awaited_begin(struct hw_policy_awaited *awaited, uint64_t now_ns);

/* A look when the program came to MPI, gap_ns after it had come by before: whether data lay unread. Stands
 * for all the time since the last look: a look falls into a gap the likelier the longer it is. True if
 * is_awaited has become true. */
bool hw_policy_awaited_seen(struct hw_policy_awaited *awaited, bool has_unread, uint64_t gap_ns,
                            uint64_t now_ns);

/* Whether the caller is to tell of turns and gains. */
bool hw_policy_awaited_is_judged(const struct hw_policy_awaited *awaited);

/* A turn of the agent that nothing but the windows asked for, which took so long. */
void hw_policy_awaited_turn(struct hw_policy_awaited *awaited, uint64_t took_ns);

/* The program was away so long after a turn in which an answer was sent. */
void hw_policy_awaited_gain(struct hw_policy_awaited *awaited, uint64_t gain_ns);

/* The term cannot be judged: its turns count as worth it. */
void hw_policy_awaited_settle(struct hw_policy_awaited *awaited);

/* True if the term is over: is_awaited has become false. has_returned: the program came back to MPI since the
 * turns have cost enough for a verdict; the answer to what is still on its way comes at its end. */
bool hw_policy_awaited_is_over(struct hw_policy_awaited *awaited, bool has_returned, uint64_t now_ns);

/* How many entries into MPI one look at the clock may stand for, where `count` of them took `elapsed_ns`: a
 * clock costs a thousandth of the time between two looks at most. */
uint32_t hw_policy_awaited_stride(uint64_t elapsed_ns, uint32_t count);

#endif
