/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile/python/python.h"

#include "base/atomic.h"
#include "base/visibility.h"
#include "profile/python/python_code.h"
#include "profile/record/lock.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { PLACE_COUNT = 1024, SEEN_COUNT = 2048, MAX_SEEN_COUNT = SEEN_COUNT / 2 };
enum { MAX_FRAME_COUNT = 64, MAX_TRIAL_FRAME_COUNT = 2000 };
enum { FRAME_BYTES = 128, CODE_BYTES = 160, OBJECT_TYPE = 8 };

/* What is used of the interpreter: functions that only read, in every version. */
static struct {
    int (*is_initialized)(void);
    void *(*this_thread)(void);
    const char *code_type, *text_type;
    const struct hw_python_layout *layout;
} python;

enum { UNKNOWN, FOUND, TRUSTED, REFUSED };
static atomic_uint state; /* FOUND: `python` is set, and no frame was looked at yet */
static char refusal[160];

/* What a frame is executing. */
struct activity {
    const char *code, *file, *name, *lines, *back;
    uint64_t lines_hash;
    int first_line;
    int instruction; /* in bytes; -1: before the first, or not known */
};

/* One place in code, met before. Never changed once `code` is set. Code that is freed leaves its entry: other
 * code that comes to lie there is told from it by its texts and by how its lines begin. */
struct seen {
    _Atomic(const char *) code; /* released, under the lock */
    const char *file, *name;
    uint64_t lines_hash;
    const void *address;
    int first_line, instruction;
    const void *site; /* NULL: not the program's, the frame before it is asked */
};

HW_SPARSE static struct seen seen_ones[SEEN_COUNT];
HW_SPARSE static struct hw_python_place places[PLACE_COUNT];
static int seen_count, place_count;

bool hw_python_is_extension(const void *address)
{
    Dl_info info;
    if (!dlsym(RTLD_DEFAULT, "Py_GetVersion") || !dladdr((const char *)address - 1, &info) || !info.dli_fname)
        return false;
    const char *slash = strrchr(info.dli_fname, '/');
    const char *name = slash ? slash + 1 : info.dli_fname;
    char symbol[128];
    snprintf(symbol, sizeof symbol, "PyInit_%.*s", (int)strcspn(name, "."), name);
    void *module = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    bool is_extension = module && dlsym(module, symbol);
    if (module)
        dlclose(module);
    return is_extension;
}

/* ---- frames ------------------------------------------------------------------------------------------- */

static bool is_first_thread(void)
{
    static _Thread_local int is_first __attribute__((tls_model("initial-exec")));
    if (!is_first)
        is_first = syscall(SYS_gettid) == getpid() ? 1 : -1;
    return is_first > 0;
}

static int instruction_of(const char *frame, const char *code)
{
    const struct hw_python_layout *layout = python.layout;
    if (layout->instruction_unit)
        return hw_python_int(frame, layout->frame_instruction) * layout->instruction_unit;
    const char *at = hw_python_pointer(frame, layout->frame_instruction);
    uintptr_t distance = (uintptr_t)at - (uintptr_t)code - (uintptr_t)layout->code_instructions;
    return distance < INT_MAX ? (int)distance : -1;
}

/* From what was read of a frame, of the code it executes, which lies at `object`, and of its lines. */
static void fill(struct activity *one, const char *frame, const char *object, const char *code,
                 const char *lines)
{
    const struct hw_python_layout *layout = python.layout;
    one->code = object;
    one->file = hw_python_pointer(code, layout->code_file);
    one->name = hw_python_pointer(code, layout->code_name);
    one->lines = hw_python_pointer(code, layout->code_lines);
    one->lines_hash = hw_python_table_hash(lines);
    one->first_line = hw_python_int(code, layout->code_first_line);
    one->instruction = instruction_of(frame, object);
}

/* Of what an object begins with. */
static bool is_code(const char *code) { return hw_python_pointer(code, OBJECT_TYPE) == python.code_type; }

/* The innermost frame, and what points to it if the thread's state does not. False: not to be had. */
static bool top_frame(const char *thread, bool is_careful, const char **via, const char **frame)
{
    char copy[sizeof(void *)];
    char *buffer = is_careful ? copy : NULL;
    const char *at = hw_python_look(thread + python.layout->thread_frame, sizeof copy, buffer);
    *via = NULL;
    if (at && python.layout->via_frame >= 0 && (*via = hw_python_pointer(at, 0)))
        at = hw_python_look(*via + python.layout->via_frame, sizeof copy, buffer);
    *frame = at ? hw_python_pointer(at, 0) : NULL;
    return at != NULL;
}

