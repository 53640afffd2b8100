/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile/waits/delays.h"

#include "profile/record/lock.h"
#include "profile/waits/moments.h"

#include <stdlib.h>

/* A tag that is none, or many. */
enum { NO_TAG = -1 };

enum { TABLE_COUNT = 1024, MAX_USED_COUNT = TABLE_COUNT * 3 / 4, CAUSE_COUNT = 4 };

struct gap {
    const struct hw_profile_site *from, *to; /* NULL: free */
    uint64_t count, ns, max_ns;
};

struct exchange {
    const struct hw_profile_site *site; /* NULL: free */
    struct hw_delay_partner partner;
    uint64_t waits, wait_ns, shared_ns, unknown_ns;
    uint64_t
        both_ns; /* of wait_ns, in doors that completed something to this partner and something from it */
    /* What the thread did before it gave or took something, since it last did. */
    uint64_t looks, lost;
    uint64_t before_gap_ns, before_wait_ns;
    struct {
        int cause;
        uint64_t ns;
    } before[CAUSE_COUNT]; /* cause as in struct hw_delays */
};

/* One more of each for what comes when they are full. */
static struct {
    struct gap gaps[TABLE_COUNT + 1];
    struct exchange exchanges[TABLE_COUNT + 1];
    int gap_count, exchange_count;
} * table;

bool hw_delays_open(void)
{
    table = calloc(1, sizeof *table); /* pages that are never touched take no memory */
    return table != NULL;
}

static unsigned slot_of(uint64_t one, uint64_t other)
{
    uint64_t key = one * UINT64_C(0x9E3779B97F4A7C15) ^ other;
    return (unsigned)(key * UINT64_C(0x9E3779B97F4A7C15) >> 32) % TABLE_COUNT;
}

static struct gap *find_gap(const struct hw_profile_site *from, const struct hw_profile_site *to)
{
    struct gap *gap = NULL;
    for (unsigned i = slot_of((uintptr_t)from, (uintptr_t)to);; i = (i + 1) % TABLE_COUNT) {
        gap = &table->gaps[i];
        if (!gap->to)
            break;
        if (gap->from == from && gap->to == to)
            return gap;
    }
    if (table->gap_count == MAX_USED_COUNT)
        return &table->gaps[TABLE_COUNT];
    table->gap_count++;
    gap->from = from;
    gap->to = to;
    return gap;
}

static bool is_same(const struct hw_delay_partner *one, const struct hw_delay_partner *other)
{
    return one->way == other->way && one->rank == other->rank && one->comm == other->comm;
}

static const struct hw_delay_partner not_known = {HW_DELAY_UNKNOWN, -1, NO_TAG, NULL};

static struct exchange *find_exchange(const struct hw_profile_site *site,
                                      const struct hw_delay_partner *partner)
{
    struct exchange *exchange = NULL;
    uint64_t key = (uintptr_t)partner->comm ^ ((uint64_t)(unsigned)partner->rank << 2 | partner->way);
    for (unsigned i = slot_of((uintptr_t)site, key);; i = (i + 1) % TABLE_COUNT) {
        exchange = &table->exchanges[i];
        if (!exchange->site)
            break;
        if (exchange->site == site && is_same(&exchange->partner, partner)) {
            exchange->partner.tag = exchange->partner.tag == partner->tag ? partner->tag : NO_TAG;
            return exchange;
        }
    }
    if (table->exchange_count == MAX_USED_COUNT) {
        table->exchanges[TABLE_COUNT].partner = not_known;
        return &table->exchanges[TABLE_COUNT];
    }
    table->exchange_count++;
    exchange->site = site;
    exchange->partner = *partner;
    return exchange;
}

static void remember(struct hw_delays *mine, int cause, uint64_t ns)
{
    uint64_t at = mine->now.event_count++ % HW_DELAY_EVENT_COUNT;
    mine->events[at].cause = cause;
    mine->events[at].ns = ns;
    uint64_t looks = mine->looks_left + ns / HW_DELAY_LOOK_NS;
    mine->looks_left = looks < UINT16_MAX ? (unsigned)looks : UINT16_MAX;
}

static void see_gap(struct hw_delays *mine, const struct hw_profile_site *site, uint64_t took_ns)
{
    struct gap *gap = find_gap(hw_sites_find(mine->site, mine->function, mine->bytes), site);
    gap->count++;
    gap->ns += took_ns;
    gap->max_ns = took_ns > gap->max_ns ? took_ns : gap->max_ns;
    mine->now.gap_ns += took_ns;
    remember(mine, -1 - (int)(gap - table->gaps), took_ns);
}

