/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile/callers/packings.h"

#include "profile/callers/sites.h"
#include "profile/record/lock.h"

enum { ENTRY_COUNT = 1024, MAX_USED_COUNT = ENTRY_COUNT * 3 / 4 };

_Thread_local struct hw_packing_seen hw_packing_seen[HW_PACKING_DIRECTIONS];

/* Messages of one class at one call site. Under the lock. Those that come when the table is full are not
 * told of. */
struct entry {
    const struct hw_packing_class *of; /* NULL: free */
    unsigned site;
    uint64_t calls, bytes, packed;
};
static struct entry entries[ENTRY_COUNT];
static int used_count;

static uint32_t hash(const struct hw_packing_class *of, unsigned site)
{
    uint64_t key = (uint64_t)(uintptr_t)of ^ (uint64_t)site << 48;
    return (uint32_t)(key * UINT64_C(0x9E3779B97F4A7C15) >> 32) % ENTRY_COUNT;
}

/* NULL: no room. */
static struct entry *find(const struct hw_packing_class *of, unsigned site)
{
    uint32_t i = hash(of, site);
    for (; entries[i].of != NULL; i = (i + 1) % ENTRY_COUNT)
        if (entries[i].of == of && entries[i].site == site)
            return &entries[i];
    if (used_count == MAX_USED_COUNT)
        return NULL;
    used_count++;
    entries[i].site = site;
    entries[i].of = of;
    return &entries[i];
}

void hw_packings_count(const void *site, const char *function, uint64_t bytes)
{
    hw_profile_lock();
    unsigned index = hw_sites_index(hw_sites_find(site, function, bytes));
    for (int i = 0; i < HW_PACKING_DIRECTIONS; i++) {
        const struct hw_packing_seen *seen = &hw_packing_seen[i];
        struct entry *entry = seen->of ? find(seen->of, index) : NULL;
        if (entry == NULL)
            continue;
        entry->calls++;
        entry->bytes += (uint64_t)seen->bytes;
        entry->packed += seen->is_packed;
    }
    hw_profile_unlock();
}

static void write_entry(struct hw_record_list *list, const struct entry *entry)
{
    const struct hw_packing_class *of = entry->of;
    uint64_t tried_bytes = hw_atomic_load_acquire(&of->tried_bytes);
    hw_record_add_derived(list, &(struct hw_record_derived){
                                    .site = entry->site,
                                    .is_receive = of->is_receive,
                                    .type_bytes = of->type_bytes,
                                    .type_blocks = of->type_blocks,
                                    .type_extent = of->type_extent,
                                    .calls = entry->calls,
                                    .bytes = entry->bytes,
                                    .packed = entry->packed,
                                    .tried_bytes = tried_bytes,
                                    .mpi_ns = tried_bytes ? hw_atomic_load_relaxed(&of->mpi_ns) : 0,
                                    .headway_ns = tried_bytes ? hw_atomic_load_relaxed(&of->headway_ns) : 0,
                                });
}

static void write_all(struct hw_record_list *list, const void *unused)
{
    (void)unused;
    for (int i = 0; i < ENTRY_COUNT; i++) {
        struct entry one;
        hw_profile_copy(&one, &entries[i], sizeof one);
        if (one.of)
            write_entry(list, &one);
    }
}

struct hw_record_part hw_packings_describe(void)
{
    int count = 0;
    hw_profile_copy(&count, &used_count, sizeof count);
    return (struct hw_record_part){count > 0 ? write_all : NULL, NULL};
}
