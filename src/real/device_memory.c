/* SPDX-License-Identifier: BSD-3-Clause */
#include "real/device_memory.h"

#include "base/atomic.h"

#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* dlopen with RTLD_NOLOAD looks through directories for what is not there: 100 us. This looks at what is. */
static const char *const libraries[] = {"libcuda.so", "libamdhip64.so", "libze_loader.so"};

/* What the last look found: twice the number of libraries that the process had loaded by then, plus the
 * answer. 0: there was none. */
static atomic_uint_fast64_t known;

struct look {
    uint64_t loaded;
    bool is_known, is_found;
};

static int look_at(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    struct look *look = context;
    look->loaded = info->dlpi_adds;
    look->is_known = hw_atomic_load_relaxed(&known) / 2 == look->loaded;
    const char *name = strrchr(info->dlpi_name, '/');
    name = name ? name + 1 : info->dlpi_name;
    for (size_t i = 0; i < sizeof libraries / sizeof libraries[0]; i++)
        if (strncmp(name, libraries[i], strlen(libraries[i])) == 0)
            look->is_found = true;
    return look->is_known || look->is_found;
}

bool hw_real_has_device_memory(void)
{
    struct look look = {0};
    dl_iterate_phdr(look_at, &look);
    if (look.is_known && !look.is_found)
        return hw_atomic_load_relaxed(&known) % 2 == 1;
    hw_atomic_store_relaxed(&known, 2 * look.loaded + look.is_found);
    return look.is_found;
}
