/* SPDX-License-Identifier: BSD-3-Clause */
/* Making and freeing redirected windows, on the side of the user processes. Any thread, inside a hook; codes
 * of MPI errors are already raised. */
#ifndef HW_ENGINES_RMA_WINDOW_MAKE_H
#define HW_ENGINES_RMA_WINDOW_MAKE_H

#include "base/status.h"
#include "engines/rma/window/window.h"

/* Windows (MPI-4.1 section 12.2). HW_DECLINED: the real call must be made, by all processes; nothing was
 * raised. Otherwise *rc is what the program gets. `flavor`: MPI_WIN_FLAVOR_ALLOCATE or MPI_WIN_FLAVOR_SHARED.
 */
enum hw_status hw_rma_window_allocate(int flavor, MPI_Aint size, MPI_Aint disp_unit, MPI_Info info,
                                      MPI_Comm comm, void *baseptr, MPI_Win *win, int *rc);
/* Likewise; declined too where some process's memory is none of ours (hw_arena_find). */
enum hw_status hw_rma_window_create(void *base, MPI_Aint size, MPI_Aint disp_unit, MPI_Info info,
                                    MPI_Comm comm, MPI_Win *win, int *rc);
enum hw_status hw_rma_window_create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win *win, int *rc);

/* `is_last`: in MPI_Finalize, where no function of the program's can keep the window. */
int hw_rma_window_free(struct hw_rma_window *window, MPI_Win *win, bool is_last);

#endif
