#include "profile/wire_windows.h"

#include "base/clock.h"
#include "base/visibility.h"

/* Looked at are only windows that take a while. */
#define MIN_BYTES (UINT64_C(64) * 1024)
/* No more than one part in so many of the time goes into looks. */
enum { COST_PARTS = 400 };
/* Between two looks less apart than this nothing is worth a look. */
#define SHORT_NS (20 * HW_NS_PER_US)
/* A rate is believed of waits this long; of shorter ones only while there is no longer one: what a switch or
 * the kernel has in store then counts too much. */
#define RATE_NS (4 * HW_NS_PER_MS)
#define RATE_LEAST_NS HW_NS_PER_MS
/* Of the bytes completed, at least one part in so many must have been on the wire: else they went elsewhere.
 * A process's sends and receives may be all one way, or half and half. */
enum { SEEN_PARTS = 8 };

struct door {
    struct hw_profile_site *site;
    uint64_t blocked_ns;
    uint64_t computed_ns; /* since the last look */
    uint64_t longest_ns;
    uint64_t moved_computing, moved_waiting; /* the busier direction */
    uint64_t copied;                         /* both, in the wait */
    uint64_t bytes;                          /* completed since the last door kept */
    unsigned window;
    bool is_unsized;
};
enum { DOOR_COUNT = 512 };

static bool (*read_wire)(struct hw_profile_wire *wire, bool is_first);
static uint64_t began_ns, cost_ns;
static uint64_t fastest_long, fastest_short; /* bytes a second */

static struct {
    bool is_open, is_ending, is_unsized;
    unsigned number, pending_count;
    const void *thread;
    struct hw_profile_wire looked;
    uint64_t looked_ns, looked_mpi_ns;
    struct hw_profile_wire entered; /* as the door in progress was entered */
    uint64_t computed_ns;           /* before it */
    uint64_t bytes;
} window;

HW_SPARSE static struct door doors[DOOR_COUNT];
static int door_count;

void hw_wire_prepare(bool (*read)(struct hw_profile_wire *wire, bool is_first), uint64_t now_ns)
{
    read_wire = read;
    began_ns = now_ns;
}

/* One look; its time is nobody's. */
static bool look(struct hw_profile_wire *wire, bool is_first)
{
    uint64_t before_ns = hw_clock_fast_ns();
    bool is_known = read_wire(wire, is_first);
    cost_ns += hw_clock_fast_ns() - before_ns;
    return is_known;
}

static bool is_affordable(uint64_t now_ns) { return cost_ns * COST_PARTS <= now_ns - began_ns; }

static void keep_look(const struct hw_wire_moment *moment, const struct hw_profile_wire *wire)
{
    window.looked = *wire;
    window.looked_ns = hw_clock_fast_ns();
    window.looked_mpi_ns = moment->mpi_ns;
}

unsigned hw_wire_posted(const struct hw_wire_moment *moment, uint64_t bytes, bool is_unsized)
{
    bool is_open = window.is_open && !window.is_ending;
    if ((bytes < MIN_BYTES && !is_unsized) || !read_wire || (is_open && window.thread != moment->thread))
        return 0;
    if (!is_open) {
        struct hw_profile_wire wire;
        if (!is_affordable(moment->now_ns) || !look(&wire, true))
            return 0;
        window.is_open = true;
        window.is_ending = false;
        window.number += window.number == UINT32_MAX ? 2 : 1; /* never 0 */
        window.thread = moment->thread;
        window.pending_count = 0;
        window.bytes = 0;
        window.is_unsized = false;
        keep_look(moment, &wire);
    }
    window.pending_count++;
    window.is_unsized = window.is_unsized || is_unsized;
    return window.number;
}

void hw_wire_completed(unsigned number)
{
    if (number && window.is_open && window.number == number && --window.pending_count == 0)
        window.is_ending = true;
}

bool hw_wire_enter(const struct hw_wire_moment *moment)
{
    if (!window.is_open || window.thread != moment->thread)
        return false;
    if (window.is_ending || !is_affordable(moment->now_ns)) {
        window.is_open = false;
        return false;
    }
    window.entered = window.looked;
    if (moment->now_ns - window.looked_ns >= SHORT_NS && !look(&window.entered, false)) {
        window.is_open = false;
        return false;
    }
    uint64_t inside_ns = moment->mpi_ns - window.looked_mpi_ns;
    uint64_t since_ns = moment->now_ns > window.looked_ns ? moment->now_ns - window.looked_ns : 0;
    window.computed_ns = since_ns > inside_ns ? since_ns - inside_ns : 0;
    return true;
}

