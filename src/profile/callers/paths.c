/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile/callers/paths.h"

#include "base/atomic.h"
#include "base/clock.h"
#include "profile/callers/callers.h"
#include "profile/callers/unwinding.h"
#include "profile/python/python.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

enum { NODE_COUNT = 8192, MAX_USED_COUNT = NODE_COUNT / 2, CHECK_EVERY = 4096 };

/* What unwinding may take: this at once, and this part of the run. */
#define ALLOWANCE_NS (20 * HW_NS_PER_MS)
enum { COST_PARTS = 128 };

struct node {
    _Atomic(const void *) address; /* NULL: free. Written last, released, under the lock */
    const struct node *below;      /* who it called; NULL: MPI */
    atomic_ptrdiff_t distance;     /* from its slot on the stack to the next one's; 0: unwind */
    atomic_uint use_count;         /* of an end; some may be lost */
    atomic_bool is_varying;        /* the distance is never the same */
    atomic_bool is_end;            /* the path is whole */
    bool is_hidden;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
HW_SPARSE static struct node nodes[NODE_COUNT];
static int used_count;
static atomic_uint_fast64_t began_ns, spent_ns;

int hw_paths_depth = 1;

void hw_paths_set_depth(int depth)
{
    hw_atomic_store_relaxed(&began_ns, hw_clock_now_ns());
    hw_paths_depth = depth < HW_PATHS_MOST ? depth : HW_PATHS_MOST;
}

bool hw_paths_is(const void *address) { return (uintptr_t)address - (uintptr_t)nodes < sizeof nodes; }

static struct node *probe(const struct node *below, const void *address)
{
    uint64_t key = ((uint64_t)(uintptr_t)below << 7) ^ (uint64_t)(uintptr_t)address;
    uint32_t i = (uint32_t)(key * UINT64_C(0x9E3779B97F4A7C15) >> 40) % NODE_COUNT;
    for (;; i = (i + 1) % NODE_COUNT) {
        const void *found = hw_atomic_load_acquire(&nodes[i].address);
        if (!found || (found == address && nodes[i].below == below))
            return &nodes[i];
    }
}

static bool is_known(const struct node *node) { return hw_atomic_load_relaxed(&node->address) != NULL; }

/* Known afterwards; NULL: there is no room. */
static struct node *add(const struct node *below, const void *address, bool is_hidden)
{
    pthread_mutex_lock(&lock);
    struct node *node = probe(below, address);
    if (!is_known(node)) {
        if (used_count < MAX_USED_COUNT) {
            used_count++;
            node->below = below;
            node->is_hidden = is_hidden;
            hw_atomic_store_release(&node->address, address);
        } else {
            node = NULL;
        }
    }
    pthread_mutex_unlock(&lock);
    return node;
}

static bool is_affordable(uint64_t now_ns)
{
    return hw_atomic_load_relaxed(&spent_ns) <
           ALLOWANCE_NS + (now_ns - hw_atomic_load_relaxed(&began_ns)) / COST_PARTS;
}

/* Where the next address lies. Two answers make none. */
static void learn_distance(struct node *node, ptrdiff_t distance)
{
    ptrdiff_t before = hw_atomic_load_relaxed(&node->distance);
    if (hw_atomic_load_relaxed(&node->is_varying) || before == distance)
        return;
    if (before != 0 || distance == 0)
        hw_atomic_store_relaxed(&node->is_varying, true);
    hw_atomic_store_relaxed(&node->distance, before == 0 ? distance : 0);
}

/* The nodes of what is on the stack, made where they are new. NULL: it cannot be unwound. */
static struct node *learn(const void *site)
{
    struct hw_unwound frames[HW_UNWOUND_MOST];
    int count = hw_unwind(site, hw_paths_depth, frames);
    struct node *node = NULL, *last = NULL;
    for (int i = 0; i < count; i++) {
        node = add(last, frames[i].address, frames[i].is_layer);
        hw_callers_keep(frames[i].address);
        if (!node)
            return last;
        if (last)
            learn_distance(last,
                           frames[i].slot && frames[i - 1].slot ? frames[i].slot - frames[i - 1].slot : 0);
        last = node;
    }
    if (last)
        hw_atomic_store_relaxed(&last->is_end, true);
    return last;
}

static const void *learn_within_budget(const void *site, const struct node *so_far)
{
    uint64_t before_ns = hw_clock_now_ns();
    const struct node *node = is_affordable(before_ns) ? learn(site) : NULL;
    hw_atomic_add_relaxed(&spent_ns, hw_clock_now_ns() - before_ns);
    if (node)
        return node;
    return so_far && !so_far->is_hidden ? so_far : hw_callers_find(site);
}

/* Often at first, then seldom. What is read from a wrong place is hardly ever a known node. */
static bool is_to_be_checked(unsigned use) { return (use & (use - 1)) == 0 || use % CHECK_EVERY == 0; }

/* Lines of Python: known to the interpreter, not to the stack. */
static const void *find_in_python(const void *site)
{
    const void *found[HW_PATHS_MOST];
    int count = hw_python_find_callers(site, found, hw_paths_depth);
    const struct node *node = NULL;
    for (int i = 0; i < count; i++) {
        const struct node *next = probe(node, found[i]);
        if (!is_known(next) && !(next = add(node, found[i], false)))
            break;
        node = next;
    }
    return node ? node : site;
}

const void *hw_paths_find(const void *site, const void *frame)
{
    if (hw_callers_is_python(site))
        return find_in_python(site);
    int kept_errno = errno;
    const char *slot = (const char *)frame - sizeof(void *);
    const struct node *node = NULL;
    struct node *next = probe(NULL, site);
    while (is_known(next) && !hw_atomic_load_relaxed(&next->is_end)) {
        ptrdiff_t distance = hw_atomic_load_relaxed(&next->distance);
        node = next;
        if (distance == 0 || !hw_stack_has(slot + distance))
            break;
        slot += distance;
        next = probe(node, *(const void *const *)slot);
    }
    const void *found = NULL;
    if (is_known(next) && hw_atomic_load_relaxed(&next->is_end)) {
        unsigned use = hw_atomic_load_relaxed(&next->use_count);
        hw_atomic_store_relaxed(&next->use_count, use + 1);
        found = is_to_be_checked(use) ? learn_within_budget(site, next) : next;
    } else {
        found = learn_within_budget(site, node);
    }
    errno = kept_errno;
    return found;
}

int hw_paths_of(const void *path, const void **own, const void *callers[HW_PATHS_MOST])
{
    const void *upwards[HW_PATHS_MOST + HW_UNWOUND_MOST];
    int count = 0;
    if (!hw_paths_is(path)) {
        *own = path;
        return 0;
    }
    for (const struct node *node = path; node; node = node->below)
        if (!node->is_hidden && count < HW_PATHS_MOST + HW_UNWOUND_MOST)
            upwards[count++] = hw_atomic_load_relaxed(&node->address);
    *own = count ? upwards[count - 1] : NULL;
    int kept = 0;
    for (int i = count - 2; i >= 0 && kept < HW_PATHS_MOST; i--)
        callers[kept++] = upwards[i];
    return kept;
}
