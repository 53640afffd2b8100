/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile/waits/wire_windows.h"

#include "base/clock.h"
#include "base/options.h"
#include "base/visibility.h"
#include "profile/record/lock.h"
#include "profile/waits/rates.h"
#include "profile/waits/wire_watch.h"

#include <string.h>

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
/* What a switch or the kernel has in store, at most: one packet as the kernel hands it over. */
#define STORED_BYTES (UINT64_C(64) * 1024)
/* Of the bytes completed, at least one part in so many must have been on the wire: else they went elsewhere.
 * A process's sends and receives may be all one way, or half and half. */
enum { SEEN_PARTS = 8 };

/* What an operation's directions owe one another, the strictest last. */
enum order {
    ORDER_NONE,
    ORDER_STEPS, /* steps that go both ways, each of which needs the last one's result */
    ORDER_WAYS   /* it may have to receive before it sends */
};

struct door {
    struct hw_profile_site *site;
    uint64_t blocked_ns;
    uint64_t computed_ns; /* since the last look */
    uint64_t longest_ns;
    struct hw_profile_wire computing, waiting; /* moved meanwhile */
    struct hw_watch_seen seen;                 /* in the wait */
    uint64_t bytes;                            /* completed since the last door kept */
    unsigned window;
    enum order order;
    bool is_unsized;
};
enum { DOOR_COUNT = 512 };

static bool (*read_wire)(struct hw_profile_wire *wire, bool is_first);
static uint64_t began_ns, cost_ns;
/* Around the last look. The process may lose its core between a look and a reading of the clock: of what
 * moved by two looks is certain only that it took no longer than from before the first until after the
 * second. */
static uint64_t look_began_ns, look_ended_ns;
HW_SPARSE static struct hw_rates long_rates;
static uint64_t fastest_short; /* bytes a second */
/* Something went both ways in a wait: only then there is more to see in one. */
static bool is_two_way;

static struct {
    bool is_open, is_ending, is_unsized;
    enum order order;
    unsigned number, pending_count;
    const void *thread;
    struct hw_profile_wire looked;
    uint64_t looked_began_ns, looked_ns, looked_mpi_ns;
    struct hw_profile_wire entered; /* as the door in progress was entered */
    uint64_t entered_began_ns;      /* that look */
    uint64_t computed_ns;           /* before it */
    uint64_t bytes;
} window;

HW_SPARSE static struct door doors[DOOR_COUNT];
static int door_count;

void hw_wire_prepare(bool (*read)(struct hw_profile_wire *wire, bool is_first), uint64_t now_ns)
{
    read_wire = read;
    began_ns = now_ns;
    hw_watch_prepare(read, now_ns);
}

/* One look; its time is nobody's. It costs processor time: where others take the core in a look that would be
 * paid for with seconds without any. */
static bool look(struct hw_profile_wire *wire, bool is_first)
{
    uint64_t cpu_ns = hw_clock_thread_cpu_ns();
    look_began_ns = hw_clock_fast_ns();
    bool is_known = read_wire(wire, is_first);
    look_ended_ns = hw_clock_fast_ns();
    cost_ns += hw_clock_thread_cpu_ns() - cpu_ns;
    return is_known;
}

uint64_t hw_wire_so_far(bool is_last)
{
    struct hw_profile_wire wire;
    bool is_locked = hw_profile_lock_to_read(), is_known = read_wire && look(&wire, is_last);
    hw_profile_unlock_read(is_locked);
    return is_known ? wire.sent_bytes + wire.received_bytes : 0;
}

static bool is_affordable(uint64_t now_ns) { return cost_ns * COST_PARTS <= now_ns - began_ns; }

static void keep_look(const struct hw_wire_moment *moment, const struct hw_profile_wire *wire)
{
    window.looked = *wire;
    window.looked_began_ns = look_began_ns;
    window.looked_ns = hw_clock_fast_ns();
    window.looked_mpi_ns = moment->mpi_ns;
}

/* Who combines or passes on what it receives may have directions that go one after the other because they
 * must. Not so allgather and alltoall. An allreduce's may, too, where it is one to a root and back. */
static enum order order_of(const char *function)
{
    static const struct {
        const char *word;
        enum order order;
    } words[] = {{"allreduce", ORDER_STEPS}, {"Allreduce", ORDER_STEPS}, {"educe_scatter", ORDER_STEPS},
                 {"reduce", ORDER_WAYS},     {"Reduce", ORDER_WAYS},     {"scan", ORDER_WAYS},
                 {"Scan", ORDER_WAYS},       {"bcast", ORDER_WAYS},      {"Bcast", ORDER_WAYS},
                 {"Igather", ORDER_WAYS},    {"Gather", ORDER_WAYS},     {"scatter", ORDER_WAYS},
                 {"Scatter", ORDER_WAYS}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strstr(function, words[i].word))
            return words[i].order;
    return ORDER_NONE;
}

