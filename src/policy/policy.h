/* SPDX-License-Identifier: BSD-3-Clause */
/* The policy decides when the progress thread is worth it, from what was measured in this run, for each class
 * of operations by itself.
 *
 * A class is a kind of operation, a power of two of its bytes, and whether it sends or receives. The cost of
 * a window of overlap is what the program lost in it: time blocked in completion and in other blocking calls,
 * time spent waking the thread, and the thread's CPU time where it takes the program's core.
 *
 * The thread takes part from the first window that computes on. What a window would cost without it is
 * estimated from what costs nothing to learn: how long windows take that wait at once, when the thread saw
 * bytes move, and whether bytes moved before it looked first. A window is run otherwise than is thought best
 * only to learn, in one of three ways:
 *
 *   PROBE    the thread comes later by a part of the transfer, and watches the transport's byte counters
 *            meanwhile. As long as bytes move by themselves it goes on watching: then the kernel or the
 *            network does it all, and the window was one without the thread; unless the program then waits
 *            for longer than the rest of the transfer takes. Else it begins.
 *   control  a window without the thread, where there is nothing to watch (messages within a node do not
 *            move on the wire), or where what is known of the costs with and without it is too much alike.
 *   trial    a window with the thread, while it stands down.
 *
 * What probes and controls of all classes cost together is kept below a fiftieth of what the thread has saved
 * (struct hw_policy_ledger), but for the first one of a class about which nothing else is known. Where the
 * thread itself takes more than doing without it costs, in two windows in a row, it stops. Where windows only
 * take longer with it, that is believed after some more: partners wait for one another for many reasons, and
 * one that stops is no help to the other.
 *
 * A program may wait at once for long and then begin to compute, or stop computing: windows without time
 * between post and wait are counted apart, and decide nothing.
 *
 * What a window of sends alone gains is its receivers': the data that leave while this process computes would
 * else leave in its wait, at little cost here and late there. So it is with collectives, in which one process
 * often only sends. It shows in how soon the next window of the class opens. Where that is sooner with the
 * thread, the thread may cost this process more.
 *
 * And another question: when have all operations of a window been posted? Programs post in series and repeat
 * themselves; once the length of the series is sure, the thread is woken at its end instead of at its
 * beginning.
 *
 * Probes, controls and trials come at certain numbers of windows, so that the processes of a regular program
 * try the same at the same time: two that decide differently would each wait for the other's progress. Pure:
 * no clock, no MPI, no lock; the caller serialises. */
#ifndef HW_POLICY_POLICY_H
#define HW_POLICY_POLICY_H

#include "policy/hold.h"
#include "policy/late.h"

#include <stdbool.h>
#include <stdint.h>

enum { HW_POLICY_SAMPLE_COUNT = 7, HW_POLICY_IDLE_RUN = 4, HW_POLICY_SURE_RUN = 8 };

/* How a window is run. */
enum hw_policy_way {
    HW_POLICY_WAY_OFF,   /* the thread takes no part */
    HW_POLICY_WAY_ON,    /* it does */
    HW_POLICY_WAY_PROBE, /* it does as soon as the transfer does not go on by itself */
};

/* What a post means for the thread. */
enum hw_policy_post {
    HW_POLICY_POST_OFF,      /* the thread takes no part in this window */
    HW_POLICY_POST_MORE,     /* more posts of the same series are sure to follow: leave the thread alone until
                                then */
    HW_POLICY_POST_TELL,     /* the thread should know; more may follow */
    HW_POLICY_POST_COMPLETE, /* likewise, and the series is complete */
};

struct hw_policy_samples {
    uint64_t cost_ns[HW_POLICY_SAMPLE_COUNT];
    uint32_t count; /* ever taken; the last HW_POLICY_SAMPLE_COUNT are kept */
};

/* Of the whole run: what the thread has saved by the best estimate, and what was spent to learn. */
struct hw_policy_ledger {
    uint64_t saved_ns, spent_ns;
};

struct hw_policy_estimate {
    uint64_t low_ns, cost_ns, high_ns;
};

