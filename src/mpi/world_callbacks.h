/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI tells functions of the program's a communicator: those of attributes and error handlers (MPI-4.1
 * sections 7.7.2, 9.3.1). With ghosts MPI would tell them the communicator that stands for MPI_COMM_WORLD, by
 * which the program does not know its world. So MPI gets functions of ours, which tell the program's. Without
 * ghosts all is as it was given. Any thread, within a hook. */
#ifndef HW_MPI_WORLD_CALLBACKS_H
#define HW_MPI_WORLD_CALLBACKS_H

#include "base/visibility.h"
#include "real/real.h"

typedef int hw_world_keyval_function(MPI_Comm_copy_attr_function *copy, MPI_Comm_delete_attr_function *erase,
                                     int *keyval, void *extra);

/* `real_create`: MPI_Comm_create_keyval, or what came before it. */
HW_HIDDEN int hw_world_create_keyval(hw_world_keyval_function *real_create, MPI_Comm_copy_attr_function *copy,
                                     MPI_Comm_delete_attr_function *erase, int *keyval, void *extra);

/* `real_free`: MPI_Comm_free_keyval, or what came before it. */
HW_HIDDEN int hw_world_free_keyval(int (*real_free)(int *keyval), int *keyval);

/* What MPI is given as an error handler; the program's own if there have been too many others. */
HW_HIDDEN MPI_Comm_errhandler_function *hw_world_errhandler(MPI_Comm_errhandler_function *handler);

#endif
