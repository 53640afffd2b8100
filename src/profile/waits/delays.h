/* SPDX-License-Identifier: BSD-3-Clause */
/* For whom a thread waited, and what it did before it gave others what they waited for: what is needed to
 * follow a wait to the rank that was late, and to what that rank did meanwhile, over the records of all
 * ranks.
 *
 * Of everything that takes longer than HW_DELAY_LEAST_NS two sums are kept, of bounded number: the gaps, time
 * outside MPI between two call sites; and the exchanges, time in a call site for one partner, or for all of
 * a communicator. The last few such events of a thread are remembered. When it gives something to a partner
 * (a send, its part of a collective) those since it last did are put down to the exchange, and when it takes
 * something those since it last took. Of one message after the other that is the same time on both sides: who
 * computed longer meanwhile was late, who waited longer passed on that another was, as in D. Boehme, M.
 * Geimer, L. Arnold, F. Voigtlaender, F. Wolf: Identifying the root causes of wait states in large-scale
 * parallel applications (ACM TOPC 3:2, 2016), in sums and without a trace.
 *
 * A call that is short and follows another shortly costs three compares. Looks at what was done before cost
 * no more than one part in a hundred of the time of the events.
 *
 * Internal to src/profile. Ranks are those of a communicator here, and of the world in the record. */
#ifndef HW_PROFILE_WAITS_DELAYS_H
#define HW_PROFILE_WAITS_DELAYS_H

#include "base/clock.h"
#include "profile/callers/comms.h"
#include "profile/callers/note.h"
#include "profile/callers/sites.h"

#include <stdbool.h>
#include <stdint.h>

#define HW_DELAY_LEAST_NS (20 * HW_NS_PER_US)
/* What was done before is looked at once for so long an event. */
#define HW_DELAY_LOOK_NS (10 * HW_NS_PER_US)

/* Whom a call is about: ranks of the communicator, or one of these. */
enum {
    HW_DELAY_NOBODY = -1,
    HW_DELAY_ALL = -2,
    HW_DELAY_IF_ROOT = -3, /* gives to all, if it is the root, which it takes from */
    HW_DELAY_ANYBODY = -4, /* somebody; it is not known who */
};
struct hw_delay_who {
    uint64_t handle; /* of the communicator; 0: the ranks are the world's */
    int gives, takes;
    int tag; /* negative: none, or any */
};
#define HW_DELAY_NO_WHO ((struct hw_delay_who){0, HW_DELAY_NOBODY, HW_DELAY_ANYBODY, -1})

enum { HW_DELAY_EVENT_COUNT = 16, HW_DELAY_SEEN_SET_COUNT = 16, HW_DELAY_SEEN_WAY_COUNT = 8 };

/* A moment of a thread: the events it has had by then, and the time in them. */
struct hw_delay_mark {
    uint64_t event_count; /* a run of weeks has more than 2^32 */
    uint64_t gap_ns, wait_ns;
};

/* Of one thread. */
struct hw_delays {
    /* The last call. */
    uint64_t ended_ns; /* 0: none yet */
    const void *site;
    const char *function;
    uint64_t bytes;
    unsigned looks_left;                /* at what it did before it gave or took */
    struct hw_delay_mark now, together; /* the latter: when the whole world last was */
    /* The last events, in a ring. */
    struct {
        uint64_t ns;
        int cause; /* an exchange, or -1 less the index of a gap */
    } events[HW_DELAY_EVENT_COUNT];
    /* When it last gave a partner something, or took it, each way by itself; in the set of the partner's
     * hash. */
    struct hw_delay_seen {
        int keys[HW_DELAY_SEEN_WAY_COUNT];
        struct hw_delay_mark marks[HW_DELAY_SEEN_WAY_COUNT];
    } seen[HW_DELAY_SEEN_SET_COUNT];
};

/* Whether hw_delays_add would do anything; if not, hw_delays_pass is all there is to do. */
static inline bool hw_delays_is_news(const struct hw_delays *mine, uint64_t call_began_ns, uint64_t took_ns,
                                     bool has_partner)
{
    return call_began_ns - mine->ended_ns > HW_DELAY_LEAST_NS || took_ns > HW_DELAY_LEAST_NS ||
           (has_partner && mine->looks_left);
}

static inline bool hw_delays_has_partner(int gives, int takes)
{
    return gives != HW_DELAY_NOBODY || takes > HW_DELAY_NOBODY;
}

/* Collectives after which a rank knows that all others had come (MPI-4.1 chapter 6). Of MPI_Alltoallv and
 * MPI_Alltoallw it does not: most counts may be zero, and whom it exchanges nothing with it does not wait
 * for. */
static inline bool hw_delays_is_for_all(const char *function)
{
    switch (function[0]) {
    case 'B':
        return function[1] == 'a'; /* Barrier */
    case 'A':
        if (function[1] != 'l' || function[2] != 'l')
            return false;
        return function[3] != 't' || (function[8] != 'v' && function[8] != 'w'); /* Alltoall, and others */
    case 'R':
        return function[1] == 'e' && function[6] == '_'; /* Reduce_scatter */
    default:
        return false;
    }
}

static inline void hw_delays_pass(struct hw_delays *mine, const void *site, const char *function,
                                  uint64_t bytes, uint64_t ended_ns)
{
    mine->ended_ns = ended_ns;
    mine->site = site;
    mine->function = function;
    mine->bytes = bytes;
}

/* Makes the tables. False if there is no memory. */
bool hw_delays_open(void);

/* The same in ranks of the world, which are known while the communicator lives: for what is completed later.
 * What it takes is told by a door, so the root of a collective takes from somebody. Under the lock, as all
 * below. */
struct hw_delay_who hw_delays_in_world(const struct hw_delay_who *who);

/* Calls of the thread that owns `mine`, in the order they are made: the gap before the call, what it gives,
 * the wait in it; hw_delays_pass. */
void hw_delays_add(struct hw_delays *mine, const struct hw_profile_note *call,
                   const struct hw_delay_who *who);

/* Likewise of a post: what it takes is waited for later. */
void hw_delays_post(struct hw_delays *mine, const struct hw_profile_note *call,
                    const struct hw_delay_who *who);

/* Whom a door that completes requests was for. It begins as zeros. */
enum hw_delay_way { HW_DELAY_TO, HW_DELAY_FROM, HW_DELAY_WITH_ALL, HW_DELAY_UNKNOWN };
struct hw_delay_partner {
    enum hw_delay_way way;
    int rank; /* of the world; TO and FROM */
    int tag;
    struct hw_profile_comm *comm; /* WITH_ALL */
};
enum { HW_DELAY_PARTNER_COUNT = 16 };
struct hw_delay_door {
    int count;
    bool is_unknown; /* some request's partner is not known, or there is no room for it */
    struct hw_delay_partner partners[HW_DELAY_PARTNER_COUNT];
};

/* One more request that it completed. */
void hw_delays_door_add(struct hw_delay_door *door, const struct hw_delay_who *who,
                        struct hw_profile_comm *comm);

/* As hw_delays_add, of a door. `waited_ns`: in it and in tests that end in it. */
void hw_delays_door(struct hw_delays *mine, const struct hw_profile_note *call, uint64_t waited_ns,
                    const struct hw_delay_door *door);

/* Add the entries to two lists of the record. */
void hw_delays_write_gaps(struct hw_record_list *list, const void *unused);
void hw_delays_write_exchanges(struct hw_record_list *list, const void *unused);

#endif
