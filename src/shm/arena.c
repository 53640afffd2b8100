/* SPDX-License-Identifier: BSD-3-Clause */
#include "shm/arena.h"

#include "shm/file_identity.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A run is a mapping for small pieces: units of a cache line. */
enum { UNIT_BYTES = 64, RUN_BYTES = 1024 * 1024, RUN_UNITS = RUN_BYTES / UNIT_BYTES };
enum { SMALL_BYTES = 64 * 1024, KEPT_BYTES = 32 * 1024 * 1024, FIRST_CAPACITY = 16 };

/* More mappings than this could take away from the program what the kernel allows a process (65530). */
enum { MAPPINGS_MAX = 8192 };

struct run {
    int free_units;
    int first_free;             /* no unit before it is free */
    int16_t lengths[RUN_UNITS]; /* at the first unit of a piece: its units, negative if it is free */
};

struct mapping {
    char *address;
    size_t bytes;
    int64_t place; /* in the file */
    bool is_used;
    bool was_used;   /* by somebody before: not zero */
    struct run *run; /* NULL: one piece */
};

static struct {
    int fd;
    struct hw_file_identity identity;
    int64_t first, next, end;
    struct hw_arena_range range; /* the addresses of `first` and of what follows it */
    int64_t next_in_range;       /* while there is room; `next` is behind the range */
    struct mapping *mappings;    /* by address */
    size_t count, capacity, kept_bytes;
} arena = {.fd = -1};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* guards all of it */

bool hw_arena_is_open;

static bool is_file_there(void) { return hw_file_is(arena.fd, arena.identity); }

static void before_fork(void) { pthread_mutex_lock(&mutex); }

static void after_fork(void) { pthread_mutex_unlock(&mutex); }

/* Private from here on. The file stays the parent's: nothing is taken from it or given back any more. */
static void after_fork_in_child(void)
{
    for (size_t i = 0; i < arena.count && is_file_there(); i++) {
        const struct mapping *mapping = &arena.mappings[i];
        (void)mmap(mapping->address, mapping->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED,
                   arena.fd, mapping->place);
    }
    arena.fd = -1;
    pthread_mutex_unlock(&mutex);
}

enum hw_status hw_arena_open(int fd, int64_t first, int64_t bytes)
{
    arena.identity = hw_file_identify(fd);
    if (!hw_file_is(fd, arena.identity) || pthread_atfork(before_fork, after_fork, after_fork_in_child) != 0)
        return HW_NOMEM;
    arena.fd = fd;
    arena.first = arena.next = first;
    arena.end = first + bytes;
    hw_arena_is_open = true;
    return HW_OK;
}

/* ---- mappings ---- */