/* Windows with the thread, summed up. The caller's (window.c), but for hw_policy_without(). */
struct hw_policy_judged {
    uint64_t windows;
    uint64_t waited_ns, on_ns, kernel_ns; /* kernel_ns: of on_ns, what may be as much more or less */
    uint64_t free_ns;                     /* that the program did not wait */
    uint64_t gap_ns;                      /* at which the thread looked last */
    uint64_t told_on_ns;                  /* what is in the counters of it */
    struct hw_policy_estimate told;
};

struct hw_policy_class {
    struct hw_policy_judged judged;
    struct hw_policy_hold hold; /* the caller's (window.c) */
    /* Set by the caller: what is under way in one window is completed in a later one, and moves in its waits
     * as well. How long a transfer takes says little of what is lost without the thread: only controls do. */
    bool is_continued;
    bool stands_down;
    uint32_t idle_run;        /* windows in a row without time to gain, up to HW_POLICY_IDLE_RUN */
    uint64_t window_count;    /* of windows with time to gain, the one that is open included */
    uint64_t next_control;    /* number of the window at which the other way is tried again */
    uint64_t blind_until;     /* the number of a window before which it does not watch again */
    uint64_t off_window;      /* number of the last one without the thread */
    uint32_t control_run;     /* windows of the control or trial under way that are still to come */
    bool has_wire;            /* bytes can be counted: the last window said so */
    bool is_on_wire;          /* and some window's bytes were among them */
    uint32_t natural_percent; /* of the bytes that moved before a probe ended, by the last one */
    bool was_probed;
    uint32_t vain_run;    /* probes in a row that ended with much left to move */
    uint32_t natural_run; /* windows in a row that went by themselves */
    uint32_t blind_run;   /* windows that the thread watched to the end, though it was needed */
    uint32_t lost_run;    /* trials in a row that cost the partners rounds, up to a few */
    struct hw_policy_late late;
    /* Kept here for the caller (window.c): bytes of all operations of the last window, and how much longer
     * or shorter the gap between two looks is than the transfer suggests. */
    uint32_t rounds; /* of a window, where is_continued; 0: not known yet */
    uint64_t bytes;
    uint32_t gap_percent, gap_cap_percent, good_count;
    uint32_t series_length; /* posts of the last window's first series */
    uint32_t series_run;    /* windows in a row with that many */
    bool is_slow;           /* its windows are so long that a control would cost too much */
    uint64_t duration_ns;   /* of the last window */
    struct hw_policy_samples on, off;
    struct hw_policy_samples overhead; /* of windows with the thread: what it took itself */
    struct hw_policy_samples alone; /* the transfer with nothing to overlap it: windows that waited at once */
    struct hw_policy_samples moving;    /* how long the thread saw bytes move */
    struct hw_policy_samples helped;    /* how long what it saw move takes on the wire */
    bool is_for_others;                 /* the last window was */
    uint64_t opened_ns;                 /* the window before; 0: it says nothing of periods */
    bool was_on;                        /* that window */
    struct hw_policy_samples on_period; /* from one window's opening to the next one's, is_for_others alone */
    struct hw_policy_samples off_period;
};

/* Begins a window of this class. */
enum hw_policy_way hw_policy_begin(struct hw_policy_class *class, const struct hw_policy_ledger *ledger,
                                   uint64_t now_ns);

/* For how long a probe watches before it asks whether bytes have moved. None in so long, and none under way,
 * means that the transfer does not go on by itself; so it is the price of a probe, too. */
uint64_t hw_policy_probe_ns(const struct hw_policy_class *class);

/* The same where a window looks as if its transfer needed nobody: how long a transfer takes may not be known,
 * since the kernel took it all at once, so it is not below the time between two bursts. 0: no probe, since
 * the last ones of the class ended with much left to move, or in a long wait. */
uint64_t hw_policy_watch_ns(const struct hw_policy_class *class);

/* One window as it went. Programs often call MPI_Allreduce or MPI_Recv before they complete what they posted:
 * then what is left of the transfer passes there, and so does what the thread saves. */
