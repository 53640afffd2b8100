/* SPDX-License-Identifier: BSD-3-Clause */
/* What a profiled thread keeps to itself: the time it has spent in MPI, and its last calls, noted one after
 * the other as they were made. Looking up call sites and adding up is done for many at once: between two
 * calls of a program the tables are no longer in the caches, and a call would wait for memory some ten times.
 *
 * A block belongs to one thread while it lives, and then to the next one that comes. Internal to src/profile.
 */
#ifndef HW_PROFILE_CALLS_THREADS_H
#define HW_PROFILE_CALLS_THREADS_H

#include "base/atomic.h"
#include "base/visibility.h"
#include "profile/callers/callers.h"
#include "profile/callers/comms.h"
#include "profile/callers/note.h"
#include "profile/calls/slices.h"
#include "profile/waits/delays.h"

#include <stdbool.h>
#include <stdint.h>

/* Added up from so many on, after a call that took no longer than the one before: after one that waited,
 * others may be waiting for what the thread does next. */
enum { HW_NOTE_ENOUGH = 24, HW_NOTE_COUNT = 48 };

struct hw_profile_thread {
    atomic_uint_fast64_t mpi_ns; /* of its owners so far; the owner writes, anybody reads (relaxed) */
    struct hw_slices_share slices;
    /* Notes up to `note_count` are complete: the owner writes it, released. Those before `summed_count` have
     * been added up; both are set back under the lock, by the owner. */
    atomic_uint note_count;
    unsigned summed_count;
    unsigned note_limit;     /* HW_NOTE_ENOUGH, or 1; the owner's */
    uint64_t paused_ns;      /* since when; 0: it is not; the owner's */
    struct hw_delays delays; /* the owner's */
    struct hw_comms_cache comms;
    struct hw_one_sided_mine *one_sided;         /* the owner's (one_sided.h); NULL until it uses windows */
    struct hw_profile_thread *next, *next_free;  /* under the lock */
    struct hw_profile_note notes[HW_NOTE_COUNT]; /* calls that leave nothing pending */
};

/* Of the calling thread; NULL until hw_threads_begin. */
extern HW_HIDDEN _Thread_local struct hw_profile_thread *hw_profile_mine
    __attribute__((tls_model("initial-exec")));

/* The calling thread gets a block, if it has none. False if there is no memory. */
bool hw_threads_begin(void);

/* The calling thread's block, everything in it added up, goes to the next that comes. Under the lock. */
void hw_threads_end(void);

/* All blocks there are, linked by `next`. Under the lock. */
struct hw_profile_thread *hw_threads_first(void);

/* Time in MPI of all threads so far. */
uint64_t hw_threads_mpi_ns(void);

/* Adds up what the calling thread has noted, of which the last was about `who` (calls.c). */
void hw_thread_sum_up(struct hw_profile_thread *mine, struct hw_delay_who who);

/* hw_delays_add of a call that leaves nothing pending; takes the lock (calls.c). */
void hw_thread_delayed(struct hw_profile_thread *mine, struct hw_profile_note note, struct hw_delay_who who);

static inline uint64_t hw_thread_between_ns(uint64_t began, uint64_t ended)
{
    return ended > began ? ended - began : 0;
}

static inline uint64_t hw_thread_mpi_ns(const struct hw_profile_thread *mine)
{
    return hw_atomic_load_relaxed(&mine->mpi_ns);
}

/* A call that ended now. */
static inline void hw_thread_add_time(struct hw_profile_thread *mine, uint64_t ended_ns, uint64_t took_ns)
{
    hw_atomic_store_relaxed(&mine->mpi_ns, hw_thread_mpi_ns(mine) + took_ns);
    hw_slices_add(&mine->slices, ended_ns, took_ns);
}

/* Time between calls that is no computation, spread evenly from `began_ns` to `ended_ns`, which is now. */
static inline void hw_thread_add_between(struct hw_profile_thread *mine, uint64_t began_ns, uint64_t ended_ns,
                                         uint64_t ns)
{
    hw_atomic_store_relaxed(&mine->mpi_ns, hw_thread_mpi_ns(mine) + ns);
    hw_slices_spread(began_ns, ended_ns, ns);
}

/* For whom a call that leaves nothing pending was, and what was done before it. */
static inline void hw_thread_delay(struct hw_profile_thread *mine, const struct hw_profile_note *note,
                                   const struct hw_delay_who *who)
{
    if (__builtin_expect(hw_delays_is_news(&mine->delays, note->began_ns, note->took_ns,
                                           hw_delays_has_partner(who->gives, who->takes)),
                         0))
        hw_thread_delayed(mine, *note, *who);
    else
        hw_delays_pass(&mine->delays, note->site, note->function, note->bytes,
                       note->began_ns + note->took_ns);
}

/* ... to be added up later. */
static inline void hw_thread_list(struct hw_profile_thread *mine, const struct hw_profile_note *note,
                                  struct hw_delay_who who)
{
    unsigned before = hw_atomic_load_relaxed(&mine->note_count);
    mine->notes[before] = *note;
    hw_atomic_store_release(&mine->note_count, before + 1);
    if (before + 1 >= mine->note_limit &&
        (before == 0 || note->took_ns <= mine->notes[before - 1].took_ns || before + 1 == HW_NOTE_COUNT))
        hw_thread_sum_up(mine, who);
}

static inline void hw_thread_keep(struct hw_profile_thread *mine, struct hw_profile_note note,
                                  struct hw_delay_who who)
{
    hw_thread_delay(mine, &note, &who);
    hw_thread_list(mine, &note, who);
}

/* `site` is as hw_callers_find gives it. */
static inline void hw_thread_note(struct hw_profile_thread *mine, uint64_t began_ns, uint64_t ended_ns,
                                  const char *function, const void *site, uint64_t bytes,
                                  struct hw_profile_comm *comm, struct hw_delay_who who)
{
    uint64_t took_ns = hw_thread_between_ns(began_ns, ended_ns);
    hw_thread_add_time(mine, ended_ns, took_ns);
    hw_thread_keep(mine, (struct hw_profile_note){site, function, comm, bytes, began_ns, took_ns}, who);
}

#endif
