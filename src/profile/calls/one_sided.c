/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile/calls/one_sided.h"

#include "profile/callers/sites.h"
#include "profile/record/lock.h"
#include "profile/waits/moments.h"
#include "profile/waits/wire_windows.h"

#include <stdlib.h>
#include <string.h>

enum { BUCKET_COUNT = 256, TABLE_COUNT = 512, MAX_USED_COUNT = TABLE_COUNT * 3 / 4, PENDING_BITS = 6 };
enum { PENDING_COUNT = 1 << PENDING_BITS, ENDED_COUNT = 8, HELD_COUNT = 8, MAX_TARGET_COUNT = 16 };
/* Of a wait: several targets, or none that is known. */
enum { SEVERAL = -1 };

static const char *const memory_names[HW_ONE_SIDED_MEMORY_COUNT] = {
    [HW_ONE_SIDED_ALLOCATED] = "allocate",     [HW_ONE_SIDED_SHARED] = "allocate_shared",
    [HW_ONE_SIDED_CREATED] = "create",         [HW_ONE_SIDED_ON_ALLOCATED] = "create on Alloc_mem",
    [HW_ONE_SIDED_DYNAMIC] = "create_dynamic",
};

struct window {
    struct hw_one_sided_window its;
    int rank_count;
    int *ranks; /* in the world; NULL: as in the window */
    struct window *next;
};

struct range {
    const void *base;
    uint64_t size_bytes;
    struct range *next;
};

struct entry {
    const struct hw_profile_site *site; /* NULL: free */
    int target;                         /* in the world, or SEVERAL */
    enum hw_one_sided_memory memory;
    uint64_t waits, wait_ns, shared_ns;
};

/* All under the lock. */
static struct {
    struct window *windows[BUCKET_COUNT];
    struct range *ranges[BUCKET_COUNT];
    struct entry entries[TABLE_COUNT + 1]; /* the last one for what comes when it is full */
    int entry_count;
    uint64_t made_count[HW_ONE_SIDED_MEMORY_COUNT];
    struct hw_one_sided_mpi mpi;
} * table;

/* A thread's own. What it has lost sight of is taken for not pending. */
struct hw_one_sided_mine {
    struct {
        uint64_t window, since_ns;
        int target;
    } pending[PENDING_COUNT];
    struct {
        uint64_t window, ended_ns; /* what was issued before is complete at all targets */
    } ended[ENDED_COUNT];
    uint64_t lost_ns; /* likewise, of all windows */
    struct {
        uint64_t window, since_ns; /* since_ns is 0: free */
        int target;
    } held[HELD_COUNT]; /* exclusive locks; more than these are not seen */
};

static uint64_t hash_of(uint64_t key) { return key * UINT64_C(0x9E3779B97F4A7C15); }

static unsigned bucket_of(uint64_t key) { return (unsigned)(hash_of(key) >> 32) % BUCKET_COUNT; }

static bool open_table(void)
{
    if (!table)
        table = calloc(1, sizeof *table);
    return table != NULL;
}

static struct window **find_link(uint64_t handle)
{
    struct window **link = &table->windows[bucket_of(handle)];
    while (*link && (*link)->its.handle != handle)
        link = &(*link)->next;
    return link;
}

static bool is_within(const void *base, uint64_t size_bytes, const void *whole, uint64_t whole_bytes)
{
    return (uintptr_t)base >= (uintptr_t)whole &&
           (uintptr_t)base - (uintptr_t)whole + size_bytes <= whole_bytes;
}

/* A program has few of either, and makes few windows. */
static bool is_on_allocated(const struct hw_one_sided_window *window)
{
    bool is_on = window->size_bytes == 0;
    for (int i = 0; i < BUCKET_COUNT && !is_on; i++) {
        for (const struct range *range = table->ranges[i]; range && !is_on; range = range->next)
            is_on = is_within(window->base, window->size_bytes, range->base, range->size_bytes);
        for (const struct window *other = table->windows[i]; other && !is_on; other = other->next)
            is_on = other->its.memory == HW_ONE_SIDED_ALLOCATED &&
                    is_within(window->base, window->size_bytes, other->its.base, other->its.size_bytes);
    }
    return is_on;
}

