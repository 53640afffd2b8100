/* SPDX-License-Identifier: BSD-3-Clause */
#include "real/fortran.h"

#include "base/atomic.h"
#include "real/detect.h"
#include "real/real.h"

#include <dlfcn.h>
#include <link.h>

struct search {
    const char *name;
    void *found;
};

static int look_in_object(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    struct search *search = context;
    if (!hw_real_is_language_layer(info->dlpi_name))
        return 0;
    void *handle = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
    if (handle == NULL)
        return 0;
    search->found = dlsym(handle, search->name);
    if (search->found == NULL)
        dlclose(handle);
    return search->found != NULL;
}

static void *look_up(const char *name)
{
    hw_real_load_or_exit();
    struct search search = {.name = name, .found = dlsym(RTLD_NEXT, name)};
    if (search.found == NULL)
        search.found = dlsym(hw_real_library_used()->handle, name);
    if (search.found == NULL)
        dl_iterate_phdr(look_in_object, &search);
    return search.found;
}

void *hw_real_fortran_find(struct hw_real_fortran *function)
{
    void *found = hw_atomic_load_relaxed(&function->found);
    if (found == NULL) {
        found = look_up(function->name);
        hw_atomic_store_relaxed(&function->found, found);
    }
    return found;
}

int hw_real_fortran_keyval(int keyval)
{
#if !HW_ABI_OPEN_MPI
    /* Odd numbers in C, the even ones that follow in Fortran; the two highest bits mark what is MPI's own. */
    if ((unsigned)keyval >> 30 == 1)
        return (keyval - 1) | 1;
#endif
    return keyval;
}
