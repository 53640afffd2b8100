/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile/callers/unwinding.h"

#include "profile/callers/callers.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Between the caller and the program's frame, ours among them. */
enum { MOST_BELOW = 16 };

static struct hw_unwinder unwinder;
static bool is_there;

static void open_once(void)
{
    void *library = dlopen("libgcc_s.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return;
    *(void **)&unwinder.ip = dlsym(library, "_Unwind_GetIP");
    *(void **)&unwinder.cfa = dlsym(library, "_Unwind_GetCFA");
    *(void **)&unwinder.backtrace = dlsym(library, "_Unwind_Backtrace");
    is_there = unwinder.backtrace && unwinder.ip && unwinder.cfa;
}

const struct hw_unwinder *hw_unwinder_open(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, open_once);
    return is_there ? &unwinder : NULL;
}

/* Of the calling thread; of no bytes where that is not to be had. */
static _Thread_local struct {
    uintptr_t begin;
    size_t bytes;
    bool is_asked;
} stack __attribute__((tls_model("initial-exec")));

static void find_stack(void)
{
    pthread_attr_t attributes;
    void *begin = NULL;
    stack.is_asked = true;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
        return;
    if (pthread_attr_getstack(&attributes, &begin, &stack.bytes) != 0)
        stack.bytes = 0;
    stack.begin = (uintptr_t)begin;
    pthread_attr_destroy(&attributes);
}

bool hw_stack_has(const void *word)
{
    if (!stack.is_asked)
        find_stack();
    return stack.bytes >= sizeof(void *) && (uintptr_t)word - stack.begin <= stack.bytes - sizeof(void *);
}

struct walk {
    const void *site;
    int below_count, wanted, seen_count; /* seen: no layers */
    int count;
    struct hw_unwound *frames;
};

/* What calls main, or the function of a thread. */
static bool is_in_libc(const void *address)
{
    static const char *const names[] = {"libc.", "libc-", "libpthread", "ld-linux", "ld-2"};
    Dl_info info;
    if (dladdr((const char *)address - 1, &info) == 0 || !info.dli_fname)
        return false;
    const char *slash = strrchr(info.dli_fname, '/');
    const char *name = slash ? slash + 1 : info.dli_fname;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strncmp(name, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

static _Unwind_Reason_Code step(struct _Unwind_Context *context, void *argument)
{
    struct walk *walk = argument;
    const void *address = (const void *)unwinder.ip(context); // NOLINT(performance-no-int-to-ptr)
    if (!address)
        return _URC_END_OF_STACK;
    if (walk->count == 0 && address != walk->site)
        return ++walk->below_count > MOST_BELOW ? _URC_END_OF_STACK : _URC_NO_REASON;
    bool is_program = (uintptr_t)address - hw_callers_program.begin < hw_callers_program.bytes;
    if (walk->count > 0 && !is_program && is_in_libc(address))
        return _URC_END_OF_STACK;
    struct hw_unwound *frame = &walk->frames[walk->count++];
    /* The frame below ends here; on this processor the return address is the last word of it. */
    const char *slot =
        (const char *)unwinder.cfa(context) - sizeof(void *); // NOLINT(performance-no-int-to-ptr)
    *frame = (struct hw_unwound){.address = address,
                                 .slot = *(const void *const *)slot == address ? slot : NULL,
                                 .is_layer = !is_program && hw_callers_is_layer(address)};
    walk->seen_count += !frame->is_layer;
    return walk->seen_count == walk->wanted || walk->count == HW_UNWOUND_MOST ? _URC_END_OF_STACK
                                                                              : _URC_NO_REASON;
}

int hw_unwind(const void *site, int wanted, struct hw_unwound frames[HW_UNWOUND_MOST])
{
    struct walk walk = {.site = site, .wanted = wanted, .frames = frames};
    if (!hw_unwinder_open())
        return 0;
    unwinder.backtrace(step, &walk);
    return walk.count;
}
