/* SPDX-License-Identifier: BSD-3-Clause */
#include "real/device_memory.h"

#include <dlfcn.h>
#include <stddef.h>

bool hw_real_has_device_memory(void)
{
    static const char *const libraries[] = {"libcuda.so.1", "libamdhip64.so.6", "libamdhip64.so.5",
                                            "libamdhip64.so", "libze_loader.so.1"};
    for (size_t i = 0; i < sizeof libraries / sizeof libraries[0]; i++) {
        void *library = dlopen(libraries[i], RTLD_LAZY | RTLD_NOLOAD);
        if (library) {
            dlclose(library);
            return true;
        }
    }
    return false;
}