unsigned hw_wire_posted(const struct hw_wire_moment *moment, const char *function, uint64_t bytes,
                        bool is_unsized)
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
        window.order = ORDER_NONE;
        keep_look(moment, &wire);
    }
    window.pending_count++;
    window.is_unsized = window.is_unsized || is_unsized;
    if (window.order != ORDER_WAYS) {
        enum order order = order_of(function);
        window.order = order > window.order ? order : window.order;
    }
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
    window.entered_began_ns = window.looked_began_ns;
    if (moment->now_ns - window.looked_ns >= SHORT_NS) {
        if (!look(&window.entered, false)) {
            window.is_open = false;
            return false;
        }
        window.entered_began_ns = look_began_ns;
    }
    uint64_t inside_ns = moment->mpi_ns - window.looked_mpi_ns;
    uint64_t since_ns = moment->now_ns > window.looked_ns ? moment->now_ns - window.looked_ns : 0;
    window.computed_ns = since_ns > inside_ns ? since_ns - inside_ns : 0;
    if (is_two_way)
        hw_watch_begin(&window.entered, window.entered_began_ns);
    return true;
}

static uint64_t longer(uint64_t one, uint64_t other) { return one > other ? one : other; }

/* What is certain of a rate: less what may have been in store, of which a wait of 6 ms had a tenth more than
 * the wire carries, and looked like one for a late partner at the next. */
static void add_long(uint64_t bytes, uint64_t took_ns)
{
    if (bytes >= STORED_BYTES)
        hw_rates_add(&long_rates, bytes - STORED_BYTES, took_ns);
}

static void learn_rate(uint64_t bytes, uint64_t took_ns)
{
    if (took_ns >= RATE_NS) {
        add_long(bytes, took_ns);
    } else if (took_ns >= RATE_LEAST_NS && bytes >= MIN_BYTES) {
        uint64_t rate = (uint64_t)((double)bytes / (double)took_ns * (double)HW_NS_PER_S);
        fastest_short = longer(rate, fastest_short);
    }
}

/* Where directions take turns, whole waits look half as fast as the wire is; a run of one does not. */
static void learn_run(const struct hw_watch_seen *seen)
{
    if (seen->run_ns >= RATE_LEAST_NS)
        add_long(seen->bytes, seen->run_ns);
}

uint64_t hw_wire_fastest(void)
{
    uint64_t found = hw_rates_high(&long_rates), rate = found ? found : fastest_short;
    uint64_t link_rate = (uint64_t)hw_options.link_rate;
    return link_rate && rate > link_rate ? link_rate : rate;
}

/* What is seen of a watched door speaks for those of its site that were not. */
static void add_watched(const struct door *door)
{
    door->site->watched += 1;
    door->site->watched_lesser += hw_wire_lesser(&door->waiting);
    door->site->watched_alone += door->seen.alone;
}

void hw_wire_leave(const struct hw_wire_moment *moment, struct hw_profile_site *site, uint64_t took_ns,
                   uint64_t longest_ns, uint64_t bytes)
{
    struct hw_profile_wire now;
    window.bytes += bytes;
    window.is_open = window.is_open && !window.is_ending;
    if (took_ns < SHORT_NS || !look(&now, false)) {
        hw_watch_end(&window.entered, moment->now_ns);
        return;
    }
    if (door_count == DOOR_COUNT)
        hw_wire_settle();
    struct door *door = &doors[door_count++];
    *door = (struct door){
        .site = site,
        .window = window.number,
        .blocked_ns = took_ns,
        .computed_ns = window.computed_ns,
        .longest_ns = longest_ns,
        .computing = hw_wire_moved(&window.looked, &window.entered),
        .waiting = hw_wire_moved(&window.entered, &now),
        .seen = hw_watch_end(&now, hw_clock_fast_ns()),
        .is_unsized = window.is_unsized,
        .order = window.order,
        .bytes = window.bytes,
    };
    window.bytes = 0;
    if (door->seen.is_known)
        add_watched(door);
    is_two_way = is_two_way || (took_ns >= RATE_LEAST_NS && hw_wire_lesser(&door->waiting) >= MIN_BYTES);
    learn_rate(hw_wire_busier(&door->waiting), longer(took_ns, look_ended_ns - window.entered_began_ns));
    learn_run(&door->seen);
    /* Where little is waited for, what was moved all along still tells how fast the wire is at least. */
    struct hw_profile_wire moved = hw_wire_moved(&window.looked, &now);
    learn_rate(hw_wire_busier(&moved),
               longer(moment->now_ns - window.looked_ns, look_ended_ns - window.looked_began_ns));
    keep_look(moment, &now);
}

/* Nanoseconds the wire takes for so many bytes. */
static uint64_t wire_ns(uint64_t bytes, uint64_t rate)
{
    return rate ? (uint64_t)((double)bytes / (double)rate * (double)HW_NS_PER_S) : 0;
}

static uint64_t least(uint64_t one, uint64_t other) { return one < other ? one : other; }

/* Of what moved in the door, the bytes one after the other that could be both at once: seen, or as at the
 * doors of the same site that were watched. */