struct hw_policy_window {
    bool was_on;            /* the thread took part, if only in the end */
    bool was_probe;         /* it came late, and took part in the end */
    bool went_by_itself;    /* it watched only: bytes moved until the program waited */
    bool is_for_others;     /* what it gains may be its partners': sends alone, or collectives */
    bool has_wire;          /* bytes can be counted */
    uint64_t natural_bytes; /* of a probe: that moved before the thread took part, or were on their way */
    bool has_unsent;        /* and others were not */
    uint64_t wire_bytes;    /* that the thread saw move in all */
    uint64_t bytes;         /* of all operations */
    bool is_cut;            /* something was still outstanding: it ended only because it was long */
    bool was_held;          /* before its sends (hold.h) */
    bool is_half_late;      /* half of an exchange was posted while the other was under way (late.h) ... */
    uint64_t early_free_ns; /* ... after the program had been outside MPI for so long */
    bool is_half_unseen;    /* or whether it was is not known */
    uint64_t opened_ns;
    uint64_t blocked_ns;   /* in completion */
    uint64_t elsewhere_ns; /* in blocking calls that complete none of the window's operations */
    uint64_t posting_ns;   /* in posts, but for the first one */
    uint64_t overhead_ns;  /* waking the thread, and its CPU time where it takes the program's core */
    uint64_t duration_ns;  /* from the first post until nothing was outstanding */
    uint64_t moving_ns;    /* from the first to the last look of the thread between which bytes moved; 0: not
                              known */
    bool has_helped;       /* the next is known */
    uint64_t helped_ns;    /* what moved while the thread took part takes so long on the wire */
};

/* The least time between post and wait that is worth a wake-up, which costs the program 6 to 15 us, and is
 * more than posting takes; and as a part of the wait. */
#define HW_POLICY_MIN_GAIN_NS UINT64_C(60000)
enum { HW_POLICY_GAIN_PARTS = 16 };

/* Posts that follow one another within this time are one series: less computation between them is not worth
 * progress. */
#define HW_POLICY_SERIES_GAP_NS UINT64_C(300000)
static inline uint64_t hw_policy_least_free_ns(const struct hw_policy_window *window)
{
    return HW_POLICY_MIN_GAIN_NS + (window->blocked_ns + window->elsewhere_ns) / HW_POLICY_GAIN_PARTS;
}

/* For how long it was not in MPI. */
static inline uint64_t hw_policy_free_ns(const struct hw_policy_window *window)
{
    uint64_t inside_ns = window->blocked_ns + window->elsewhere_ns + window->posting_ns;
    return window->duration_ns > inside_ns ? window->duration_ns - inside_ns : 0;
}

/* What the program lost in it. */
static inline uint64_t hw_policy_cost_ns(const struct hw_policy_window *window)
{
    return window->blocked_ns + window->elsewhere_ns + window->overhead_ns;
}

/* The first series of posts of a window, which the thread should not disturb and need not be woken before its
 * end: how long it is going to be is known once HW_POLICY_SURE_RUN windows in a row had as many posts. */
enum hw_policy_post hw_policy_series_post(const struct hw_policy_class *class, uint32_t count);
void hw_policy_series_end(struct hw_policy_class *class, uint32_t count);

/* How long the transfer of a window of this class takes when nothing overlaps it; 0 while unknown. */
uint64_t hw_policy_transfer_ns(const struct hw_policy_class *class);

/* What a window run without the thread costs in this class, as far as is known; 0 while it is not. */
uint64_t hw_policy_off_cost_ns(const struct hw_policy_class *class);

/* What the class's windows with the thread (judged) would have cost without it, all together, between what is
 * surely so and what may be, by all that is known now. Not what the policy decides by: a partner that comes
 * late is waited for in both ways, so a wait with the thread is no sign that it brought nothing. low_ns <=
 * cost_ns <= high_ns; all 0 while nothing is known. */
struct hw_policy_estimate hw_policy_without(const struct hw_policy_class *class);

/* Ends it. Returns true if this changed the decision for the class. */
bool hw_policy_end(struct hw_policy_class *class, struct hw_policy_ledger *ledger,
                   const struct hw_policy_window *window);

#endif
