/* SPDX-License-Identifier: BSD-3-Clause */
#include "real/fortran.h"

#include "base/atomic.h"
#include "real/detect.h"
#include "real/real.h"

#include <dlfcn.h>
#include <limits.h>

static void *look_in_object(const char *path, const char *name)
{
    void *handle = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
    void *found = handle ? dlsym(handle, name) : NULL;
    if (handle && found == NULL)
        dlclose(handle);
    return found;
}

static void *look_in_layers(const char *name)
{
    char path[PATH_MAX];
    void *found = NULL;
    for (size_t i = 0; found == NULL && hw_real_object_find(hw_real_is_language_layer, i, path, sizeof path);
         i++)
        found = look_in_object(path, name);
    return found;
}

static void *look_up(const char *name)
{
    hw_real_load_or_exit();
    void *found = dlsym(RTLD_NEXT, name);
    if (found == NULL)
        found = dlsym(hw_real_library_used()->handle, name);
    return found ? found : look_in_layers(name);
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