static uint64_t alone_bytes(const struct door *door)
{
    uint64_t most = hw_wire_lesser(&door->waiting);
    if (door->seen.is_known)
        return least(door->seen.alone, most);
    if (!door->site->watched_lesser)
        return 0;
    double share = (double)door->site->watched_alone / (double)door->site->watched_lesser;
    return least((uint64_t)(share * (double)most), most);
}

enum { WAYS = 2 };
struct idle {
    uint64_t ns[WAYS];
};

/* Of the wait, what the wire took for so many bytes; all of it where its rate is not known. */
static uint64_t blocked_by(const struct door *door, uint64_t bytes, uint64_t rate)
{
    return rate ? least(wire_ns(bytes, rate), door->blocked_ns) : door->blocked_ns;
}

/* Of this way's bytes in the wait, the wire time that fits into what was idle of it before. */
static uint64_t use_idle(uint64_t *idle_ns, const struct door *door, uint64_t computing_ns,
                         uint64_t waiting_ns)
{
    *idle_ns += door->computed_ns > computing_ns ? door->computed_ns - computing_ns : 0;
    /* Nothing of a request can move before it is posted. */
    uint64_t usable_ns = least(least(*idle_ns, door->longest_ns), waiting_ns);
    *idle_ns -= usable_ns;
    return usable_ns;
}

/* What the wait would be shorter if what could have moved before it had, both ways at once: then what is left
 * of the larger way is all there is to wait for. No more than what would have moved: who hides a little is
 * not credited with both ways at once. */
static uint64_t use_both(struct idle *idle, const struct door *door, uint64_t alone, uint64_t rate)
{
    uint64_t computing[WAYS] = {door->computing.sent_bytes, door->computing.received_bytes};
    uint64_t waiting[WAYS] = {door->waiting.sent_bytes, door->waiting.received_bytes};
    uint64_t usable_ns = 0, rest_ns = 0;
    for (int way = 0; way < WAYS; way++) {
        uint64_t waiting_ns = blocked_by(door, waiting[way], rate);
        uint64_t used_ns = use_idle(&idle->ns[way], door, wire_ns(computing[way], rate), waiting_ns);
        usable_ns += used_ns;
        rest_ns = waiting_ns - used_ns > rest_ns ? waiting_ns - used_ns : rest_ns;
    }
    uint64_t filled_ns = blocked_by(door, hw_wire_busier(&door->waiting) + alone, rate);
    return least(usable_ns, filled_ns > rest_ns ? filled_ns - rest_ns : 0);
}

/* The same of directions that may depend on one another: when one moves, the other does not. */
static uint64_t use_one(struct idle *idle, const struct door *door, uint64_t alone, uint64_t rate)
{
    uint64_t computing_ns = wire_ns(hw_wire_busier(&door->computing), rate);
    uint64_t idle_ns = least(idle->ns[0], idle->ns[1]);
    uint64_t filled_ns = blocked_by(door, hw_wire_busier(&door->waiting) + alone, rate);
    uint64_t usable_ns = use_idle(&idle_ns, door, computing_ns, filled_ns);
    idle->ns[0] = idle->ns[1] = idle_ns;
    return usable_ns;
}

/* One window's doors, in order. `idle` of the wire is what the window has left over from before. */
static void settle_window(const struct door *first, int count, struct idle *idle, uint64_t rate)
{
    uint64_t moved = 0, bytes = 0;
    for (int i = 0; i < count; i++) {
        moved += hw_wire_busier(&first[i].computing) + hw_wire_busier(&first[i].waiting);
        bytes += first[i].bytes;
    }
    bool is_seen = moved >= (first->is_unsized ? MIN_BYTES : bytes / SEEN_PARTS);
    for (const struct door *door = first; door < first + count; door++) {
        uint64_t alone = alone_bytes(door);
        uint64_t usable_ns =
            door->order ? use_one(idle, door, alone, rate) : use_both(idle, door, alone, rate);
        if (!is_seen) {
            door->site->unseen_ns += door->blocked_ns;
            continue;
        }
        door->site->sampled += 1;
        door->site->sampled_blocked_ns += door->blocked_ns;
        door->site->sampled_computed_ns += door->computed_ns;
        door->site->moved_computing += hw_wire_busier(&door->computing);
        door->site->moved_waiting += hw_wire_busier(&door->waiting) + alone;
        door->site->moved_alone += door->order == ORDER_NONE ? alone : 0;
        door->site->moved_in_steps += door->order == ORDER_STEPS ? alone : 0;
        door->site->copied += door->waiting.sent_bytes + door->waiting.received_bytes;
        door->site->usable_ns += usable_ns;
    }
}

void hw_wire_settle(void)
{
    static unsigned last_window;
    static struct idle idle;
    for (int first = 0, end; first < door_count; first = end) {
        unsigned number = doors[first].window;
        for (end = first + 1; end < door_count && doors[end].window == number;)
            end++;
        if (number != last_window)
            idle = (struct idle){{0}};
        settle_window(&doors[first], end - first, &idle, hw_wire_fastest());
        last_window = number;
    }
    door_count = 0;
}
