/* SPDX-License-Identifier: BSD-3-Clause */
#include "real/device_memory.h"

#include "base/atomic.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

static bool is_there(const char *path) { return access(path, F_OK) == 0 || errno != ENOENT; }

/* Whether a directory has entries that begin so. One that cannot be read may. */
static bool has_entry(const char *path, const char *prefix)
{
    DIR *directory = opendir(path);
    if (directory == NULL)
        return errno != ENOENT;
    bool is_found = false;
    for (struct dirent *one; !is_found && (one = readdir(directory)) != NULL;)
        is_found = strncmp(one->d_name, prefix, strlen(prefix)) == 0;
    closedir(directory);
    return is_found;
}

/* The driver comes with it, and makes its files in /dev when it is first used. */
static bool may_have_cuda(void) { return true; }

static bool may_have_hip(void) { return is_there("/dev/kfd") || is_there("/dev/dxg"); }

static bool may_have_ze(void)
{
    return has_entry("/dev/dri", "renderD") || has_entry("/dev/accel", "accel") || is_there("/dev/dxg");
}

/* dlopen with RTLD_NOLOAD looks through directories for what is not there: 100 us. This looks at what is.
 * Some distributions have libraries, such as plugins of hwloc, that load these two also where there is no
 * device. */
static const struct {
    const char *name;
    bool (*may_have)(void);
} libraries[] = {
    {"libcuda.so", may_have_cuda}, {"libamdhip64.so", may_have_hip}, {"libze_loader.so", may_have_ze}};

enum { CUDA, HIP, LIBRARIES = sizeof libraries / sizeof libraries[0] };

/* What the last look found: the number of libraries that the process had loaded by then, times 8, and a bit
 * for each of those above that counts. 0: there was no look. */
static atomic_uint_fast64_t known;

struct look {
    uint64_t loaded;
    bool is_known;
    unsigned found; /* bits */
};

static int look_at(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    struct look *look = context;
    look->loaded = info->dlpi_adds;
    look->is_known = hw_atomic_load_relaxed(&known) >> LIBRARIES == look->loaded;
    const char *name = strrchr(info->dlpi_name, '/');
    name = name ? name + 1 : info->dlpi_name;
    for (unsigned i = 0; i < LIBRARIES; i++)
        if (strncmp(name, libraries[i].name, strlen(libraries[i].name)) == 0)
            look->found |= 1U << i;
    return look->is_known;
}

static unsigned find_libraries(void)
{
    struct look look = {0};
    dl_iterate_phdr(look_at, &look);
    if (look.is_known)
        return hw_atomic_load_relaxed(&known) & ((1U << LIBRARIES) - 1);
    for (unsigned i = 0; i < LIBRARIES; i++)
        if ((look.found & 1U << i) && !libraries[i].may_have())
            look.found &= ~(1U << i);
    hw_atomic_store_relaxed(&known, look.loaded << LIBRARIES | look.found);
    return look.found;
}

bool hw_real_has_device_memory(void) { return find_libraries() != 0; }

/* 0 is success. */
typedef int get_current(void **context);

static get_current *find_get_current(void)
{
    static _Atomic(get_current *) found;
    get_current *get = hw_atomic_load_acquire(&found);
    void *library = get ? NULL : dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    void *symbol = library ? dlsym(library, "cuCtxGetCurrent") : NULL;
    if (symbol) {
        memcpy(&get, &symbol, sizeof get);
        hw_atomic_store_release(&found, get);
    }
    return get;
}

bool hw_real_has_device_context(void)
{
    unsigned is_there = find_libraries();
    if (is_there & 1U << HIP)
        return true;
    get_current *get = is_there & 1U << CUDA ? find_get_current() : NULL;
    void *context = NULL;
    return get && get(&context) == 0 && context != NULL;
}