/* False: not to be had. Where the frame executes no code of Python's, `code` is NULL. */
static bool read_frame(const char *at, bool is_careful, struct activity *found)
{
    const struct hw_python_layout *layout = python.layout;
    char frame_copy[FRAME_BYTES], code_copy[CODE_BYTES], lines_copy[HW_PYTHON_TABLE_BYTES];
    const char *frame = hw_python_look(at, (size_t)layout->frame_bytes, is_careful ? frame_copy : NULL);
    if (!frame)
        return false;
    found->back = hw_python_pointer(frame, layout->frame_back);
    found->code = NULL;
    const char *object = hw_python_pointer(frame, layout->frame_code);
    if (!object)
        return true;
    const char *code = hw_python_look(object, (size_t)layout->code_bytes, is_careful ? code_copy : NULL);
    if (!code || !is_code(code))
        return code != NULL;
    const char *lines = hw_python_pointer(code, layout->code_lines);
    lines = hw_python_look(lines, HW_PYTHON_TABLE_BYTES, is_careful ? lines_copy : NULL);
    if (lines)
        fill(found, frame, object, code, lines);
    return lines != NULL;
}

/* ---- other threads than the first: one system call instead of five ------------------------------------ */

/* Where the last look of this thread led. A loop's calls come from the same place again and again. */
static _Thread_local struct trail {
    const char *thread, *via, *frame, *code, *lines;
} trail __attribute__((tls_model("initial-exec")));

/* What lies where the trail leads, if it still leads there. */
static bool follow_trail(const char *thread, struct activity *found)
{
    const struct hw_python_layout *layout = python.layout;
    if (!trail.lines || trail.thread != thread)
        return false;
    struct {
        char slot[sizeof(void *)], via_slot[sizeof(void *)], frame[FRAME_BYTES], code[CODE_BYTES];
        char lines[HW_PYTHON_TABLE_BYTES];
    } copy;
    bool has_via = layout->via_frame >= 0;
    const struct iovec there[] = {
        {(void *)(thread + layout->thread_frame), sizeof copy.slot},
        {(void *)trail.frame, (size_t)layout->frame_bytes},
        {(void *)trail.code, (size_t)layout->code_bytes},
        {(void *)trail.lines, sizeof copy.lines},
        {has_via ? (void *)(trail.via + layout->via_frame) : NULL, has_via ? sizeof copy.via_slot : 0},
    };
    const struct iovec here[] = {{copy.slot, there[0].iov_len},
                                 {copy.frame, there[1].iov_len},
                                 {copy.code, there[2].iov_len},
                                 {copy.lines, there[3].iov_len},
                                 {copy.via_slot, there[4].iov_len}};
    enum { PART_COUNT = sizeof there / sizeof there[0] };
    ssize_t wanted = 0;
    for (int i = 0; i < PART_COUNT; i++)
        wanted += (ssize_t)there[i].iov_len;
    if (process_vm_readv(getpid(), here, PART_COUNT, there, PART_COUNT, 0) != wanted)
        return false;
    const char *first = hw_python_pointer(copy.slot, 0);
    if (has_via ? first != trail.via || hw_python_pointer(copy.via_slot, 0) != trail.frame
                : first != trail.frame)
        return false;
    if (hw_python_pointer(copy.frame, layout->frame_code) != trail.code || !is_code(copy.code) ||
        hw_python_pointer(copy.code, layout->code_lines) != trail.lines)
        return false;
    found->back = hw_python_pointer(copy.frame, layout->frame_back);
    fill(found, copy.frame, trail.code, copy.code, copy.lines);
    return true;
}

/* ---- places ------------------------------------------------------------------------------------------- */

/* The entry of this activity, or the free one where it belongs. */
static struct seen *probe(const struct activity *one, const void *address)
{
    uint64_t key = (uint64_t)(uintptr_t)one->code ^ (uint64_t)(uintptr_t)address << 20;
    key = (key ^ (uint64_t)(unsigned)one->instruction << 8) * UINT64_C(0x9E3779B97F4A7C15);
    for (uint32_t i = (uint32_t)(key >> 32) % SEEN_COUNT;; i = (i + 1) % SEEN_COUNT) {
        struct seen *seen = &seen_ones[i];
        const char *code = hw_atomic_load_acquire(&seen->code);
        if (!code || (code == one->code && seen->instruction == one->instruction &&
                      seen->address == address && seen->file == one->file && seen->name == one->name &&
                      seen->lines_hash == one->lines_hash && seen->first_line == one->first_line))
            return seen;
    }
}

