/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/thread/probe.h"

#include "engines/thread/pace.h"

/* The kernel's bursts, and what may leave before the first look. */
enum { BURST_BYTES = 64 * 1024 };

/* With bytes that are queued a probe watches so many times as long before it ends, since the link may be
 * others', and if all of them are on their way. */
enum { QUEUED_PATIENCE = 2, ON_WAY_PATIENCE = 4 };
#define LEAST_WATCH_NS UINT64_C(100000)

/* Of what a window sends less than this part may be missing in the connections: then it goes by itself. A
 * part has left already when the thread looks, which a program that was still posting delays by half a
 * millisecond. */
enum { UNQUEUED_PARTS = 2 };

/* Where all has moved nobody is known to need the thread. It comes after so many times as long nevertheless,
 * since a partner may wait for an answer. Meanwhile it sees that more is posted. */
enum { IDLE_TIMES = 2 };
#define MAX_WATCH_NS UINT64_C(4000000)

/* All is all but a message's headers. */
enum { REST_PARTS = 8 };

static uint64_t at_most(uint64_t number, uint64_t most) { return number < most ? number : most; }

bool hw_probe_seems_to_go(const struct hw_probe_wire *wire, const struct hw_probe_window *window)
{
    uint64_t sent_bytes = window->sent_bytes;
    if (wire->queued_bytes < HW_PACE_MOVED_BYTES)
        return wire->unread_bytes >= HW_PACE_MOVED_BYTES;
    return sent_bytes && wire->queued_bytes >= sent_bytes - sent_bytes / UNQUEUED_PARTS;
}

/* What has moved already. A collective may send less at first than it does in all. */
static uint64_t early_bytes(const struct hw_probe_wire *wire, const struct hw_probe_window *window)
{
    uint64_t queued_bytes = wire->queued_bytes, gone_bytes = 0;
    if (queued_bytes >= HW_PACE_MOVED_BYTES && window->sent_bytes > queued_bytes)
        gone_bytes = window->sent_bytes - queued_bytes;
    return wire->unread_bytes + at_most(gone_bytes, BURST_BYTES);
}

void hw_probe_look_first(struct hw_probe *probe, const struct hw_probe_wire *wire,
                         const struct hw_probe_window *window, uint64_t now_ns)
{
    probe->looked_ns = probe->watched_ns = now_ns;
    probe->watched_bytes = wire->moved_bytes;
    probe->queued_bytes = wire->queued_bytes;
    probe->on_way_bytes = early_bytes(wire, window);
}

/* Rounds wait for one another: that others' bytes come in says nothing of what this process still has to
 * send, once what it has sent is gone. */
static bool is_round_over(const struct hw_probe *probe, const struct hw_probe_wire *wire,
                          const struct hw_probe_window *window)
{
    return window->has_rounds && probe->queued_bytes >= HW_PACE_MOVED_BYTES &&
           wire->queued_bytes < HW_PACE_MOVED_BYTES;
}

/* What is missing is less than any message that the thread is for (policy/outset.h). */
static bool has_all_moved(const struct hw_probe *probe, const struct hw_probe_wire *wire,
                          const struct hw_probe_window *window)
{
    uint64_t gone_bytes = probe->natural_bytes + probe->on_way_bytes;
    uint64_t rest_bytes = window->bytes / REST_PARTS;
    rest_bytes = at_most(rest_bytes, BURST_BYTES);
    return !window->has_rounds && wire->queued_bytes < HW_PACE_MOVED_BYTES &&
           gone_bytes + rest_bytes > window->bytes;
}

static uint64_t idle_until_ns(const struct hw_probe *probe)
{
    return probe->looked_ns + IDLE_TIMES * (probe->watched_ns + probe->patience_ns - probe->looked_ns);
}

/* Data come in bursts: a moment without any is not the end. What is on its way arrives, though its arrival
 * may be told late; in a round it may be the answer that is waited for. Bytes that are still to be sent and
 * do not leave wait for the other end to read: it may watch its own connection likewise. */
bool hw_probe_goes_on(struct hw_probe *probe, const struct hw_probe_wire *wire,
                      const struct hw_probe_window *window, uint64_t now_ns)
{
    if (wire->moved_bytes >= probe->watched_bytes + HW_PACE_MOVED_BYTES) {
        probe->natural_bytes += wire->moved_bytes - probe->watched_bytes;
        probe->watched_bytes = wire->moved_bytes;
        probe->watched_ns = now_ns;
    }
    if (!wire->has_wire || is_round_over(probe, wire, window))
        return false;
    if (has_all_moved(probe, wire, window))
        return now_ns < idle_until_ns(probe);
    uint64_t patience_ns = probe->patience_ns;
    if (wire->queued_bytes >= HW_PACE_MOVED_BYTES)
        patience_ns *= wire->unsent_bytes == 0 && !window->has_rounds ? ON_WAY_PATIENCE : QUEUED_PATIENCE;
    return now_ns - probe->watched_ns < patience_ns;
}

/* The end of a round is not to be missed by a whole look. */
uint64_t hw_probe_next_ns(const struct hw_probe *probe, const struct hw_probe_wire *wire,
                          const struct hw_probe_window *window, uint64_t now_ns)
{
    if (has_all_moved(probe, wire, window))
        return at_most(idle_until_ns(probe) - now_ns, MAX_WATCH_NS);
    if (!window->has_rounds || wire->queued_bytes >= probe->queued_bytes)
        return probe->patience_ns;
    uint64_t left_bytes = probe->queued_bytes - wire->queued_bytes;
    uint64_t rest_ns = (now_ns - probe->looked_ns) * (wire->queued_bytes >> 10) / ((left_bytes >> 10) + 1);
    rest_ns = rest_ns < LEAST_WATCH_NS ? LEAST_WATCH_NS : rest_ns;
    return at_most(rest_ns, probe->patience_ns);
}

void hw_probe_end(struct hw_probe *probe, const struct hw_probe_wire *wire)
{
    probe->has_unsent = wire->unsent_bytes >= HW_PACE_MOVED_BYTES;
    probe->on_way_bytes += wire->queued_bytes - wire->unsent_bytes;
}
