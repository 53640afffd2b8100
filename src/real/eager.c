/* SPDX-License-Identifier: BSD-3-Clause */
#include "real/eager.h"

#include "real/control.h"
#include "real/detect.h"
#include "real/real.h"

#include <dlfcn.h>

/* Control variables that hold an eager limit, the network's first. MPICH's ch4 leaves the choice to UCX or
 * libfabric, which do not tell; what such an MPI sends at once is left to the engine's own measurements. */
static const char *const names[] = {
#if HW_ABI_OPEN_MPI
    "btl_tcp_eager_limit",
    "btl_openib_eager_limit",
    "btl_sm_eager_limit",
    "btl_vader_eager_limit",
#else
    "MPIR_CVAR_CH4_OFI_EAGER_THRESHOLD",
    "I_MPI_EAGER_THRESHOLD",
    "MPIR_CVAR_CH3_EAGER_MAX_MSG_SIZE",
#endif
};

#if HW_ABI_OPEN_MPI

/* MPI_T_init_thread would load every component there is (0.4 MB a process on Open MPI 4). The registry behind
 * MPI_T knows the variables of those in use; libmpi brings it along. It is not public: without it no variable
 * is known (NULL). */
static const void *look_up(const char *name)
{
    int (*find)(const char *name, int *index);
    int (*get_value)(int index, const void *value, void *source, const char **source_file);
    void *handle = hw_real_library_used()->handle;
    *(void **)&find = dlsym(handle, "mca_base_var_find_by_name");
    *(void **)&get_value = dlsym(handle, "mca_base_var_get_value");
    const void *value = NULL;
    int index;
    bool is_known = find && get_value && find(name, &index) == 0 && get_value(index, &value, NULL, NULL) == 0;
    return is_known ? value : NULL;
}

uint64_t hw_real_eager_limit(void)
{
    uint64_t limit = 0;
    for (size_t i = 0; i < sizeof names / sizeof names[0] && limit == 0; i++) {
        const size_t *value = look_up(names[i]);
        limit = value ? *value : 0;
    }
    return limit;
}

/* MCA_BTL_FLAGS_PUT of opal/mca/btl/btl.h; never another number. */
enum { BTL_FLAG_PUT = 2 };

bool hw_real_directions_alternate(void)
{
    const unsigned *flags = look_up("btl_tcp_flags");
    return flags && (*flags & BTL_FLAG_PUT);
}

#else

bool hw_real_directions_alternate(void) { return false; }

uint64_t hw_real_eager_limit(void)
{
    long long limit = 0;
    for (size_t i = 0; i < sizeof names / sizeof names[0] && limit <= 0; i++)
        if (!hw_real_control_read(names[i], &limit))
            limit = 0;
    return limit > 0 ? (uint64_t)limit : 0;
}

#endif
