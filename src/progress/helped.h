/* SPDX-License-Identifier: BSD-3-Clause */
/* The word of a helper (papers/003 section 4.1): what a ghost writes for a process of its node when it has
 * seen a message of that process match, and on which the process's progress thread sleeps.
 *
 * It says when to look, and nothing else: a wrong, late or lost word changes no result, since the trigger's
 * timeout is a net under it. One process sleeps on the word, its helper and its own threads change it. */
#ifndef HW_PROGRESS_HELPED_H
#define HW_PROGRESS_HELPED_H

#include "base/atomic.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

/* In memory that the node shares, on a cache line of its own. */
struct hw_helped_word {
    _Atomic uint32_t word;    /* a futex; counts up with each wake, and with each interrupt of the agent */
    _Atomic uint32_t matched; /* messages that matched; the helper writes, before the word; release */
    _Atomic uint32_t settled; /* how many that were when nothing was pending; the process; release */
    _Atomic uint32_t spared;  /* wakes that were not needed: the process was inside MPI until it had settled;
                               * the helper; relaxed */
    _Atomic uint32_t
        asked; /* one-sided operations that somebody waits for; origins and the helper; seq_cst */
    _Atomic uint32_t answered; /* how many that were when the agent was last about to look; it; seq_cst */
    _Atomic uint32_t is_long;  /* of these some take several looks; relaxed, before `asked` */
    _Atomic uint32_t
        is_lost;           /* the helper has died; a user process of the node, once; release, before `word` */
    _Atomic uint32_t held; /* a match of which nobody has woken the agent, since the process was inside MPI;
                            * whoever takes it away wakes; seq_cst */
    char unused[28];
};
static_assert(sizeof(struct hw_helped_word) == 64, "a cache line");

/* Before the agent opens its triggers, and after it has closed them. */
void hw_helped_open(struct hw_helped_word *word);
void hw_helped_close(void);
bool hw_helped_is_open(void);

/* Operations of this process that no helper can tell of: as long as there are any, the trigger ticks. They
 * count until all are forgotten, when nothing is outstanding. Threads of the program. */
void hw_helped_add_unknown(void);
void hw_helped_forget_unknown(void);

bool hw_helped_has_unknown(void);

/* Whether anybody is to note messages for the helper: not while sockets tell of them. The agent says it. */
void hw_helped_want(bool is_wanted);
bool hw_helped_is_wanted(void);

/* The helper of a process of this node has died; and whether that of this process has. Any thread. */
void hw_helped_lose(struct hw_helped_word *word);
bool hw_helped_is_lost(void);

/* Whether messages complete of which the helper tells nothing: what it is there for is left to the tick. The
 * agent notes it, any thread asks. */
void hw_helped_note_silence(bool is_silent);
bool hw_helped_is_silent(void);
/* There is a helper, and both say that it is of use. */
bool hw_helped_is_listened(void);

/* Nothing is pending: all messages that matched so far are complete. Any thread of the process. */
void hw_helped_settle(void);

/* Whether a match has ended a wait of the agent since it last asked. The agent. */
bool hw_helped_take_woken(void);

/* Of this process, so far. */
uint32_t hw_helped_spared(void);

/* Whether the helper has told of a match since the agent last asked, in time or not. The agent. */
bool hw_helped_take_told(void);

/* By the helper, of a process of its node: one more message matched; its agent is to look; it need not. */
void hw_helped_match(struct hw_helped_word *word);
void hw_helped_wake(struct hw_helped_word *word);
void hw_helped_spare(struct hw_helped_word *word);

/* Somebody is about to tell of a match, and may leave it to the process itself to wake its agent. Then true
 * for the one who takes that away. Any process of the node. */
static inline void hw_helped_hold(struct hw_helped_word *word) { hw_atomic_store_seq_cst(&word->held, 1); }
static inline bool hw_helped_take_held(struct hw_helped_word *word)
{
    return hw_atomic_load_seq_cst(&word->held) != 0 && hw_atomic_exchange_seq_cst(&word->held, 0) != 0;
}

/* This process leaves MPI: wakes its agent if that was left to it. is_over: nothing is pending, so it need
 * not be woken; that is counted. Threads of the program, inside a hook. */
void hw_helped_leave(bool is_over);

/* The agent has found the program inside MPI: sleeps until a word comes, until the program leaves MPI with
 * something that matched, or for so long. */
void hw_helped_rest_inside(uint64_t time_ns);

/* Operations of others wait for this process's progress: false if the agent has yet to look for earlier ones,
 * and need not be woken again. `is_long`: one look will hardly do. Any process of the node. */
bool hw_helped_ask(struct hw_helped_word *word, bool is_long);
static inline bool hw_helped_is_asked(const struct hw_helped_word *word)
{
    return hw_atomic_load_seq_cst(&((struct hw_helped_word *)word)->asked) !=
           hw_atomic_load_seq_cst(&((struct hw_helped_word *)word)->answered);
}

/* Whether somebody has asked this process since its agent last looked, and the agent listens. Any thread. */
bool hw_helped_is_own_asked(void);

/* Whether anything that matched may be incomplete. Any process of the node. */
static inline bool hw_helped_is_moving(const struct hw_helped_word *word)
{
    return hw_atomic_load_acquire(&((struct hw_helped_word *)word)->matched) !=
           hw_atomic_load_acquire(&((struct hw_helped_word *)word)->settled);
}

#endif