/* The place of these texts, made if it is new; NULL when there is no room. Under lock. */
static const struct hw_python_place *intern(const struct hw_python_place *wanted)
{
    for (int i = 0; i < place_count; i++)
        if (places[i].address == wanted->address && places[i].line == wanted->line &&
            strcmp(places[i].file, wanted->file) == 0 && strcmp(places[i].function, wanted->function) == 0)
            return &places[i];
    if (place_count == PLACE_COUNT)
        return NULL;
    struct hw_python_place new = *wanted;
    new.file = strdup(wanted->file);
    new.function = strdup(wanted->function);
    if (!new.file || !new.function) {
        free((void *)new.file);
        free((void *)new.function);
        return NULL;
    }
    places[place_count] = new;
    return &places[place_count++];
}

/* Whether this is not the program's: of the package mpi4py itself, what imports or runs modules, or one of
 * the interpreter's own pieces of code, whose file is their name. */
static bool is_passed_over(const char *file, const char *function, const void *address)
{
    static const char package[] = "/mpi4py/";
    static const char *const machinery[] = {"<frozen importlib.", "<frozen runpy>", "<shim>"};
    if (strcmp(file, function) == 0)
        return true;
    for (size_t i = 0; i < sizeof machinery / sizeof machinery[0]; i++)
        if (strncmp(file, machinery[i], strlen(machinery[i])) == 0)
            return true;
    Dl_info info;
    if (!dladdr((const char *)address - 1, &info) || !info.dli_fname)
        return false;
    const char *slash = strrchr(info.dli_fname, '/');
    size_t length = slash ? (size_t)(slash + 1 - info.dli_fname) : 0;
    return length >= sizeof package - 1 && strncmp(file, info.dli_fname, length) == 0 &&
           memcmp(info.dli_fname + length - (sizeof package - 1), package, sizeof package - 1) == 0;
}

/* What an activity seen for the first time counts under, NULL: the frame before it. */
static const void *resolve(const struct activity *one, const void *address, bool is_careful)
{
    char file[PATH_MAX], function[256];
    const struct hw_python_layout *layout = python.layout;
    size_t bytes;
    const char *table = hw_python_table(one->lines, is_careful, &bytes);
    if (!table)
        return address;
    struct hw_python_place place = {.address = address, .file = file, .function = function};
    place.line = hw_python_line(layout->lines, table, bytes, one->first_line, one->instruction);
    if (is_careful)
        free((void *)table);
    if (!hw_python_text(layout, one->file, is_careful, file, sizeof file) ||
        !hw_python_text(layout, one->name, is_careful, function, sizeof function))
        return address;
    bool is_others = is_passed_over(file, function, address);
    hw_profile_lock();
    const void *site = is_others ? NULL : intern(&place);
    if (!is_others && !site)
        site = address;
    struct seen *seen = probe(one, address);
    if (!hw_atomic_load_relaxed(&seen->code) && seen_count < MAX_SEEN_COUNT) {
        seen_count++;
        seen->file = one->file;
        seen->name = one->name;
        seen->lines_hash = one->lines_hash;
        seen->address = address;
        seen->first_line = one->first_line;
        seen->instruction = one->instruction;
        seen->site = site;
        hw_atomic_store_release(&seen->code, one->code);
    }
    hw_profile_unlock();
    return site;
}

static const void *site_of(const struct activity *one, const void *address, bool is_careful)
{
    const struct seen *seen = probe(one, address);
    return hw_atomic_load_relaxed(&seen->code) ? seen->site : resolve(one, address, is_careful);
}

/* ---- trust -------------------------------------------------------------------------------------------- */

/* The thread's state, while it may be used. */
static const char *current_thread(void) { return python.is_initialized() ? python.this_thread() : NULL; }

static const char *version(void)
{
    const char *(*get_version)(void);
    *(void **)&get_version = dlsym(RTLD_DEFAULT, "Py_GetVersion");
    return get_version ? get_version() : "";
}

static void refuse(const char *reason)
{
    const char *refused = version();
    hw_profile_lock();
    if (!refusal[0])
        snprintf(refusal, sizeof refusal, "%s %.*s", reason, (int)strcspn(refused, " "), refused);
    hw_profile_unlock();
    hw_atomic_store_release(&state, REFUSED);
}

/* Several threads may do this at once, to the same end: none waits for another. */
static void find_interpreter(void)
{
    const struct hw_python_layout *layout = hw_python_layout_of(version());
    void *is_initialized = dlsym(RTLD_DEFAULT, "Py_IsInitialized");
    void *this_thread = dlsym(RTLD_DEFAULT, "PyGILState_GetThisThreadState");
    const char *code_type = dlsym(RTLD_DEFAULT, "PyCode_Type");
    const char *text_type = dlsym(RTLD_DEFAULT, "PyUnicode_Type");
    if (!layout || !is_initialized || !this_thread || !code_type || !text_type) {
        refuse("they are read of CPython 3.8 to 3.13, and this is");
        return;
    }
    Dl_info info; /* it stays in memory as long as we may call it */
    if (dladdr(this_thread, &info) && info.dli_fname)
        dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
    hw_profile_lock();
    if (hw_atomic_load_relaxed(&state) == UNKNOWN) {
        *(void **)&python.is_initialized = is_initialized;
        *(void **)&python.this_thread = this_thread;
        python.code_type = code_type;
        python.text_type = text_type;
        python.layout = layout;
        hw_atomic_store_release(&state, FOUND);
    }
    hw_profile_unlock();
}

