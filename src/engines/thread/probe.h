/* SPDX-License-Identifier: BSD-3-Clause */
/* A probe watches the transport's connections instead of making progress, as long as the window's transfer
 * goes on by itself (policy.h). No clock, no lock: the caller serialises. */
#ifndef HW_ENGINES_THREAD_PROBE_H
#define HW_ENGINES_THREAD_PROBE_H

#include <stdbool.h>
#include <stdint.h>

/* What the connections tell (progress/wire.h): bytes carried so far both ways, handed to them but not yet
 * carried, of these still to be sent, and come but not yet read, which the first look alone knows; has_wire
 * is false where that cannot be known. */
struct hw_probe_wire {
    bool has_wire;
    uint64_t moved_bytes, queued_bytes, unsent_bytes, unread_bytes;
};

/* The window that is probed. */
struct hw_probe_window {
    uint64_t bytes, sent_bytes; /* of all its operations, and of its sends */
    bool has_rounds;            /* of messages that wait for one another: a collective's */
};

/* All zero at first. */
struct hw_probe {
    uint64_t patience_ns; /* in which something must move */
    uint64_t looked_ns;   /* the first look, and what was queued then */
    uint64_t queued_bytes;
    uint64_t watched_ns, watched_bytes; /* when last something had moved, and how much */
    uint64_t natural_bytes;             /* moved since the first look, until the thread came */
    uint64_t on_way_bytes;              /* or before the first look, or were on their way when it came */
    bool has_unsent;                    /* then there were more than on their way */
};

/* The first look at the connections, before any poll. */
void hw_probe_look_first(struct hw_probe *probe, const struct hw_probe_wire *wire,
                         const struct hw_probe_window *window, uint64_t now_ns);

/* All that the window sends is in the connections; or data come that nobody had to ask for. */
bool hw_probe_seems_to_go(const struct hw_probe_wire *wire, const struct hw_probe_window *window);

/* After watching. True if the thread is to go on watching. */
bool hw_probe_goes_on(struct hw_probe *probe, const struct hw_probe_wire *wire,
                      const struct hw_probe_window *window, uint64_t now_ns);

/* For how long, then. */
uint64_t hw_probe_next_ns(const struct hw_probe *probe, const struct hw_probe_wire *wire,
                          const struct hw_probe_window *window, uint64_t now_ns);

/* The thread comes now. */
void hw_probe_end(struct hw_probe *probe, const struct hw_probe_wire *wire);

#endif