static void see_wait(struct hw_delays *mine, struct exchange *exchange, uint64_t ended_ns, uint64_t took_ns)
{
    int index = (int)(exchange - table->exchanges);
    exchange->waits++;
    exchange->wait_ns += took_ns;
    mine->now.wait_ns += took_ns;
    remember(mine, index, took_ns);
    hw_moments_await(ended_ns - took_ns, ended_ns, index);
}

/* The longest are kept one by one. */
static void add_before(struct exchange *exchange, int cause, uint64_t ns)
{
    int least = 0;
    for (int i = 0; i < CAUSE_COUNT; i++) {
        if (!exchange->before[i].ns || exchange->before[i].cause == cause) {
            exchange->before[i].cause = cause;
            exchange->before[i].ns += ns;
            return;
        }
        least = exchange->before[i].ns < exchange->before[least].ns ? i : least;
    }
    if (ns > exchange->before[least].ns) {
        exchange->before[least].cause = cause;
        exchange->before[least].ns = ns;
    }
}

/* What the thread has done since then. Of what has left the ring only the sum is known. */
static void add_since(const struct hw_delays *mine, struct exchange *exchange,
                      const struct hw_delay_mark *then)
{
    exchange->before_gap_ns += mine->now.gap_ns - then->gap_ns;
    exchange->before_wait_ns += mine->now.wait_ns - then->wait_ns;
    uint64_t count = mine->now.event_count - then->event_count;
    for (count = count < HW_DELAY_EVENT_COUNT ? count : HW_DELAY_EVENT_COUNT; count > 0; count--) {
        uint64_t at = (mine->now.event_count - count) % HW_DELAY_EVENT_COUNT;
        add_before(exchange, mine->events[at].cause, mine->events[at].ns);
    }
}

/* Names a partner and a way to or from it. */
static int key_of(const struct hw_delay_partner *partner)
{
    if (partner->way == HW_DELAY_WITH_ALL) /* no world has so many ranks */
        return (int)((uintptr_t)partner->comm / sizeof *partner->comm & 0x3fffffff) | 0x40000000;
    return (partner->rank & 0x1fffffff) * 2 + (partner->way == HW_DELAY_FROM);
}

static unsigned set_of(int key)
{
    return (unsigned)((uint64_t)(unsigned)key * UINT64_C(0x9E3779B97F4A7C15) >> 32) % HW_DELAY_SEEN_SET_COUNT;
}

/* A mark that is not is as good as none: the whole world was together since. */
static bool is_later(const struct hw_delays *mine, const struct hw_delay_mark *mark)
{
    uint64_t now = mine->now.event_count;
    return now - mark->event_count < now - mine->together.event_count;
}

/* When the thread last gave to this partner, or took from it; after the whole world was together. False if
 * that is not known: only where all of a set are later may another partner have taken its place. */
static bool last_seen(const struct hw_delays *mine, const struct hw_delay_partner *partner,
                      struct hw_delay_mark *last)
{
    int key = key_of(partner), later_count = 0;
    const struct hw_delay_seen *set = &mine->seen[set_of(key)];
    *last = mine->together;
    for (int i = 0; i < HW_DELAY_SEEN_WAY_COUNT; i++) {
        if (!is_later(mine, &set->marks[i]))
            continue;
        later_count++;
        if (set->keys[i] == key) {
            *last = set->marks[i];
            return true;
        }
    }
    return later_count < HW_DELAY_SEEN_WAY_COUNT;
}

static void see(struct hw_delays *mine, const struct hw_delay_partner *partner)
{
    int key = key_of(partner);
    struct hw_delay_seen *set = &mine->seen[set_of(key)];
    /* If all are in use, some place or other: the one unused for longest would never be found again where
     * partners come in turn. */
    unsigned at = ((unsigned)mine->now.event_count * 0x9E3779B1U >> 16) % HW_DELAY_SEEN_WAY_COUNT;
    for (unsigned i = HW_DELAY_SEEN_WAY_COUNT; i-- > 0;)
        at = is_later(mine, &set->marks[i]) ? at : i;
    for (unsigned i = 0; i < HW_DELAY_SEEN_WAY_COUNT; i++)
        at = set->keys[i] == key && is_later(mine, &set->marks[i]) ? i : at;
    set->keys[at] = key;
    set->marks[at] = mine->now;
}

/* Something was given to this partner, or is about to be taken from it. */
static void look(struct hw_delays *mine, const struct hw_profile_site *site,
                 const struct hw_delay_partner *partner)
{
    if (!mine->looks_left)
        return;
    struct hw_delay_mark then;
    bool is_known = last_seen(mine, partner, &then);
    if (then.event_count == mine->now.event_count)
        return;
    struct exchange *exchange = find_exchange(site, partner);
    if (is_known) {
        exchange->looks++;
        add_since(mine, exchange, &then);
    } else {
        exchange->lost++;
    }
    see(mine, partner);
}