/* The first whose address is above. */
static size_t find_above(const char *address)
{
    size_t low = 0, high = arena.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (arena.mappings[middle].address > address)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static struct mapping *find_mapping(const char *address)
{
    size_t above = find_above(address);
    struct mapping *mapping = above > 0 ? &arena.mappings[above - 1] : NULL;
    return mapping && address < mapping->address + mapping->bytes ? mapping : NULL;
}

static bool reserve_entry(void)
{
    if (arena.count < arena.capacity)
        return true;
    size_t capacity = arena.capacity ? arena.capacity * 2 : FIRST_CAPACITY;
    struct mapping *larger = realloc(arena.mappings, capacity * sizeof *larger);
    if (larger == NULL)
        return false;
    arena.mappings = larger;
    arena.capacity = capacity;
    return true;
}

static struct mapping *enter(struct mapping mapping)
{
    size_t place = find_above(mapping.address);
    memmove(&arena.mappings[place + 1], &arena.mappings[place],
            (arena.count - place) * sizeof *arena.mappings);
    arena.mappings[place] = mapping;
    arena.count++;
    return &arena.mappings[place];
}

/* The address that goes with a place; NULL: any. */
static char *address_of(int64_t place)
{
    size_t before = (size_t)(place - arena.first);
    return before < arena.range.bytes ? arena.range.base + before : NULL;
}

static bool is_in_range(const char *address)
{
    return address >= arena.range.base && address < arena.range.base + arena.range.bytes;
}

/* Memory that nobody can access, and that costs nothing. At `address`, in place of what is there; NULL:
 * anywhere. */
static char *reserve_addresses(char *address, size_t bytes)
{
    return mmap(address, bytes, PROT_NONE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (address ? MAP_FIXED : 0), -1, 0);
}

enum { MARGIN_BYTES = HW_ARENA_ALIGNMENT }; /* below and above the range */

bool hw_arena_reserve(size_t bytes)
{
    char *memory = reserve_addresses(NULL, bytes + 2 * MARGIN_BYTES);
    if (memory == MAP_FAILED)
        return false;
    arena.range = (struct hw_arena_range){.base = memory + MARGIN_BYTES, .bytes = bytes};
    arena.next_in_range = arena.first;
    arena.next = arena.first + (int64_t)bytes;
    return true;
}

void hw_arena_unreserve(void)
{
    if (arena.range.bytes > 0)
        munmap(arena.range.base - MARGIN_BYTES, arena.range.bytes + 2 * MARGIN_BYTES);
    arena.range = (struct hw_arena_range){0};
    arena.next = arena.first;
}

struct hw_arena_range hw_arena_range(void)
{
    pthread_mutex_lock(&mutex);
    struct hw_arena_range range = arena.fd < 0 ? (struct hw_arena_range){0} : arena.range;
    pthread_mutex_unlock(&mutex);
    return range;
}

/* Private memory first: the kernel refuses it where malloc would be refused, but would give a shared file any
 * length, and kill for it later. Not in the range itself: where it was refused there would be a hole, which
 * the kernel could give to somebody else. */
static char *map_file(size_t bytes, int64_t place)
{
    char *wanted = address_of(place), *mapped = MAP_FAILED;
    char *address = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (address == MAP_FAILED)
        return NULL;
    if (is_file_there())
        mapped = mmap(wanted ? wanted : address, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                      arena.fd, place);
    if (wanted || mapped == MAP_FAILED)
        munmap(address, bytes);
    return mapped == MAP_FAILED ? NULL : mapped;
}

/* `bytes` are a multiple of HW_ARENA_ALIGNMENT. */
static struct mapping *make_mapping(size_t bytes)
{
    size_t room = arena.range.bytes - (size_t)(arena.next_in_range - arena.first);
    bool is_inside = arena.range.bytes > 0 && bytes <= room;
    int64_t *next = is_inside ? &arena.next_in_range : &arena.next;
    if (arena.count >= MAPPINGS_MAX || bytes > (size_t)(arena.end - *next) || !reserve_entry())
        return NULL;
    char *address = map_file(bytes, *next);
    if (address == NULL)
        return NULL;
    struct mapping mapping = {.address = address, .bytes = bytes, .place = *next, .is_used = true};
    *next += (int64_t)bytes;
    return enter(mapping);
}

/* Out of the process, and its pages out of the file. In the range nobody else may get the addresses; if the
 * kernel cannot reserve them (65530 mappings) they stay what they are, and nobody's. */
static void drop(struct mapping *mapping)
{
    if (!mapping->is_used)
        arena.kept_bytes -= mapping->bytes;
    if (madvise(mapping->address, mapping->bytes, MADV_REMOVE) != 0) {
        munlock(mapping->address, mapping->bytes); /* a program may lock all of its memory */
        madvise(mapping->address, mapping->bytes, MADV_REMOVE);
    }
    if (is_in_range(mapping->address))
        (void)reserve_addresses(mapping->address, mapping->bytes);
    else
        munmap(mapping->address, mapping->bytes);
    free(mapping->run);
    size_t index = (size_t)(mapping - arena.mappings);
    arena.count--;
    memmove(mapping, mapping + 1, (arena.count - index) * sizeof *mapping);
}

/* A program that takes and gives back memory again and again must not pay for new pages each time. */
static void keep(struct mapping *mapping)
{
    if (mapping->bytes > KEPT_BYTES) {
        drop(mapping);
        return;
    }
    mapping->is_used = false;
    mapping->was_used = true;
    arena.kept_bytes += mapping->bytes;
    for (size_t i = 0; arena.kept_bytes > KEPT_BYTES; i++)
        if (!arena.mappings[i].is_used)
            drop(&arena.mappings[i--]);
}

/* Not one of which much would be wasted. */
static struct mapping *find_kept(size_t bytes)
{
    for (size_t i = 0; arena.kept_bytes >= bytes && i < arena.count; i++) {
        struct mapping *mapping = &arena.mappings[i];
        if (!mapping->is_used && mapping->bytes >= bytes && mapping->bytes - bytes <= bytes / 4) {
            arena.kept_bytes -= mapping->bytes;
            mapping->is_used = true;
            return mapping;
        }
    }
    return NULL;
}

static struct mapping *take_mapping(size_t bytes)
{
    if (bytes > SIZE_MAX - HW_ARENA_ALIGNMENT)
        return NULL;
    bytes = (bytes + HW_ARENA_ALIGNMENT - 1) & ~(size_t)(HW_ARENA_ALIGNMENT - 1);
    struct mapping *mapping = find_kept(bytes);
    return mapping ? mapping : make_mapping(bytes);
}

/* ---- runs ---- */

static int length_at(const struct run *run, int unit) { return abs(run->lengths[unit]); }

/* The first free piece of that many units, its neighbours joined on the way; -1: there is none. */
static int find_units(struct run *run, int units)
{
    if (run->free_units < units)
        return -1;
    for (int unit = run->first_free; unit < RUN_UNITS; unit += length_at(run, unit)) {
        if (run->lengths[unit] > 0)
            continue;
        int length = length_at(run, unit);
        while (unit + length < RUN_UNITS && run->lengths[unit + length] < 0)
            length += length_at(run, unit + length);
        run->lengths[unit] = (int16_t)-length;
        if (length >= units)
            return unit;
    }
    return -1;
}

static void *take_units(struct mapping *mapping, int units)
{
    struct run *run = mapping->run;
    int unit = find_units(run, units);
    if (unit < 0)
        return NULL;
    int left = length_at(run, unit) - units;
    run->lengths[unit] = (int16_t)units;
    if (left > 0)
        run->lengths[unit + units] = (int16_t)-left;
    if (unit == run->first_free)
        run->first_free += units;
    run->free_units -= units;
    return mapping->address + (size_t)unit * UNIT_BYTES;
}

static void *take_small(size_t bytes)
{
    int units = (int)((bytes + UNIT_BYTES - 1) / UNIT_BYTES);
    for (size_t i = 0; i < arena.count; i++) {
        struct mapping *mapping = &arena.mappings[i];
        void *address = mapping->run ? take_units(mapping, units) : NULL;
        if (address)
            return address;
    }
    struct run *run = calloc(1, sizeof *run);
    struct mapping *mapping = run ? take_mapping(RUN_BYTES) : NULL;
    if (mapping == NULL) {
        free(run);
        return NULL;
    }
    run->free_units = RUN_UNITS;
    run->lengths[0] = -RUN_UNITS;
    mapping->run = run;
    return take_units(mapping, units);
}

/* False: no piece begins there. */
static bool give_units(struct mapping *mapping, const char *address)
{
    struct run *run = mapping->run;
    size_t bytes = (size_t)(address - mapping->address);
    int unit = (int)(bytes / UNIT_BYTES);
    if (bytes % UNIT_BYTES != 0 || run->lengths[unit] <= 0)
        return false;
    run->free_units += run->lengths[unit];
    run->lengths[unit] = (int16_t)-run->lengths[unit];
    if (unit < run->first_free)
        run->first_free = unit;
    if (run->free_units == RUN_UNITS) {
        mapping->run = NULL;
        free(run);
        keep(mapping);
    }
    return true;
}

/* ---- what others call ---- */

void *hw_arena_take(size_t bytes, size_t alignment)
{
    void *address = NULL;
    pthread_mutex_lock(&mutex);
    if (arena.fd < 0 || alignment > (size_t)sysconf(_SC_PAGESIZE)) {
        address = NULL;
    } else if (bytes <= SMALL_BYTES && alignment <= UNIT_BYTES) {
        address = take_small(bytes);
    } else {
        struct mapping *mapping = take_mapping(bytes);
        if (mapping)
            address = mapping->address;
    }
    pthread_mutex_unlock(&mutex);
    return address;
}

void *hw_arena_take_zeroed(size_t bytes, size_t alignment)
{
    char *address = hw_arena_take(bytes, alignment);
    if (address == NULL)
        return NULL;
    pthread_mutex_lock(&mutex);
    const struct mapping *mapping = find_mapping(address);
    size_t all_bytes = mapping->bytes;
    bool is_small = mapping->run != NULL;
    bool was_used = mapping->was_used;
    pthread_mutex_unlock(&mutex);
    /* New pages rather than writing all of the old ones: much of a window may never be touched. */
    if (is_small || (was_used && madvise(address, all_bytes, MADV_REMOVE) != 0))
        memset(address, 0, bytes);
    return address;
}

bool hw_arena_give(void *address)
{
    bool is_ours = false;
    pthread_mutex_lock(&mutex);
    struct mapping *mapping = find_mapping(address);
    if (mapping && arena.fd < 0)
        is_ours = true; /* in a child */
    else if (mapping && mapping->run)
        is_ours = give_units(mapping, address);
    else if (mapping && mapping->is_used && mapping->address == address) {
        keep(mapping);
        is_ours = true;
    }
    pthread_mutex_unlock(&mutex);
    return is_ours;
}

int64_t hw_arena_find(const void *address, size_t bytes)
{
    int64_t place = -1;
    pthread_mutex_lock(&mutex);
    const struct mapping *mapping = arena.fd < 0 ? NULL : find_mapping(address);
    if (mapping && mapping->is_used) {
        size_t before = (size_t)((const char *)address - mapping->address);
        if (bytes <= mapping->bytes - before)
            place = mapping->place + (int64_t)before;
    }
    pthread_mutex_unlock(&mutex);
    return place;
}
