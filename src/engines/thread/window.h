/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of the window of overlap (overlap.h), and its life: it is opened, goes on, and is closed, when
 * the policy learns from it. For overlap.c, which holds the lock in every call. */
#ifndef HW_ENGINES_THREAD_WINDOW_H
#define HW_ENGINES_THREAD_WINDOW_H

#include "base/atomic.h"
#include "engines/thread/halves.h"
#include "engines/thread/movement.h"
#include "engines/thread/probe.h"
#include "objects/request.h"
#include "policy/hold.h"
#include "policy/policy.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

extern pthread_mutex_t hw_window_lock;

/* The open window; NULL class while there is none. Under the lock. */
struct hw_window {
    struct hw_policy_class *class, *next_class; /* of the window after it, if that goes on */
    bool is_on;
    uint64_t opened_ns, bytes;
    uint64_t thread_cpu_ns; /* of the progress thread, when it opened */
    uint64_t blocked_ns, wake_ns;
    uint64_t elsewhere_ns;    /* in blocking calls that are no doors */
    uint64_t posts_since_ns;  /* the post under way; 0: none that is timed */
    uint64_t posting_ns;      /* in posts, but for the first one */
    bool has_gone;            /* somebody was told to start the thread on it */
    bool is_probe, has_begun; /* the thread comes later; it has come */
    struct hw_probe probe;
    uint64_t sent_bytes;     /* of bytes, those that this process sends */
    uint64_t received_bytes; /* those that it receives, and all that were posted before */
    struct hw_halves halves;
    struct hw_movement movement;
    bool is_series_over; /* the first series of posts */
    bool is_interfered;  /* the policy learns nothing from it */
    bool is_for_others;
    bool is_held; /* the thread does not come before the sends are posted */
    struct hw_policy_held held;
    uint32_t series_count;
    uint32_t base;          /* what was outstanding before it */
    uint32_t round_count;   /* so often as much was completed as was posted */
    bool has_posts;         /* something was posted in it */
    bool has_completed;     /* something outstanding was completed, and other things were not */
    uint64_t earlier_bytes; /* of bytes, those that were pending before it */
};
extern struct hw_window hw_window;

/* What was outstanding as of the last post or door. Under the lock. */
extern uint32_t hw_window_outstanding;

/* The program has paused the thread, or listens to it. Under the lock. */
extern bool hw_window_is_paused, hw_window_is_listened;

/* What any thread reads without the lock; relaxed. */
struct hw_window_shown {
    atomic_bool is_open, is_on, is_continued;
    atomic_uint_fast64_t gap_ns;
    atomic_bool has_rounds, waits_at_once, expects_wait, is_holding;
    atomic_bool wants_wire, is_first_look;
    atomic_uint_fast64_t last_post_ns;
    atomic_uint_fast64_t watch_ns; /* of a probe that has not begun */
};
extern struct hw_window_shown hw_window_shown;

/* As hw_overlap_start(). */
void hw_window_start(pthread_t thread, const cpu_set_t *allowed);

/* The class of a window that begins with such an operation. */
struct hw_policy_class *hw_window_class_of(enum hw_request_kind kind, uint64_t bytes, bool is_receive);

/* By the first operation of a window, before that is counted. */
void hw_window_open(enum hw_request_kind kind, uint64_t bytes, bool is_receive, uint64_t now_ns);

/* `is_cut`: something is still outstanding. */
void hw_window_close(uint64_t now_ns, bool is_cut);

/* The program goes on with what is under way in the place of what it has completed. */
void hw_window_continue(uint64_t now_ns);

/* The first series of posts is over. */
void hw_window_end_series(void);

/* The thread watches first, so long at most. */
void hw_window_begin_probe(uint64_t patience_ns);

/* Whether the thread is held back until the sends are posted. */
void hw_window_hold(bool is_held);

/* Ends that if they are. True if it was held, and may come now. */
bool hw_window_let_go(void);

#endif
