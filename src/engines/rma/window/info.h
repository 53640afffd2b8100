/* SPDX-License-Identifier: BSD-3-Clause */
/* The hints of a redirected window, as the program sees them (MPI-4.1 section 12.2.7). */
#ifndef HW_ENGINES_RMA_WINDOW_INFO_H
#define HW_ENGINES_RMA_WINDOW_INFO_H

#include "engines/rma/window/window.h"

/* Whether the parts of a window of MPI_Win_allocate_shared need not touch. */
bool hw_rma_window_may_be_apart(MPI_Info info);

/* Local: the program reads back the hints that the real window or it itself gave. */
int hw_rma_window_set_info(struct hw_rma_window *window, MPI_Info info);
int hw_rma_window_get_info(struct hw_rma_window *window, MPI_Info *info);

#endif