/* A rank that is not known is anybody. */
static int in_world(const struct hw_delay_who *who, int rank)
{
    int found = rank < 0 ? rank : hw_comms_world_rank(who->handle, rank);
    return rank >= 0 && found < 0 ? HW_DELAY_ANYBODY : found;
}

struct hw_delay_who hw_delays_in_world(const struct hw_delay_who *who)
{
    if (!who->handle)
        return *who;
    struct hw_delay_who found = {.gives = in_world(who, who->gives),
                                 .takes = in_world(who, who->takes),
                                 .tag = who->tag < 0 ? NO_TAG : who->tag};
    if (who->gives == HW_DELAY_IF_ROOT) {
        bool is_root = who->takes >= 0 && hw_comms_own_rank(who->handle) == who->takes;
        found.gives = is_root ? HW_DELAY_ALL : HW_DELAY_NOBODY;
        found.takes = is_root ? HW_DELAY_ANYBODY : found.takes;
    }
    return found;
}

static void give(struct hw_delays *mine, const struct hw_profile_site *site, const struct hw_delay_who *who,
                 struct hw_profile_comm *comm)
{
    const struct hw_delay_partner all = {HW_DELAY_WITH_ALL, -1, NO_TAG, comm};
    const struct hw_delay_partner one = {HW_DELAY_TO, who->gives, who->tag, NULL};
    if (who->gives >= 0 || who->gives == HW_DELAY_ALL)
        look(mine, site, who->gives >= 0 ? &one : &all);
}

struct wait {
    uint64_t ended_ns, took_ns;
};

/* Time in a call that was one for some partners, or for any of them; none, if it was short. */
static void take(struct hw_delays *mine, const struct hw_profile_site *site, struct wait wait,
                 const struct hw_delay_door *door)
{
    const struct hw_delay_partner *one = door->count && !door->is_unknown ? &door->partners[0] : &not_known;
    for (int i = 0; i < door->count; i++) {
        const struct hw_delay_partner *partner = &door->partners[i];
        if (partner->way == HW_DELAY_FROM)
            look(mine, site, partner);
        if (partner->rank != one->rank || partner->comm != one->comm)
            one = &not_known;
        else if (partner->way == HW_DELAY_FROM) /* what goes both ways is waited for there */
            one = partner;
    }
    if (wait.took_ns <= HW_DELAY_LEAST_NS)
        return;
    struct exchange *all = find_exchange(site, one);
    bool is_unknown = door->is_unknown;
    all->both_ns += one != &not_known && door->count > 1 ? wait.took_ns : 0;
    see_wait(mine, all, wait.ended_ns, wait.took_ns);
    for (int i = 0; i < door->count; i++) {
        if (one == &not_known) {
            struct exchange *its = find_exchange(site, &door->partners[i]);
            its->shared_ns += wait.took_ns;
            is_unknown |= its == &table->exchanges[TABLE_COUNT];
        }
        if (door->partners[i].way != HW_DELAY_TO)
            see(mine, &door->partners[i]);
    }
    all->unknown_ns += is_unknown ? wait.took_ns : 0;
}

static void add_partner(struct hw_delay_door *door, const struct hw_delay_partner *partner)
{
    for (int i = 0; i < door->count; i++)
        if (is_same(&door->partners[i], partner))
            return;
    if (door->count == HW_DELAY_PARTNER_COUNT)
        door->is_unknown = true;
    else
        door->partners[door->count++] = *partner;
}

void hw_delays_door_add(struct hw_delay_door *door, const struct hw_delay_who *who,
                        struct hw_profile_comm *comm)
{
    const struct hw_delay_who whom = hw_delays_in_world(who);
    const struct hw_delay_partner all = {HW_DELAY_WITH_ALL, -1, NO_TAG, comm};
    const struct hw_delay_partner from = {HW_DELAY_FROM, whom.takes, whom.tag, NULL};
    const struct hw_delay_partner to = {HW_DELAY_TO, whom.gives, whom.tag, NULL};
    if (whom.takes == HW_DELAY_ALL)
        add_partner(door, &all);
    else if (whom.takes >= 0)
        add_partner(door, &from);
    if (whom.gives >= 0)
        add_partner(door, &to);
    if (whom.takes == HW_DELAY_ANYBODY || whom.gives == HW_DELAY_ANYBODY)
        door->is_unknown = true;
}

static const struct hw_profile_site *see_before(struct hw_delays *mine, const struct hw_profile_note *call)
{
    const struct hw_profile_site *site = hw_sites_find(call->site, call->function, call->bytes);
    mine->looks_left -= mine->looks_left > 0;
    if (mine->ended_ns && call->began_ns > mine->ended_ns + HW_DELAY_LEAST_NS) {
        see_gap(mine, site, call->began_ns - mine->ended_ns);
        hw_moments_gap(mine->ended_ns, call->began_ns, hw_sites_index(site));
    }
    return site;
}