static bool has_type(const char *object, const char *type)
{
    char copy[sizeof(void *)];
    const char *at = object ? hw_python_look(object + OBJECT_TYPE, sizeof copy, copy) : NULL;
    return at && hw_python_pointer(at, 0) == type;
}

/* Whether every frame of the thread is what it should be. */
static bool is_as_expected(const char *frame)
{
    int code_count = 0, frame_count = 0;
    for (struct activity one; frame; frame = one.back) {
        if (++frame_count > MAX_TRIAL_FRAME_COUNT)
            break;
        if (!read_frame(frame, true, &one))
            return false;
        if (!one.code)
            continue;
        char text[8];
        size_t bytes;
        const char *table = hw_python_table(one.lines, true, &bytes);
        free((void *)table);
        if (!table || !has_type(one.file, python.text_type) || !has_type(one.name, python.text_type) ||
            !hw_python_text(python.layout, one.file, true, text, sizeof text) || one.first_line < 0)
            return false;
        code_count++;
    }
    return code_count > 0;
}

/* Whether frames may be looked at. Decided at the first call that has any. */
static bool is_trusted(void)
{
    if (hw_atomic_load_acquire(&state) == UNKNOWN)
        find_interpreter();
    if (hw_atomic_load_acquire(&state) != FOUND)
        return hw_atomic_load_relaxed(&state) == TRUSTED;
    const char *thread = current_thread(), *via, *frame = NULL;
    if (!thread)
        return false;
    bool is_read = top_frame(thread, true, &via, &frame);
    if (is_read && !frame)
        return false;
    if (is_read && is_as_expected(frame)) {
        unsigned expected = FOUND;
        hw_atomic_compare_exchange_release(&state, &expected, TRUSTED);
        return expected != REFUSED;
    }
    refuse("its frames cannot be read, or are not those of CPython");
    return false;
}

/* Along the frames, from the innermost one. */
static const void *find_from(const char *frame, const void *address, bool is_careful)
{
    for (int i = 0; frame && i < MAX_FRAME_COUNT; i++) {
        struct activity one;
        if (!read_frame(frame, is_careful, &one))
            break;
        const void *site = one.code ? site_of(&one, address, is_careful) : NULL;
        if (site)
            return site;
        frame = one.back;
    }
    return address;
}

static const void *find_carefully(const char *thread, const void *address)
{
    struct activity one;
    const char *via, *frame;
    if (!follow_trail(thread, &one)) {
        if (!top_frame(thread, true, &via, &frame) || !frame || !read_frame(frame, true, &one))
            return address;
        trail = (struct trail){thread, via, frame, one.code, one.code ? one.lines : NULL};
    }
    const void *site = one.code ? site_of(&one, address, true) : NULL;
    return site ? site : find_from(one.back, address, true);
}

const void *hw_python_find(const void *address)
{
    if (__builtin_expect(hw_atomic_load_acquire(&state) != TRUSTED, 0) && !is_trusted())
        return address;
    const char *thread = current_thread(), *via, *frame;
    if (!thread)
        return address;
    if (!is_first_thread())
        return find_carefully(thread, address);
    return top_frame(thread, false, &via, &frame) ? find_from(frame, address, false) : address;
}

int hw_python_find_callers(const void *address, const void **found, int wanted)
{
    found[0] = hw_python_find(address);
    const char *thread = found[0] == address ? NULL : current_thread(), *via, *frame;
    bool is_careful = !is_first_thread();
    int count = 0;
    if (!thread || !top_frame(thread, is_careful, &via, &frame))
        return 1;
    for (int i = 0; frame && i < MAX_FRAME_COUNT && count < wanted; i++) {
        struct activity one;
        if (!read_frame(frame, is_careful, &one))
            break;
        const void *site = one.code ? site_of(&one, address, is_careful) : NULL;
        if (site && site != address)
            found[count++] = site;
        frame = one.back;
    }
    return count > 0 ? count : 1;
}

const struct hw_python_place *hw_python_place_of(const void *site)
{
    uintptr_t distance = (uintptr_t)site - (uintptr_t)places;
    return distance < sizeof places ? &places[distance / sizeof places[0]] : NULL;
}

const char *hw_python_refusal(void) { return hw_atomic_load_acquire(&state) == REFUSED ? refusal : NULL; }