static uint64_t busier(const struct hw_profile_wire *from, const struct hw_profile_wire *to)
{
    int64_t sent = (int64_t)(to->sent_bytes - from->sent_bytes);
    int64_t received = (int64_t)(to->received_bytes - from->received_bytes);
    int64_t more = sent > received ? sent : received;
    return more > 0 ? (uint64_t)more : 0; /* a connection may have been closed */
}

static uint64_t both(const struct hw_profile_wire *from, const struct hw_profile_wire *to)
{
    int64_t more =
        (int64_t)(to->sent_bytes - from->sent_bytes) + (int64_t)(to->received_bytes - from->received_bytes);
    return more > 0 ? (uint64_t)more : 0;
}

static void learn_rate(uint64_t bytes, uint64_t took_ns)
{
    if (took_ns < RATE_LEAST_NS || bytes < MIN_BYTES)
        return;
    uint64_t rate = (uint64_t)((double)bytes / (double)took_ns * (double)HW_NS_PER_S);
    uint64_t *fastest = took_ns < RATE_NS ? &fastest_short : &fastest_long;
    *fastest = rate > *fastest ? rate : *fastest;
}

uint64_t hw_wire_fastest(void) { return fastest_long ? fastest_long : fastest_short; }

void hw_wire_leave(const struct hw_wire_moment *moment, struct hw_profile_site *site, uint64_t took_ns,
                   uint64_t longest_ns, uint64_t bytes)
{
    struct hw_profile_wire now;
    window.bytes += bytes;
    window.is_open = window.is_open && !window.is_ending;
    if (took_ns < SHORT_NS || !look(&now, false))
        return;
    if (door_count == DOOR_COUNT)
        hw_wire_settle();
    struct door *door = &doors[door_count++];
    *door = (struct door){
        .site = site,
        .window = window.number,
        .blocked_ns = took_ns,
        .computed_ns = window.computed_ns,
        .longest_ns = longest_ns,
        .moved_computing = busier(&window.looked, &window.entered),
        .moved_waiting = busier(&window.entered, &now),
        .copied = both(&window.entered, &now),
        .is_unsized = window.is_unsized,
        .bytes = window.bytes,
    };
    window.bytes = 0;
    learn_rate(door->moved_waiting, took_ns);
    /* Where little is waited for, what was moved all along still tells how fast the wire is at least. */
    learn_rate(door->moved_computing + door->moved_waiting, moment->now_ns - window.looked_ns);
    keep_look(moment, &now);
}

/* Nanoseconds the wire takes for so many bytes. */
static uint64_t wire_ns(uint64_t bytes, uint64_t rate)
{
    return rate ? (uint64_t)((double)bytes / (double)rate * (double)HW_NS_PER_S) : 0;
}

static uint64_t least(uint64_t one, uint64_t other) { return one < other ? one : other; }

/* One window's doors, in order. `idle_ns` of the wire is what the window has left over from before. */
static uint64_t settle_window(const struct door *first, int count, uint64_t idle_ns, uint64_t rate)
{
    uint64_t moved = 0, bytes = 0;
    for (int i = 0; i < count; i++) {
        moved += first[i].moved_computing + first[i].moved_waiting;
        bytes += first[i].bytes;
    }
    bool is_seen = moved >= (first->is_unsized ? MIN_BYTES : bytes / SEEN_PARTS);
    for (const struct door *door = first; door < first + count; door++) {
        uint64_t used_ns = wire_ns(door->moved_computing, rate);
        idle_ns += door->computed_ns > used_ns ? door->computed_ns - used_ns : 0;
        /* Nothing of a request can move before it is posted. */
        uint64_t usable_ns = least(least(idle_ns, door->longest_ns), door->blocked_ns);
        usable_ns = rate ? least(usable_ns, wire_ns(door->moved_waiting, rate)) : usable_ns;
        idle_ns -= usable_ns;
        if (!is_seen) {
            door->site->unseen_ns += door->blocked_ns;
            continue;
        }
        door->site->sampled += 1;
        door->site->sampled_blocked_ns += door->blocked_ns;
        door->site->sampled_computed_ns += door->computed_ns;
        door->site->moved_computing += door->moved_computing;
        door->site->moved_waiting += door->moved_waiting;
        door->site->copied += door->copied;
        door->site->usable_ns += usable_ns;
    }
    return idle_ns;
}

void hw_wire_settle(void)
{
    static unsigned last_window;
    static uint64_t last_idle_ns;
    for (int first = 0, end; first < door_count; first = end) {
        unsigned number = doors[first].window;
        for (end = first + 1; end < door_count && doors[end].window == number;)
            end++;
        uint64_t idle_ns = number == last_window ? last_idle_ns : 0;
        last_idle_ns = settle_window(&doors[first], end - first, idle_ns, hw_wire_fastest());
        last_window = number;
    }
    door_count = 0;
}
