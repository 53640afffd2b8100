/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile/callers/callers.h"
#include "base/atomic.h"
#include "base/visibility.h"
#include "profile/callers/paths.h"
#include "profile/callers/unwinding.h"
#include "profile/python/python.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/auxv.h>

/* More than there are call sites (sites.c). */
enum { SITE_COUNT = 4096, MAX_USED_COUNT = SITE_COUNT / 2, CHECK_EVERY = 64, MAX_FRAME_COUNT = 32 };

/* What is known of a return address. */
struct known {
    _Atomic(const void *) site; /* NULL: free. Written last, released, under the lock */
    atomic_ptrdiff_t distance;  /* from our frame to the program's return address; 0: unwind each time */
    atomic_uint use_count;
    bool is_layer, is_extension;
    struct hw_place place;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
HW_SPARSE static struct known table[SITE_COUNT];
static atomic_int used_count;
static bool (*is_layer_path)(const char *path);

struct hw_callers_program hw_callers_program;

static void find_program(void)
{
    const ElfW(Phdr) *headers = (const void *)getauxval(AT_PHDR); // NOLINT(performance-no-int-to-ptr)
    unsigned long count = getauxval(AT_PHNUM);
    for (unsigned long i = 0; headers && i < count; i++) {
        if (headers[i].p_type != PT_PHDR)
            continue;
        uintptr_t moved_by = (uintptr_t)headers - headers[i].p_vaddr;
        for (unsigned long j = 0; j < count; j++) {
            if (headers[j].p_type != PT_LOAD || !(headers[j].p_flags & PF_X))
                continue;
            hw_callers_program.begin = moved_by + headers[j].p_vaddr;
            hw_callers_program.bytes = headers[j].p_memsz;
            return;
        }
    }
}

void hw_callers_prepare(bool (*is_layer)(const char *path))
{
    is_layer_path = is_layer;
    find_program();
}

bool hw_callers_is_layer(const void *address)
{
    Dl_info info;
    return is_layer_path && dladdr((const char *)address - 1, &info) != 0 && info.dli_fname &&
           is_layer_path(info.dli_fname);
}

static struct known *probe(const void *site)
{
    uint32_t i = (uint32_t)((uint64_t)(uintptr_t)site * UINT64_C(0x9E3779B97F4A7C15) >> 32) % SITE_COUNT;
    for (;; i = (i + 1) % SITE_COUNT) {
        const void *found = hw_atomic_load_acquire(&table[i].site);
        if (!found || found == site)
            return &table[i];
    }
}

/* What is known of a return address, found out if it is new; NULL when the table is full. The loader is asked
 * without the lock. */
static struct known *find(const void *site)
{
    struct known *known = probe(site);
    if (hw_atomic_load_relaxed(&known->site))
        return known;
    if (hw_atomic_load_relaxed(&used_count) == MAX_USED_COUNT)
        return NULL;
    bool is_layer = hw_callers_is_layer(site), is_extension = !is_layer && hw_python_is_extension(site);
    is_layer = is_layer && hw_unwinder_open();
    struct hw_place place = {0};
    hw_place_find(site, &place);
    pthread_mutex_lock(&lock);
    known = probe(site);
    if (!hw_atomic_load_relaxed(&known->site)) {
        if (hw_atomic_load_relaxed(&used_count) < MAX_USED_COUNT) {
            hw_atomic_add_relaxed(&used_count, 1);
            known->is_layer = is_layer;
            known->is_extension = is_extension;
            known->place = place;
            place = (struct hw_place){0};
            hw_atomic_store_release(&known->site, site);
        } else {
            known = NULL;
        }
    }
    pthread_mutex_unlock(&lock);
    hw_place_release(&place);
    return known;
}

const struct hw_place *hw_callers_place_of(const void *site)
{
    const struct known *known = probe(site);
    bool is_known = hw_atomic_load_relaxed(&known->site) && known->place.module;
    return is_known ? &known->place : NULL;
}

struct walk {
    const struct hw_unwinder *unwinder;
    const void *site;
    bool is_above; /* past the frame that returns to the site */
    int frame_count;
    const void *caller;
    const char *slot; /* where its address lies on the stack; NULL: not there */
};

static _Unwind_Reason_Code step(struct _Unwind_Context *context, void *argument)
{
    struct walk *walk = argument;
    const void *address = (const void *)walk->unwinder->ip(context); // NOLINT(performance-no-int-to-ptr)
    if (++walk->frame_count > MAX_FRAME_COUNT || !address)
        return _URC_END_OF_STACK;
    if (!walk->is_above) {
        walk->is_above = address == walk->site;
        return _URC_NO_REASON;
    }
    if (hw_callers_is_layer(address))
        return _URC_NO_REASON;
    walk->caller = address;
    /* The frame below ends here; on this processor the return address is the last word of it. */
    const char *slot =
        (const char *)walk->unwinder->cfa(context) - sizeof(void *); // NOLINT(performance-no-int-to-ptr)
    if (*(const void *const *)slot == address)
        walk->slot = slot;
    return _URC_END_OF_STACK;
}

/* Not inlined: distances are from its frame. */
static __attribute__((noinline)) const void *caller_through(struct known *known, const void *site)
{
    const char *base = __builtin_frame_address(0);
    ptrdiff_t distance = hw_atomic_load_relaxed(&known->distance);
    unsigned use = hw_atomic_add_relaxed(&known->use_count, 1);
    if (distance && use % CHECK_EVERY && hw_stack_has(base + distance))
        return *(const void *const *)(base + distance);
    struct walk walk = {.unwinder = hw_unwinder_open(), .site = site};
    walk.unwinder->backtrace(step, &walk);
    if (!walk.caller)
        return site;
    ptrdiff_t found = walk.slot ? walk.slot - base : 0;
    if (use == 0)
        hw_atomic_store_relaxed(&known->distance, found);
    else if (found != distance) /* the frame's size varies: never again from memory */
        hw_atomic_store_relaxed(&known->distance, 0);
    return walk.caller;
}

/* The program's part that called through a layer may be unloaded before the record is written. */
static const void *place_kept(const void *caller)
{
    if ((uintptr_t)caller - hw_callers_program.begin >= hw_callers_program.bytes)
        find(caller);
    return caller;
}

bool hw_callers_is_python(const void *site)
{
    if ((uintptr_t)site - hw_callers_program.begin < hw_callers_program.bytes)
        return false;
    const struct known *known = find(site);
    return known && known->is_extension;
}

void hw_callers_keep(const void *caller) { place_kept(caller); }

const void *hw_callers_look_up(const void *site)
{
    if (hw_paths_is(site))
        return site;
    int kept_errno = errno;
    struct known *known = find(site);
    const void *caller = site;
    if (known && known->is_extension)
        caller = hw_python_find(site);
    else if (known && known->is_layer)
        caller = place_kept(caller_through(known, site));
    errno = kept_errno;
    return caller;
}
