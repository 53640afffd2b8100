/* When the progress thread is worth it: decided from what was measured in this run, for each class of
 * operations by itself.
 *
 * A class is a kind of operation, a power of two of its bytes, and whether it sends or receives. Two
 * questions, in this order:
 *
 * Does the program compute while something is pending? If its last windows of overlap had no time between the
 * post and the wait but that in other blocking calls, there is nothing to gain and the thread is not woken.
 * One window with time in it, and the next one gets the thread.
 *
 * Does the thread help? Windows are mostly run with the thread ("on"), now and then without ("off", a
 * control). The cost of a window is what the program lost in it: time blocked in completion and in other
 * blocking calls, time spent waking the thread, and the thread's CPU time where it takes the program's core.
 * The way whose median cost is lower is used until the next control. So a transport that progresses by itself
 * and messages too small to matter make the engine stand down, without anybody having to recognise them.
 * Where the first control shows a loss in every window the thread stops at once, and a control with it is cut
 * short likewise: short runs pay for learning, too.
 *
 * What a window of sends alone gains is its receivers': the data that leave while this process computes would
 * else leave in its wait, at little cost here and late there. So it is with collectives, in which one process
 * often only sends. It shows in how soon the next window of the class opens. Where that is sooner with the
 * thread, the thread may cost this process more.
 *
 * And a third: when have all operations of a window been posted? Programs post in series and repeat
 * themselves; once the length of the series is sure, the thread is woken at its end instead of at its
 * beginning.
 *
 * The sequence of controls depends on the number of the window alone, so that the processes of a regular
 * program try the same at the same time. Pure: no clock, no MPI, no lock; the caller serialises. */
#ifndef HW_ENGINES_THREAD_POLICY_H
#define HW_ENGINES_THREAD_POLICY_H

#include <stdbool.h>
#include <stdint.h>

enum { HW_POLICY_SAMPLE_COUNT = 7, HW_POLICY_IDLE_RUN = 4, HW_POLICY_SURE_RUN = 8 };

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

struct hw_policy_class {
    uint32_t window_count; /* of windows with time to gain, the one that is open included */
    uint32_t idle_run;     /* windows in a row without time to gain, up to HW_POLICY_IDLE_RUN */
    uint32_t next_control; /* number of the window at which the other way is tried again */
    uint32_t control_interval;
    bool stands_down;
    /* Kept here for the caller (overlap.c): bytes of all operations of the last window, and how much longer
     * or shorter the gap between two looks is than the transfer suggests. */
    uint64_t bytes;
    uint32_t gap_percent, gap_cap_percent, good_count;
    uint32_t series_length; /* posts of the last window's first series */
    uint32_t series_run;    /* windows in a row with that many */
    bool is_slow;           /* its windows are so long that a control would cost too much */
    struct hw_policy_samples on;
    struct hw_policy_samples off;
    uint64_t opened_ns;                 /* the window before; 0: it says nothing of periods */
    bool was_on;                        /* that window */
    struct hw_policy_samples on_period; /* from one window's opening to the next one's, is_for_others alone */
    struct hw_policy_samples off_period;
};

/* Begins a window of this class: true if the thread should take part. */
bool hw_policy_begin(struct hw_policy_class *class, uint64_t now_ns);

/* One window as it went. Programs often call MPI_Allreduce or MPI_Recv before they complete what they posted:
 * then what is left of the transfer passes there, and so does what the thread saves. */
struct hw_policy_window {
    bool was_on;
    bool is_for_others; /* what it gains may be its partners': sends alone, or collectives */
    uint64_t opened_ns;
    uint64_t blocked_ns;   /* in completion */
    uint64_t elsewhere_ns; /* in blocking calls that complete none of the window's operations */
    uint64_t overhead_ns;  /* waking the thread, and its CPU time where it takes the program's core */
    uint64_t duration_ns;  /* from the first post until nothing was outstanding */
};

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

/* What a window run without the thread costs in this class: the median of the controls, or 0 if there are too
 * few to compare with. */
uint64_t hw_policy_off_cost_ns(const struct hw_policy_class *class);

/* Ends it. Returns true if this changed the decision for the class. */
bool hw_policy_end(struct hw_policy_class *class, const struct hw_policy_window *window);

#endif
