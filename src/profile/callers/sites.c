/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile/callers/sites.h"

#include "profile/callers/callers.h"
#include "profile/callers/paths.h"
#include "profile/callers/places.h"
#include "profile/python/python.h"
#include "profile/record/lock.h"

#include <string.h>
#include <sys/mman.h>

enum { SITE_COUNT = 2048, MAX_USED_COUNT = SITE_COUNT * 3 / 4 };

static struct hw_profile_site *table; /* SITE_COUNT of them, and one for the rest */
static int used_count;

bool hw_sites_open(void)
{
    void *memory = mmap(NULL, (SITE_COUNT + 1) * sizeof *table, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return false;
    table = memory;
    table[SITE_COUNT].function = "others";
    return true;
}

static unsigned class_of(uint64_t bytes) { return bytes ? 64U - (unsigned)__builtin_clzll(bytes) : 0; }

static uint32_t hash(const void *address, const char *function, unsigned size_class)
{
    uint64_t key = (uint64_t)(uintptr_t)address ^ (uint64_t)(uintptr_t)function << 17 ^ size_class;
    return (uint32_t)(key * UINT64_C(0x9E3779B97F4A7C15) >> 32) % SITE_COUNT;
}

struct hw_profile_site *hw_sites_find(const void *address, const char *function, uint64_t bytes)
{
    unsigned size_class = class_of(bytes);
    struct hw_profile_site *site = NULL;
    for (uint32_t i = hash(address, function, size_class);; i = (i + 1) % SITE_COUNT) {
        site = &table[i];
        if (!site->address)
            break;
        if (site->address == address && site->function == function && site->size_class == size_class)
            return site;
    }
    if (used_count == MAX_USED_COUNT)
        return &table[SITE_COUNT];
    used_count++;
    site->address = address;
    site->function = function;
    site->size_class = size_class;
    return site;
}

void hw_sites_count(struct hw_profile_site *site, uint64_t bytes, uint64_t took_ns)
{
    site->calls++;
    site->bytes += bytes;
    site->call_ns += took_ns;
    if (took_ns > site->max_ns)
        site->max_ns = took_ns;
}

unsigned hw_sites_index(const struct hw_profile_site *site) { return (unsigned)(site - table); }

/* What is told of an address. */
struct spot {
    bool is_python;
    struct hw_record_python line;
    const struct hw_place *place; /* NULL: not known */
    struct hw_place found;        /* to be released */
};

static void find_spot(struct spot *spot, const void *address)
{
    const struct hw_python_place *python = hw_python_place_of(address);
    *spot = (struct spot){.is_python = python != NULL};
    if (python) {
        spot->line = (struct hw_record_python){python->file, python->function, (uint64_t)python->line};
        address = python->address;
    }
    spot->place = hw_callers_place_of(address);
    if (!spot->place && hw_place_find(address, &spot->found))
        spot->place = &spot->found;
}

struct path {
    const void *callers[HW_PATHS_MOST];
    int count;
};

static void write_callers(struct hw_record_list *list, const void *of)
{
    const struct path *path = of;
    for (int i = 0; i < path->count; i++) {
        struct spot spot;
        find_spot(&spot, path->callers[i]);
        struct hw_record_frame one = {.offset = HW_RECORD_ABSENT,
                                      .python = spot.is_python ? &spot.line : NULL};
        if (spot.place && !spot.is_python) {
            one.module = spot.place->module;
            one.offset = (int64_t)spot.place->offset;
            one.symbol = spot.place->symbol;
            one.build_id = spot.place->build_id;
        }
        hw_record_add_frame(list, &one);
        hw_place_release(&spot.found);
    }
}

static void write_site(struct hw_record_list *list, const struct hw_profile_site *site, unsigned id)
{
    struct hw_record_site one = {
        .id = id, .function = site->function, .size_class = site->size_class, .offset = HW_RECORD_ABSENT};
    const void *address = NULL;
    struct path path = {0};
    path.count = hw_paths_of(site->address, &address, path.callers);
    struct spot spot;
    find_spot(&spot, address);
    one.python = spot.is_python ? &spot.line : NULL;
    if (spot.place) {
        one.module = spot.place->module;
        one.offset = (int64_t)spot.place->offset;
        one.symbol = spot.place->symbol;
        one.build_id = spot.place->build_id;
    }
    if (path.count > 0)
        one.callers = (struct hw_record_part){write_callers, &path};
#define COPY_COUNTER(name, meaning) one.name = site->name;
    HW_RECORD_SITE_COUNTERS(COPY_COUNTER)
#undef COPY_COUNTER
    hw_record_add_site(list, &one);
    hw_place_release(&spot.found);
}

void hw_sites_write(struct hw_record_list *list, const void *unused)
{
    (void)unused;
    for (unsigned i = 0; i <= SITE_COUNT; i++) {
        struct hw_profile_site one;
        hw_profile_copy(&one, &table[i], sizeof one);
        if (one.calls || one.completed)
            write_site(list, &one, i);
    }
}
