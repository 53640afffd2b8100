/* SPDX-License-Identifier: BSD-3-Clause */
/* Extensions are functions of an MPI that no standard names. Headway has entries for those that take a
 * communicator, or tell the program one (extension_calls.c). */
#ifndef HW_REAL_EXTENSIONS_H
#define HW_REAL_EXTENSIONS_H

#include "base/visibility.h"
#include "real/real.h"

#include <stdbool.h>

/* One that the program refers to, or a library of it other than the MPI's own; NULL: none. What only asks
 * about the MPI itself (MPIX_Query_cuda_support) does not count. The name is valid as long as its object is
 * loaded. */
const char *hw_real_extension_used(void);

/* Whether one of these is an operation on windows, which names processes by their ranks there. */
bool hw_real_has_own_operations(void);

/* MPICH 5: an error handler with a state of its own, and what is told when the handler is gone. */
typedef void hw_real_handler_function(MPI_Comm comm, int code, void *state);
typedef void hw_real_handler_destructor(void *state);
typedef int hw_real_handler_create(hw_real_handler_function *function, hw_real_handler_destructor *destructor,
                                   void *state, MPI_Errhandler *errhandler);

/* src/mpi/world_callbacks.c has it. Any thread. */
struct hw_real_extension_hooks {
    /* With what MPI is given in the program's place. */
    int (*create_handler)(hw_real_handler_create *real_create, hw_real_handler_function *function,
                          hw_real_handler_destructor *destructor, void *state, MPI_Errhandler *errhandler);
};
extern HW_HIDDEN const struct hw_real_extension_hooks hw_real_extension_hooks;

/* Whether Open MPI's OpenSHMEM is loaded, which makes progress of this MPI past its entries. */
bool hw_real_has_openshmem(void);

#endif