/* Which ranks of the world they are: the program may free the communicator right after. */
static void learn_ranks(struct window *window, int size)
{
    bool is_same = true;
    window->rank_count = size;
    window->ranks = malloc((size_t)(size > 0 ? size : 1) * sizeof *window->ranks);
    for (int i = 0; window->ranks && i < size; i++) {
        window->ranks[i] = hw_comms_world_rank(window->its.comm, i);
        is_same = is_same && window->ranks[i] == i;
    }
    if (!window->ranks)
        window->rank_count = 0;
    if (is_same) {
        free(window->ranks);
        window->ranks = NULL;
    }
}

void hw_one_sided_made(const struct hw_one_sided_window *made, const struct hw_one_sided_mpi *mpi)
{
    hw_profile_lock();
    struct window *window = open_table() ? calloc(1, sizeof *window) : NULL;
    if (window) {
        window->its = *made;
        if (made->memory == HW_ONE_SIDED_CREATED && is_on_allocated(made))
            window->its.memory = HW_ONE_SIDED_ON_ALLOCATED;
        learn_ranks(window, hw_comms_size(made->comm));
        table->made_count[window->its.memory]++;
        table->mpi = *mpi;
        struct window **link = find_link(made->handle);
        window->next = *link ? (*link)->next : NULL;
        free(*link);
        *link = window;
    }
    hw_profile_unlock();
}

void hw_one_sided_freed(uint64_t handle)
{
    if (!table)
        return;
    hw_profile_lock();
    struct window **link = find_link(handle), *window = *link;
    if (window) {
        *link = window->next;
        free(window->ranks);
        free(window);
    }
    hw_profile_unlock();
}

void hw_one_sided_allocated(const void *base, uint64_t size_bytes)
{
    hw_profile_lock();
    struct range *range = open_table() ? malloc(sizeof *range) : NULL;
    if (range) {
        struct range **link = &table->ranges[bucket_of((uintptr_t)base)];
        *range = (struct range){base, size_bytes, *link};
        *link = range;
    }
    hw_profile_unlock();
}

void hw_one_sided_released(const void *base)
{
    if (!table)
        return;
    hw_profile_lock();
    struct range **link = &table->ranges[bucket_of((uintptr_t)base)];
    while (*link && (*link)->base != base)
        link = &(*link)->next;
    struct range *range = *link;
    if (range) {
        *link = range->next;
        free(range);
    }
    hw_profile_unlock();
}

static struct entry *find_entry(const struct hw_profile_site *site, int target,
                                enum hw_one_sided_memory memory)
{
    unsigned at = (unsigned)(hash_of((uintptr_t)site ^ (uint64_t)(unsigned)target << 3 ^ memory) >> 32);
    struct entry *entry = NULL;
    for (at %= TABLE_COUNT;; at = (at + 1) % TABLE_COUNT) {
        entry = &table->entries[at];
        if (!entry->site)
            break;
        if (entry->site == site && entry->target == target && entry->memory == memory)
            return entry;
    }
    if (table->entry_count == MAX_USED_COUNT)
        return &table->entries[TABLE_COUNT];
    table->entry_count++;
    *entry = (struct entry){.site = site, .target = target, .memory = memory};
    return entry;
}

static int in_world(const struct window *window, int target)
{
    if (target < 0 || target >= window->rank_count)
        return SEVERAL;
    int rank = window->ranks ? window->ranks[target] : target;
    return rank < 0 ? SEVERAL : rank;
}

static uint64_t ended_of(const struct hw_one_sided_mine *own, uint64_t window)
{
    unsigned at = (unsigned)(hash_of(window) >> 32) % ENDED_COUNT;
    return own->ended[at].window == window && own->ended[at].ended_ns > own->lost_ns ? own->ended[at].ended_ns
                                                                                     : own->lost_ns;
}

static void end_all(struct hw_one_sided_mine *own, uint64_t window, uint64_t now_ns)
{
    unsigned at = (unsigned)(hash_of(window) >> 32) % ENDED_COUNT;
    if (own->ended[at].window && own->ended[at].window != window && own->ended[at].ended_ns > own->lost_ns)
        own->lost_ns = own->ended[at].ended_ns;
    own->ended[at].window = window;
    own->ended[at].ended_ns = now_ns;
}

static unsigned slot_of(uint64_t window, int target)
{
    return (unsigned)(hash_of(window + (uint64_t)(unsigned)target) >> (64 - PENDING_BITS));
}

