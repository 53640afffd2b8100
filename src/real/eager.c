/* SPDX-License-Identifier: BSD-3-Clause */
#include "real/eager.h"

#include "real/constants.h"
#include "real/detect.h"
#include "real/real.h"

#include <dlfcn.h>

/* Control variables that hold an eager limit, the network's first. MPICH's ch4 leaves the choice to UCX or
 * libfabric, which do not tell; what such an MPI sends at once is left to the engine's own measurements. */
static const char *const names[] = {
#ifdef OPEN_MPI
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

#ifdef OPEN_MPI

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

/* The values an MPI stores in an int, unsigned or (unsigned) long variable. */
static uint64_t read_number(MPI_T_cvar_handle handle, MPI_Datatype type)
{
    union {
        int as_int;
        long long as_long;
    } value = {0};
    if (hw_bottom.T_cvar_read(handle, &value) != MPI_SUCCESS)
        return 0;
    MPI_Count size = 0;
    hw_bottom.Type_size_x(type, &size);
    long long number = size == sizeof(int) ? value.as_int : value.as_long;
    return number > 0 ? (uint64_t)number : 0;
}

static uint64_t ask(const char *name)
{
    int index, verbosity, binding, scope, count, name_length = 0, text_length = 0;
    MPI_Datatype type;
    MPI_T_enum enumeration;
    MPI_T_cvar_handle handle;
    if (hw_bottom.T_cvar_get_index(name, &index) != MPI_SUCCESS ||
        hw_bottom.T_cvar_get_info(index, NULL, &name_length, &verbosity, &type, &enumeration, NULL,
                                  &text_length, &binding, &scope) != MPI_SUCCESS ||
        hw_bottom.T_cvar_handle_alloc(index, NULL, &handle, &count) != MPI_SUCCESS)
        return 0;
    uint64_t limit = count == 1 ? read_number(handle, type) : 0;
    hw_bottom.T_cvar_handle_free(&handle);
    return limit;
}

uint64_t hw_real_eager_limit(void)
{
    int provided;
    if (hw_bottom.T_init_thread(HW_THREAD_MULTIPLE, &provided) != MPI_SUCCESS)
        return 0;
    uint64_t limit = 0;
    for (size_t i = 0; i < sizeof names / sizeof names[0] && limit == 0; i++)
        limit = ask(names[i]);
    hw_bottom.T_finalize();
    return limit;
}

#endif
