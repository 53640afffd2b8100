/* SPDX-License-Identifier: BSD-3-Clause */
#include "real/constants.h"

#include "base/log.h"
#include "real/reduction.h"

#include <dlfcn.h>

#if HW_ABI_OPEN_MPI

struct hw_real_constants hw_real_constants;

struct constant {
    const char *symbol;
    void *member;
};

bool hw_real_constants_load(void *handle)
{
    struct hw_real_constants *c = &hw_real_constants;
    const struct constant constants[] = {
        {"ompi_mpi_comm_world", &c->comm_world},
        {"ompi_mpi_comm_self", &c->comm_self},
        {"ompi_mpi_comm_null", &c->comm_null},
        {"ompi_mpi_group_null", &c->group_null},
        {"ompi_request_null", &c->request_null},
        {"ompi_message_null", &c->message_null},
        {"ompi_message_no_proc", &c->message_no_proc},
        {"ompi_mpi_win_null", &c->win_null},
        {"ompi_mpi_info_null", &c->info_null},
        {"ompi_mpi_info_env", &c->info_env},
        {"ompi_mpi_datatype_null", &c->datatype_null},
        {"ompi_mpi_byte", &c->byte},
        {"ompi_mpi_char", &c->char_},
        {"ompi_mpi_int", &c->int_},
        {"ompi_mpi_double", &c->double_},
        {"ompi_mpi_uint64_t", &c->uint64},
        {"ompi_mpi_packed", &c->packed},
        {"ompi_mpi_op_max", &c->max},
        {"ompi_mpi_op_min", &c->min},
        {"ompi_mpi_op_sum", &c->sum},
        {"ompi_mpi_op_no_op", &c->no_op},
        {"ompi_mpi_errors_return", &c->errors_return},
        {"ompi_mpi_errors_are_fatal", &c->errors_are_fatal},
    };
    for (size_t i = 0; i < sizeof constants / sizeof constants[0]; i++) {
        /* The program first: a copy relocation moves the variable from libmpi into the executable. */
        void *address = dlsym(RTLD_DEFAULT, constants[i].symbol);
        if (address == NULL)
            address = dlsym(handle, constants[i].symbol);
        if (address == NULL) {
            hw_log_error("this Open MPI has no %s; use a release from 4.1 on", constants[i].symbol);
            return false;
        }
        *(void **)constants[i].member = address;
    }
    hw_real_reductions_load(handle);
    return true;
}

#else

bool hw_real_constants_load(void *handle)
{
    (void)handle;
    return true;
}

#endif