/* That call, as a wait. */
static struct wait wait_in(const struct hw_profile_note *call)
{
    return (struct wait){call->began_ns + call->took_ns, call->took_ns};
}

static void pass(struct hw_delays *mine, const struct hw_profile_note *call)
{
    hw_delays_pass(mine, call->site, call->function, call->bytes, call->began_ns + call->took_ns);
}

void hw_delays_add(struct hw_delays *mine, const struct hw_profile_note *call, const struct hw_delay_who *who)
{
    const struct hw_profile_site *site = see_before(mine, call);
    const struct hw_delay_who whom = hw_delays_in_world(who);
    struct hw_delay_door door = {0};
    give(mine, site, &whom, call->comm);
    hw_delays_door_add(&door, &whom, call->comm);
    take(mine, site, wait_in(call), &door);
    if (whom.takes == HW_DELAY_ALL && hw_comms_is_world(call->comm) && hw_delays_is_for_all(call->function))
        mine->together = mine->now;
    pass(mine, call);
}

void hw_delays_post(struct hw_delays *mine, const struct hw_profile_note *call,
                    const struct hw_delay_who *who)
{
    const struct hw_profile_site *site = see_before(mine, call);
    const struct hw_delay_who whom = hw_delays_in_world(who);
    const struct hw_delay_door door = {.is_unknown = true};
    give(mine, site, &whom, call->comm);
    take(mine, site, wait_in(call), &door);
    pass(mine, call);
}

void hw_delays_door(struct hw_delays *mine, const struct hw_profile_note *call, uint64_t waited_ns,
                    const struct hw_delay_door *door)
{
    const struct wait wait = {call->began_ns + call->took_ns, waited_ns};
    take(mine, see_before(mine, call), wait, door);
    pass(mine, call);
}

static void write_gap(struct hw_record_list *list, const struct gap *gap, int id)
{
    hw_record_add_gap(list, &(struct hw_record_gap){
                                .id = (uint64_t)id,
                                .from = gap->to ? hw_sites_index(gap->from) : HW_RECORD_ABSENT,
                                .to = gap->to ? hw_sites_index(gap->to) : HW_RECORD_ABSENT,
                                .count = gap->count,
                                .ns = gap->ns,
                                .max_ns = gap->max_ns,
                            });
}

static void write_causes(struct hw_record_list *list, const void *of)
{
    const struct exchange *exchange = of;
    for (int i = 0; i < CAUSE_COUNT && exchange->before[i].ns; i++) {
        int cause = exchange->before[i].cause;
        hw_record_add_cause(list, &(struct hw_record_cause){
                                      .gap = cause < 0 ? -1 - cause : HW_RECORD_ABSENT,
                                      .exchange = cause < 0 ? HW_RECORD_ABSENT : cause,
                                      .ns = exchange->before[i].ns,
                                  });
    }
}

static void write_exchange(struct hw_record_list *list, const struct exchange *exchange, int id)
{
    const struct hw_delay_partner *partner = &exchange->partner;
    struct hw_record_exchange one = {
        .id = (uint64_t)id,
        .site = exchange->site ? hw_sites_index(exchange->site) : HW_RECORD_ABSENT,
        .to = partner->way == HW_DELAY_TO ? partner->rank : HW_RECORD_ABSENT,
        .from = partner->way == HW_DELAY_FROM ? partner->rank : HW_RECORD_ABSENT,
        .tag = partner->tag != NO_TAG ? partner->tag : HW_RECORD_ABSENT,
        .communicator = partner->way == HW_DELAY_WITH_ALL ? hw_comms_index(partner->comm) : HW_RECORD_ABSENT,
        .before = {exchange->before[0].ns ? write_causes : NULL, exchange},
    };
#define COPY_COUNTER(name, meaning) one.name = exchange->name;
    HW_RECORD_EXCHANGE_COUNTERS(COPY_COUNTER)
#undef COPY_COUNTER
    hw_record_add_exchange(list, &one);
}

void hw_delays_write_gaps(struct hw_record_list *list, const void *unused)
{
    (void)unused;
    for (int i = 0; i <= TABLE_COUNT; i++) {
        struct gap one;
        hw_profile_copy(&one, &table->gaps[i], sizeof one);
        if (one.count)
            write_gap(list, &one, i);
    }
}

void hw_delays_write_exchanges(struct hw_record_list *list, const void *unused)
{
    (void)unused;
    for (int i = 0; i <= TABLE_COUNT; i++) {
        struct exchange one;
        hw_profile_copy(&one, &table->exchanges[i], sizeof one);
        if (one.waits || one.shared_ns || one.looks || one.lost)
            write_exchange(list, &one, i);
    }
}
