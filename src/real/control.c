/* SPDX-License-Identifier: BSD-3-Clause */
#include "real/control.h"

#include "real/constants.h"
#include "real/real.h"

#if HW_ABI_OPEN_MPI

bool hw_real_control_read(const char *name, long long *value)
{
    (void)name, (void)value;
    return false;
}

#else

/* The values an MPI stores in an int, unsigned or (unsigned) long variable. */
static bool read_number(MPI_T_cvar_handle handle, MPI_Datatype type, long long *value)
{
    union {
        int as_int;
        long long as_long;
    } held = {0};
    MPI_Count size = 0;
    if (hw_bottom.T_cvar_read(handle, &held) != MPI_SUCCESS ||
        hw_bottom.Type_size_x(type, &size) != MPI_SUCCESS)
        return false;
    *value = size == sizeof(int) ? held.as_int : held.as_long;
    return true;
}

static bool ask(const char *name, long long *value)
{
    int index, verbosity, binding, scope, count, name_length = 0, text_length = 0;
    MPI_Datatype type;
    MPI_T_enum enumeration;
    MPI_T_cvar_handle handle;
    if (hw_bottom.T_cvar_get_index(name, &index) != MPI_SUCCESS ||
        hw_bottom.T_cvar_get_info(index, NULL, &name_length, &verbosity, &type, &enumeration, NULL,
                                  &text_length, &binding, &scope) != MPI_SUCCESS ||
        hw_bottom.T_cvar_handle_alloc(index, NULL, &handle, &count) != MPI_SUCCESS)
        return false;
    bool is_read = count == 1 && read_number(handle, type, value);
    hw_bottom.T_cvar_handle_free(&handle);
    return is_read;
}

/* Never ended: with the last MPI_T_finalize MPICH 4.1 to 5.0.1 forget the control variables that hold text,
 * which collectives within a node read. */
static bool begin(void)
{
    static bool is_begun;
    int provided;
    is_begun = is_begun || hw_bottom.T_init_thread(HW_THREAD_MULTIPLE, &provided) == MPI_SUCCESS;
    return is_begun;
}

bool hw_real_control_read(const char *name, long long *value) { return begin() && ask(name, value); }

#endif
