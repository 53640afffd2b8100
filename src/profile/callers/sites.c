/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile/callers/sites.h"

#include "profile/callers/callers.h"
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

static void write_site(struct hw_record_list *list, const struct hw_profile_site *site, unsigned id)
{
    struct hw_record_site one = {
        .id = id, .function = site->function, .size_class = site->size_class, .offset = HW_RECORD_ABSENT};
    struct hw_record_python line;
    const struct hw_python_place *python = hw_python_place_of(site->address);
    if (python) {
        line = (struct hw_record_python){python->file, python->function, (uint64_t)python->line};
        one.python = &line;
    }
    const void *address = python ? python->address : site->address;
    struct hw_place found = {0};
    const struct hw_place *place = hw_callers_place_of(address);
    if (!place && hw_place_find(address, &found))
        place = &found;
    if (place) {
        one.module = place->module;
        one.offset = (int64_t)place->offset;
        one.symbol = place->symbol;
        one.build_id = place->build_id;
    }
#define COPY_COUNTER(name, meaning) one.name = site->name;
    HW_RECORD_SITE_COUNTERS(COPY_COUNTER)
#undef COPY_COUNTER
    hw_record_add_site(list, &one);
    if (place == &found)
        hw_place_release(&found);
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