/* Since when something is pending at the target; 0: nothing is, as far as is known. */
static uint64_t pending_since(const struct hw_one_sided_mine *own, unsigned slot, uint64_t window, int target)
{
    uint64_t since_ns = own->pending[slot].since_ns;
    bool is_it = own->pending[slot].window == window && own->pending[slot].target == target;
    return is_it && since_ns > ended_of(own, window) ? since_ns : 0;
}

static bool completes(const struct hw_one_sided_call *call)
{
    return call->kind == HW_ONE_SIDED_COMPLETES || call->kind == HW_ONE_SIDED_UNLOCKS;
}

static void add_wait(struct entry *entry, const struct hw_one_sided_call *call, uint64_t since_ns)
{
    entry->waits++;
    entry->wait_ns += call->ended_ns - call->began_ns;
    hw_moments_wait(since_ns, call->began_ns, call->ended_ns, (int)(entry - table->entries));
}

/* A wait for everything that is pending in the window: nothing else is known of others there. */
static void wait_for_all(const struct hw_one_sided_mine *own, const struct window *window,
                         const struct hw_profile_site *site, const struct hw_one_sided_call *call)
{
    enum hw_one_sided_memory memory = window->its.memory;
    struct entry *found[MAX_TARGET_COUNT];
    uint64_t since_ns[MAX_TARGET_COUNT];
    int count = 0, target_count = 0;
    for (unsigned slot = 0; slot < PENDING_COUNT; slot++) {
        if (own->pending[slot].window != call->window)
            continue;
        uint64_t since = pending_since(own, slot, call->window, own->pending[slot].target);
        if (since == 0 || ++target_count > MAX_TARGET_COUNT)
            continue;
        since_ns[count] = since;
        found[count++] = find_entry(site, in_world(window, own->pending[slot].target), memory);
    }
    if (target_count == 0) /* it waited for others to come, if for anything */
        return;
    if (target_count == 1) {
        add_wait(found[0], call, since_ns[0]);
        return;
    }
    struct entry *all = find_entry(site, SEVERAL, memory);
    all->waits++;
    all->wait_ns += call->ended_ns - call->began_ns;
    for (int i = 0; i < count && target_count <= MAX_TARGET_COUNT; i++) {
        found[i]->shared_ns += call->ended_ns - call->began_ns;
        hw_moments_wait(since_ns[i], call->began_ns, call->ended_ns, (int)(found[i] - table->entries));
    }
}

static __attribute__((noinline)) void note_wait(const struct hw_one_sided_mine *own,
                                                const struct hw_one_sided_call *call)
{
    hw_profile_lock();
    const struct window *window = table ? *find_link(call->window) : NULL;
    if (window) {
        const struct hw_profile_site *site = hw_sites_find(call->site, call->function, call->bytes);
        if (call->target == HW_ONE_SIDED_ALL) {
            wait_for_all(own, window, site, call);
        } else {
            uint64_t since_ns = completes(call) ? pending_since(own, slot_of(call->window, call->target),
                                                                call->window, call->target)
                                                : 0;
            add_wait(find_entry(site, in_world(window, call->target), window->its.memory), call,
                     since_ns ? since_ns : call->began_ns);
        }
    }
    hw_profile_unlock();
}

/* From the moment it was issued; an operation that is pending there already began earlier. */
static void issue(struct hw_one_sided_mine *own, const struct hw_one_sided_call *call)
{
    unsigned slot = slot_of(call->window, call->target);
    if (pending_since(own, slot, call->window, call->target))
        return;
    own->pending[slot].window = call->window;
    own->pending[slot].target = call->target;
    own->pending[slot].since_ns = call->ended_ns;
}

static void complete(struct hw_one_sided_mine *own, const struct hw_one_sided_call *call)
{
    if (call->target == HW_ONE_SIDED_ALL) {
        end_all(own, call->window, call->ended_ns);
        return;
    }
    unsigned slot = slot_of(call->window, call->target);
    if (own->pending[slot].window == call->window && own->pending[slot].target == call->target)
        own->pending[slot].since_ns = 0;
}

static void hold(struct hw_one_sided_mine *own, const struct hw_one_sided_call *call)
{
    for (int i = 0; i < HELD_COUNT; i++) {
        if (own->held[i].since_ns)
            continue;
        own->held[i].window = call->window;
        own->held[i].target = call->target;
        own->held[i].since_ns = call->ended_ns;
        return;
    }
}

/* Who asked for the lock meanwhile waited for this, whatever the target did. */
static void tell_of_hold(const struct hw_one_sided_call *call, uint64_t since_ns)
{
    hw_profile_lock();
    const struct window *window = table ? *find_link(call->window) : NULL;
    int target = window ? in_world(window, call->target) : SEVERAL;
    if (target != SEVERAL)
        hw_moments_hold(since_ns, call->began_ns, (unsigned)target);
    hw_profile_unlock();
}

static void give_up(struct hw_one_sided_mine *own, const struct hw_one_sided_call *call)
{
    for (int i = 0; i < HELD_COUNT; i++) {
        uint64_t since_ns = own->held[i].since_ns;
        if (!since_ns || own->held[i].window != call->window || own->held[i].target != call->target)
            continue;
        own->held[i].since_ns = 0;
        if (call->began_ns > since_ns + HW_ONE_SIDED_LEAST_NS)
            tell_of_hold(call, since_ns);
    }
}

void hw_one_sided_note(struct hw_profile_thread *mine, const struct hw_one_sided_call *call)
{
    if (call->target < 0 && call->target != HW_ONE_SIDED_ALL) /* MPI_PROC_NULL */
        return;
    if (!mine->one_sided && !(mine->one_sided = calloc(1, sizeof *mine->one_sided)))
        return;
    if (__builtin_expect(call->ended_ns > call->began_ns + HW_ONE_SIDED_LEAST_NS, 0))
        note_wait(mine->one_sided, call);
    if (call->kind == HW_ONE_SIDED_ISSUES)
        issue(mine->one_sided, call);
    else if (call->kind == HW_ONE_SIDED_LOCKS)
        hold(mine->one_sided, call);
    else if (completes(call))
        complete(mine->one_sided, call);
    if (call->kind == HW_ONE_SIDED_UNLOCKS)
        give_up(mine->one_sided, call);
}

void hw_one_sided_forget_thread(struct hw_profile_thread *mine)
{
    if (mine->one_sided)
        memset(mine->one_sided, 0, sizeof *mine->one_sided);
}

static void write_waits(struct hw_record_list *list, const void *unused)
{
    (void)unused;
    for (int i = 0; i <= TABLE_COUNT; i++) {
        struct entry one;
        hw_profile_copy(&one, &table->entries[i], sizeof one);
        const struct entry *entry = &one;
        if (!entry->waits && !entry->shared_ns)
            continue;
        bool has_target = entry->site && entry->target != SEVERAL;
        hw_record_add_target_wait(list,
                                  &(struct hw_record_target_wait){
                                      .id = (uint64_t)i,
                                      .site = entry->site ? hw_sites_index(entry->site) : HW_RECORD_ABSENT,
                                      .memory = entry->site ? memory_names[entry->memory] : NULL,
                                      .target = has_target ? entry->target : HW_RECORD_ABSENT,
                                      .waits = entry->waits,
                                      .wait_ns = entry->wait_ns,
                                      .shared_ns = entry->shared_ns,
                                  });
    }
}

static void write_windows(struct hw_record_list *list, const void *unused)
{
    (void)unused;
    for (int i = 0; i < HW_ONE_SIDED_MEMORY_COUNT; i++)
        if (table->made_count[i])
            hw_record_add_count(list, memory_names[i], table->made_count[i]);
}

static bool is_any_made(void)
{
    for (int i = 0; i < HW_ONE_SIDED_MEMORY_COUNT; i++)
        if (table->made_count[i])
            return true;
    return false;
}

const struct hw_record_one_sided *hw_one_sided_describe(bool is_last)
{
    static struct hw_record_one_sided told;
    if (!table || !is_any_made())
        return NULL;
    told = (struct hw_record_one_sided){.node_direct = table->mpi.is_node_direct,
                                        .node_accumulate_slow = table->mpi.is_node_accumulate_slow,
                                        .sound = table->mpi.is_sound,
                                        .tcp_bytes = hw_wire_so_far(is_last),
                                        .windows = {write_windows, NULL},
                                        .waits = {write_waits, NULL}};
    return &told;
}
